/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A uprobe_multi link (kernel 6.6) by the raw system call: libbpf before 1.3 and kernel headers
 * before 6.6 do not know it.
 */
#ifndef ACLTAP_LIVE_MULTI_LINK_H
#define ACLTAP_LIVE_MULTI_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* expected_attach_type of the programs; such a program cannot be attached by perf any more. */
#define ATTACH_UPROBE_MULTI 48

/*
 * Attaches prog_fd at cnt file offsets of path, for every process; at the functions' returns when
 * ret. cookies may be NULL. All or nothing: one bad offset fails the link. Returns the link's
 * descriptor (closing it detaches) or -errno.
 */
int uprobe_multi_link(int prog_fd, const char *path, const uint64_t *offsets,
		      const uint64_t *cookies, unsigned int cnt, bool ret);

#endif
