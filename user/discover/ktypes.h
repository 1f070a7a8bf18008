/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a BPF object needs of the kernel's type information (BTF), cut out of all of it. Finding the
 * fields of a dozen structures in 5 MB of types takes libbpf longer than all else that is done
 * before tracing begins; in what is left here it takes no time.
 *
 * Kept are the types that have the name of one of the object's own types, of their members those
 * that have the name of one of its members, and what these are made of. Pointers become pointers to
 * void: no relocation of a field looks behind one.
 */
#ifndef ACLTAP_DISCOVER_KTYPES_H
#define ACLTAP_DISCOVER_KTYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"

#define KTYPES_PATH "/sys/kernel/btf/vmlinux"

/* Does the kernel tell its types? */
bool ktypes_there(void);

/*
 * kernel, wanted: BTF of the kernel and of the object, aligned as malloc() does. Appends BTF to
 * out. Returns 0, -EINVAL when either is not sound or has what is not known here, or -ENOMEM.
 */
int ktypes_cut(const void *kernel, size_t kernel_sz, const void *wanted, size_t wanted_sz,
	       struct str *out);

/* The same with the types of this kernel, as a file in memory. Its descriptor, or -errno. */
int ktypes_open(const void *wanted, size_t wanted_sz);

#endif
