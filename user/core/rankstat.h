/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which rank is the outlier: durations added up for each pair of a row and a rank, and in the end
 * the ranks with the smallest and the largest total and mean of each row. Of equal ones the lowest
 * rank counts. Bounded: further pairs are not counted. All zero is empty. Pure.
 */
#ifndef ACLTAP_CORE_RANKSTAT_H
#define ACLTAP_CORE_RANKSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/map.h"

#define RANKSTAT_PAIRS_MAX 4000000

struct rankstat {
	struct map index; /* row, rank -> number in sums + 1 */
	struct rank_sum *sums;
	size_t n, cap;
	bool full; /* some pairs were left out */
};

/* Ranks of 0 ranks mean nothing. */
struct rank_spread {
	uint32_t ranks;
	uint32_t min_total_rank, max_total_rank, min_avg_rank, max_avg_rank;
	uint64_t min_total_ns, max_total_ns;
	double min_avg_ns, max_avg_ns;
};

int rankstat_add(struct rankstat *r, uint32_t row, uint32_t rank, uint64_t ns); /* 0 or -ENOMEM */
/* Adds what is known to spreads, which are zeroed, one for each row. */
void rankstat_spread(const struct rankstat *r, struct rank_spread *spreads);
void rankstat_free(struct rankstat *r);

#endif
