/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Many numbers of which the median and the like are asked in the end. Kept as they are at first;
 * on demand only counted in buckets: up to 63 exact, above 64 buckets in each power of two, so
 * that the middle of one is within 0.8 % of what it stands for. All zero is empty. Pure.
 */
#ifndef ACLTAP_CORE_VALUES_H
#define ACLTAP_CORE_VALUES_H

#include <stddef.h>
#include <stdint.h>

#define VALUES_SUB_BITS 6
#define VALUES_SUB (1u << VALUES_SUB_BITS)
#define VALUES_PAGES (64 - VALUES_SUB_BITS + 1)

struct values {
	uint64_t *exact; /* n of them; NULL once coarse */
	size_t n, cap;
	uint64_t **pages; /* VALUES_PAGES of VALUES_SUB counters each, or NULL */
	uint64_t count;	  /* of all */
};

int values_add(struct values *v, uint64_t x); /* 0 or -ENOMEM */

/* Gives up the exact values for buckets. -ENOMEM leaves it as it was. */
int values_coarsen(struct values *v);

/* The k-th smallest (from 0) of count. Sorts what is exact; no values: 0. */
uint64_t values_rank(struct values *v, uint64_t k);

/* bins[i] = how many lie in [2^i, 2^(i+1)); bins[0] has the zeros too. */
void values_histogram(const struct values *v, uint64_t bins[64]);

void values_free(struct values *v);

#endif
