/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rank test of Mann and Whitney: do the values of B tend to be larger or smaller than those of
 * A? Only the order of the values counts, so neither outliers nor the form of the distribution
 * matter; equal values share the mean of their ranks. Pure.
 */
#ifndef ACLTAP_CORE_RANKTEST_H
#define ACLTAP_CORE_RANKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Up to so many values of both together every arrangement is counted. */
#define RANKTEST_EXACT_MAX 30

struct ranktest {
	double u; /* pairs in which B is larger; equal ones count half */
	/*
	 * How likely chance alone gives a u so far from the middle, in either direction, when both
	 * come from one distribution: exact, or by the normal distribution, corrected for equal
	 * values and for u being discrete. 1 when a side is empty or all values are equal.
	 */
	double p;
	bool b_larger; /* rather than smaller; false when neither */
	bool exact;
};

/* 0 or -ENOMEM. */
int ranktest(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, struct ranktest *res);

#endif
