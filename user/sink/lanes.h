/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places, each for one thing at a time: the first that is free for what overlaps. A program that
 * never stops its ranges has as many as ranges, so looking for one costs the logarithm of them.
 * Pure; zeroed at start.
 */
#ifndef ACLTAP_SINK_LANES_H
#define ACLTAP_SINK_LANES_H

#include <stddef.h>
#include <stdint.h>

#define LANE_OPEN UINT64_MAX /* taken for ever */

struct lanes {
	uint64_t *ends; /* a tree: each has the least of the two below it; [room + i] is lane i */
	size_t n, room;
};

/* The first one that is free from start_ns on; n: a new one. */
size_t lanes_find(const struct lanes *l, uint64_t start_ns);
/* Until when lane i < n is taken. */
uint64_t lanes_end(const struct lanes *l, size_t i);
/* Takes lane i <= n; n adds it. Returns 0 or -ENOMEM, and all is as it was. */
int lanes_take(struct lanes *l, size_t i, uint64_t end_ns);
void lanes_free(struct lanes *l);

#endif
