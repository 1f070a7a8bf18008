/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sorts spans by (start, depth, pid, start thread, sequence, id) in bounded memory: an external
 * merge sort. Runs go to files without a name beside an output, so they vanish on every path; a
 * trace that fits into the budget never touches the disk. The first error sticks.
 */
#ifndef ACLTAP_SINK_SORT_H
#define ACLTAP_SINK_SORT_H

#include <stddef.h>

#include "core/model.h"

#ifndef SORT_BUDGET /* the fuzzer makes thousands a second */
#define SORT_BUDGET (64u << 20)
#endif

struct sorter;

/* beside: path of an output, kept as a copy. budget: bytes of memory to use, about. */
int sort_new(const char *beside, size_t budget, struct sorter **out);
/* Copies the span with its texts; tag is a number of the caller's that comes back with it. */
int sort_add(struct sorter *s, const struct span *sp, uint64_t tag);
/*
 * Gives all spans in order, once; valid during the call. Stops at the first error of emit and
 * returns it.
 */
int sort_drain(struct sorter *s, int (*emit)(void *ctx, const struct span *sp, uint64_t tag),
	       void *ctx);
void sort_free(struct sorter *s); /* NULL is fine */

#endif
