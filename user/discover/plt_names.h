/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which function a call or jump into the PLT goes to: stub -> slot of the GOT -> relocation ->
 * symbol name. Reads the dynamic segment only, so a stripped file will do. The file is the
 * target's and hostile: a stub or an entry that does not fit has no name.
 */
#ifndef ACLTAP_DISCOVER_PLT_NAMES_H
#define ACLTAP_DISCOVER_PLT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plt_names;

/*
 * Reads the relocations of fd, which stays open and must outlive *out. Returns 0 (also when there
 * are none), or: -ENOEXEC not a 64-bit little-endian ELF file for x86-64 or AArch64, or damaged;
 * -E2BIG too many relocations; -ENOMEM; -errno of reading. *out is untouched on error.
 */
int plt_names_load(int fd, struct plt_names **out);
void plt_names_free(struct plt_names *p);

/*
 * The symbol behind the PLT stub, or behind the slot of the GOT, at this address of the file; NULL
 * = unknown. The text lives until the next call or plt_names_free(). ctx is a struct plt_names;
 * the types are those of site_request.target_name.
 */
const char *plt_names_find(void *ctx, uint64_t vaddr);

/*
 * Is the function at this address nothing but a jump to the function of that name of another file?
 */
bool plt_names_forwards(struct plt_names *p, uint64_t vaddr, const char *name);

static inline void cleanup_plt_names(struct plt_names **p)
{
	plt_names_free(*p);
}

#define _plt_names_ __attribute__((cleanup(cleanup_plt_names)))

#endif
