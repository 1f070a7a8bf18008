/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several captures into one, which is read like any other. Each keeps its records, host, ranks,
 * options and clock; only times and the source in tgid (wire.h, WIRE_PID_BITS) are written anew.
 *
 * Times. Captures of one running kernel (boot id) have one monotonic clock and stay to each other
 * exactly as they are. Those of different ones are aligned by the first reading of the wall clock
 * in the earliest capture of each, or by a name whose ends are made to agree (core/align.h); then
 * captures of one kernel that do not overlap in time are aligned apart, too.
 *
 * A k-way merge in order of time: memory is kept for what is between two watermarks of each input.
 */
#ifndef ACLTAP_STORE_MERGE_H
#define ACLTAP_STORE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/capture.h"

#define MERGE_WHY 1024

struct merge_input {
	const char *path; /* set by the caller */
	const char *name; /* by which it is known in the merged one; set by the caller */
	/* Results of merge_plan(). */
	uint32_t sources;
	int64_t shift_ns;
	/* Result of merge_write(). */
	enum capread_end ended;
};

struct merge_config {
	struct merge_input *inputs;
	size_t n;
	const char *align; /* a name; NULL = by the wall clock */
	void (*progress)(void *ctx, uint64_t done, uint64_t total); /* may be NULL */
	void *ctx;
};

struct merge;

/* What --align found: ends compared, and the largest distance left between clocks at one. */
struct merge_alignment {
	size_t clocks;
	uint64_t ends, worst_ns;
};

/*
 * Looks at all inputs and decides. Returns 0 and *out; -errno with what is wrong in why: the same
 * recording twice, no clock, too many sources, something that is no capture or of a newer format,
 * a name that not all have equally often.
 */
int merge_plan(const struct merge_config *cfg, struct merge **out, char why[MERGE_WHY]);
/* Writes the merged capture; on an error removes it. Returns 0 or -errno, then with why. */
int merge_write(struct merge *m, const char *path, bool overwrite, char why[MERGE_WHY]);
struct merge_alignment merge_alignment(const struct merge *m);
void merge_free(struct merge *m); /* NULL is fine */

#endif
