/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far apart clocks are, from something that ends everywhere at the same time, such as a
 * barrier. In: the traces of several captures, one after the other; captures that share a clock are
 * a group. Out: what to add to the times of each group.
 *
 * The k-th end in one process belongs to the k-th in every other that has any, so each process must
 * have as many. Of a group's processes the first to leave counts: nothing can leave before all have
 * come, and whatever delays a process afterwards only makes it later. The difference to the first
 * group is the median over all k. Only complete ranges and marks count.
 *
 * Pure. Memory is bounded: beyond ALIGN_ENDS ends of a process the rest is counted only.
 */
#ifndef ACLTAP_CORE_ALIGN_H
#define ACLTAP_CORE_ALIGN_H

#include "core/pipeline.h"

#define ALIGN_ENDS 65536

struct align;

int align_new(const char *name, struct align **out); /* 0 or -ENOMEM */
void align_free(struct align *a);		     /* NULL is fine */

/* Gets the trace of one capture, before the next capture's is asked for. */
struct consumer align_consumer(struct align *a, size_t capture);

/* Of a capture: processes that have it, and how often. 0 processes: it is missing. */
struct align_count {
	size_t processes;
	uint64_t least, most;
};
struct align_count align_count(const struct align *a, size_t capture);

struct align_result {
	int64_t *shifts;   /* by group; the caller's, for n_groups */
	uint64_t used;	   /* ends that were compared */
	uint64_t worst_ns; /* largest distance that is left between two groups at one end */
};

/*
 * groups[capture] < n_groups says which captures share a clock; each group has one at least.
 * Shifts are to be added to monotonic times; group 0 stays. Returns 0; -EINVAL when counts differ
 * or are 0 (align_count() tells where); -ENOMEM.
 */
int align_solve(const struct align *a, const size_t *groups, size_t n_groups,
		struct align_result *out);

#endif
