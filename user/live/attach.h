/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Links: probes in place. One uprobe_multi link per file and program where the kernel has it, a
 * perf link per probe elsewhere. For every process; the programs filter.
 */
#ifndef ACLTAP_LIVE_ATTACH_H
#define ACLTAP_LIVE_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include "live/bpfload.h"

struct attach_point {
	uint64_t offset; /* in the file */
	uint64_t cookie;
};

/* Links of one group can be removed before the others. */
enum attach_group { GROUP_KEEP, GROUP_STAMP };

struct attach;

int attach_new(struct bpf *b, struct attach **out);

/*
 * Probes the file behind fd. A point that the kernel refuses is reported through bad (index and
 * -errno) and the others are attached all the same. Returns how many were attached, or -ENOMEM.
 */
int attach_points(struct attach *a, enum attach_prog prog, enum attach_group group, int fd,
		  const struct attach_point *p, size_t n, void (*bad)(void *ctx, size_t i, int err),
		  void *ctx);

/* Removes the links of a group. Does not wait: a thread does, and it takes over the links. */
void attach_drop(struct attach *a, enum attach_group group);

size_t attach_links(const struct attach *a);

/*
 * Removes all, which takes the kernel some 45 ms per multi link and 110 ms per perf link: a process
 * of its own that inherits them waits for that. NULL is fine.
 */
void attach_free(struct attach *a);

#endif
