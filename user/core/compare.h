/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two traces, A before B, row by row: how much the durations of a name changed, and whether that
 * is more than chance. Pure.
 *
 * A change is called likely when its p, the rank test's (core/ranktest.h), is below COMPARE_P. The
 * p of a row is corrected for how many rows are tested (Benjamini and Hochberg): of all that are
 * called likely, one in a hundred is chance; two traces of the same, however many names, have such
 * a row one time in a hundred. The test knows that two traces differ, not why.
 */
#ifndef ACLTAP_CORE_COMPARE_H
#define ACLTAP_CORE_COMPARE_H

#include "core/stats.h"

#define COMPARE_P 0.01
#define COMPARE_SAMPLE 10000 /* for max_sample of the stats */
#define COMPARE_INSTANCES 10

enum compare_verdict {
	COMPARE_UNTESTED, /* a mark, or too few instances in A or in B */
	COMPARE_ONLY_A,
	COMPARE_ONLY_B,
	COMPARE_UNLIKELY,
	COMPARE_FASTER, /* likely that B is */
	COMPARE_SLOWER,
};

/* In percent of A; NAN: not in both. A of 0 and B not: INFINITY. */
struct compare_row {
	const struct stats_row *a, *b; /* NULL = not there; never both */
	double avg_change, med_change;
	double p; /* corrected; NAN = not tested */
	enum compare_verdict verdict;
	double order; /* internal */
};

enum compare_key {
	COMPARE_BY_CHANGE, /* likely ones first, then only A and B; by the time it makes */
	COMPARE_BY_TOTAL,  /* the larger one's; so instances */
	COMPARE_BY_INSTANCES,
	COMPARE_BY_AVG, /* most slowed down first; those without a change last */
	COMPARE_BY_MED,
	COMPARE_BY_P, /* smallest first */
	COMPARE_BY_NAME,
};

struct compare;

/*
 * Of two finished stats with samples, which must outlive it and are sorted by name. Tests what has
 * at least min_instances in both. 0 or -ENOMEM.
 */
int compare_new(struct stats *a, struct stats *b, uint64_t min_instances, struct compare **out);
void compare_free(struct compare *c); /* NULL is fine */

/* Rows of equal rank are in order of name and style. First by COMPARE_BY_CHANGE. */
void compare_sort(struct compare *c, enum compare_key key);
size_t compare_count(const struct compare *c);
const struct compare_row *compare_get(const struct compare *c, size_t i);
size_t compare_tested(const struct compare *c); /* rows */

/* The row of A, else of B: for label and style. */
const struct stats_row *compare_either(const struct compare_row *r);

/* Is it likely that B is slower, and its median (by_avg: mean) by more than percent? */
bool compare_exceeds(const struct compare_row *r, double percent, bool by_avg);

const char *compare_verdict_name(enum compare_verdict v); /* "likely slower", "only A" */

#endif
