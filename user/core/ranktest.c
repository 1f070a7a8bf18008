// SPDX-License-Identifier: GPL-2.0-only
#include "core/ranktest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

/* Of both samples, in order: values that are equal are a group. Ranks are doubled: no halves. */
struct group {
	uint64_t a, b;	/* how many of each side */
	uint64_t rank2; /* the mean rank of its members, times two */
};

struct ranking {
	struct group *groups; /* owned */
	size_t n;
	double ties; /* sum of t^3 - t over the groups */
	double u2;   /* u times two */
};

static int by_size(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static uint64_t *sorted(const uint64_t *v, size_t n)
{
	uint64_t *copy = malloc((n + 1) * sizeof(*copy));

	if (!copy)
		return NULL;
	memcpy(copy, v, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), by_size);
	return copy;
}

static uint64_t count_equal(const uint64_t *v, size_t n, size_t *at, uint64_t x)
{
	size_t from = *at;

	while (*at < n && v[*at] == x)
		(*at)++;
	return *at - from;
}

static int rank(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, struct ranking *r)
{
	_free_ uint64_t *x = sorted(a, n_a), *y = sorted(b, n_b);
	size_t i = 0, j = 0;

	r->groups = malloc((n_a + n_b) * sizeof(*r->groups));
	if (!x || !y || !r->groups)
		return -ENOMEM;
	while (i < n_a || j < n_b) {
		uint64_t value = j == n_b || (i < n_a && x[i] < y[j]) ? x[i] : y[j];
		size_t a_before = i, before = i + j;
		struct group *g = &r->groups[r->n++];
		double t;

		g->a = count_equal(x, n_a, &i, value);
		g->b = count_equal(y, n_b, &j, value);
		g->rank2 = 2 * before + g->a + g->b + 1;
		t = (double)(g->a + g->b);
		r->ties += t * t * t - t;
		r->u2 += (double)g->b * (2 * (double)a_before + (double)g->a);
	}
	return 0;
}

/*
 * ways[k * (sums + 1) + s]: in how many ways k of the values have ranks that add up to s. One
 * value after the other, each either chosen or not; downwards, so that it is chosen once.
 */
static void count_ways(const struct ranking *r, size_t chosen, size_t sums, double *ways)
{
	size_t width = sums + 1;

	ways[0] = 1;
	for (const struct group *g = r->groups; g < r->groups + r->n; g++) {
		for (uint64_t member = 0; member < g->a + g->b; member++) {
			for (size_t k = chosen; k > 0; k--)
				for (size_t s = g->rank2; s <= sums; s++)
					ways[k * width + s] += ways[(k - 1) * width + s - g->rank2];
		}
	}
}

/* The part of all ways to choose the smaller side that is as far from the middle or farther. */
static int exact(const struct ranking *r, size_t n_a, size_t n_b, double *p)
{
	size_t n = n_a + n_b, chosen = n_a < n_b ? n_a : n_b;
	size_t sums = n * (n + 1); /* of all doubled ranks */
	size_t middle = chosen * (n + 1), got = 0, distance;
	_free_ double *ways = calloc((chosen + 1) * (sums + 1), sizeof(*ways));
	double all = 0, far = 0;

	if (!ways)
		return -ENOMEM;
	for (const struct group *g = r->groups; g < r->groups + r->n; g++)
		got += (n_a < n_b ? g->a : g->b) * g->rank2;
	distance = got > middle ? got - middle : middle - got;
	count_ways(r, chosen, sums, ways);
	for (size_t s = 0; s <= sums; s++) {
		double w = ways[chosen * (sums + 1) + s];

		all += w;
		if ((s > middle ? s - middle : middle - s) >= distance)
			far += w;
	}
	*p = far / all;
	return 0;
}

/* One of all ways to choose so many: no arrangement is less likely. Matters for a few of many. */
static double rarest(double n, double chosen)
{
	double p = 1;

	for (double i = 0; i < chosen && p > 0; i++)
		p *= (i + 1) / (n - i);
	return p;
}

static double by_normal(const struct ranking *r, double n_a, double n_b)
{
	double n = n_a + n_b;
	double variance = n_a * n_b / 12 * (n + 1 - r->ties / (n * (n - 1)));
	/* u goes in steps: half of one belongs to it. */
	double distance = fabs(r->u2 - n_a * n_b) / 2 - 0.5;

	if (distance <= 0 || variance <= 0)
		return 1;
	return fmax(erfc(distance / sqrt(2 * variance)), rarest(n, fmin(n_a, n_b)));
}

int ranktest(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, struct ranktest *res)
{
	struct ranking r = {0};
	_free_ struct group *groups = NULL;
	int err;

	*res = (struct ranktest){.p = 1, .exact = true};
	if (!n_a || !n_b)
		return 0;
	err = rank(a, n_a, b, n_b, &r);
	groups = r.groups;
	if (err)
		return err;
	res->u = r.u2 / 2;
	res->b_larger = r.u2 > (double)n_a * (double)n_b;
	res->exact = n_a + n_b <= RANKTEST_EXACT_MAX;
	if (res->exact)
		return exact(&r, n_a, n_b, &res->p);
	res->p = by_normal(&r, (double)n_a, (double)n_b);
	return 0;
}
