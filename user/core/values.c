// SPDX-License-Identifier: GPL-2.0-only
#include "core/values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

static unsigned int log2_of(uint64_t x)
{
	return x ? 63 - (unsigned int)__builtin_clzll(x) : 0;
}

/* Page 0 has the numbers below VALUES_SUB, each other one a power of two. */
static unsigned int page_of(uint64_t x)
{
	return x < VALUES_SUB ? 0 : log2_of(x) - VALUES_SUB_BITS + 1;
}

static unsigned int sub_of(uint64_t x, unsigned int page)
{
	return (page ? x >> (page - 1) : x) & (VALUES_SUB - 1);
}

/* The number that a bucket stands for. */
static uint64_t middle_of(unsigned int page, unsigned int sub)
{
	uint64_t width;

	if (!page)
		return sub;
	width = 1ull << (page - 1);
	return (uint64_t)(VALUES_SUB + sub) * width + width / 2;
}

static int count_value(uint64_t **pages, uint64_t x)
{
	unsigned int page = page_of(x);

	if (!pages[page]) {
		pages[page] = calloc(VALUES_SUB, sizeof(**pages));
		if (!pages[page])
			return -ENOMEM;
	}
	pages[page][sub_of(x, page)]++;
	return 0;
}

static void free_pages(uint64_t **pages)
{
	for (size_t i = 0; pages && i < VALUES_PAGES; i++)
		free(pages[i]);
	free(pages);
}

static int add_exact(struct values *v, uint64_t x)
{
	if (grow_table(v->exact, v->n, v->cap, 4))
		return -ENOMEM;
	v->exact[v->n++] = x;
	return 0;
}

int values_add(struct values *v, uint64_t x)
{
	int err = v->pages ? count_value(v->pages, x) : add_exact(v, x);

	v->count += !err;
	return err;
}

int values_coarsen(struct values *v)
{
	uint64_t **pages;

	if (v->pages)
		return 0;
	pages = calloc(VALUES_PAGES, sizeof(*pages));
	if (!pages)
		return -ENOMEM;
	for (size_t i = 0; i < v->n; i++) {
		if (count_value(pages, v->exact[i])) {
			free_pages(pages);
			return -ENOMEM;
		}
	}
	free(v->exact);
	v->exact = NULL;
	v->n = v->cap = 0;
	v->pages = pages;
	return 0;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t rank_of_buckets(const struct values *v, uint64_t k)
{
	uint64_t seen = 0;

	for (unsigned int page = 0; page < VALUES_PAGES; page++) {
		for (unsigned int sub = 0; v->pages[page] && sub < VALUES_SUB; sub++) {
			seen += v->pages[page][sub];
			if (seen > k)
				return middle_of(page, sub);
		}
	}
	return 0;
}

static void sort(struct values *v)
{
	for (size_t i = 1; i < v->n; i++) {
		if (v->exact[i - 1] > v->exact[i]) {
			qsort(v->exact, v->n, sizeof(*v->exact), by_size);
			return;
		}
	}
}

uint64_t values_rank(struct values *v, uint64_t k)
{
	if (!v->count)
		return 0;
	if (k >= v->count)
		k = v->count - 1;
	if (v->pages)
		return rank_of_buckets(v, k);
	sort(v);
	return v->exact[k];
}

void values_histogram(const struct values *v, uint64_t bins[64])
{
	memset(bins, 0, 64 * sizeof(*bins));
	for (size_t i = 0; i < v->n; i++)
		bins[log2_of(v->exact[i])]++;
	for (unsigned int page = 0; v->pages && page < VALUES_PAGES; page++)
		for (unsigned int sub = 0; v->pages[page] && sub < VALUES_SUB; sub++)
			bins[log2_of(middle_of(page, sub))] += v->pages[page][sub];
}

void values_free(struct values *v)
{
	free(v->exact);
	free_pages(v->pages);
	*v = (struct values){0};
}
