// SPDX-License-Identifier: GPL-2.0-only
#include "core/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ranktest.h"
#include "util/cleanup.h"

struct compare {
	struct compare_row *rows;
	size_t n, n_tested;
};

const struct stats_row *compare_either(const struct compare_row *r)
{
	return r->a ? r->a : r->b;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static double percent_of(double a, double b)
{
	if (a > 0)
		return 100 * (b - a) / a;
	return b > 0 ? INFINITY : 0;
}

/* The p of this row alone, and which way it points. */
static int test_row(struct compare_row *r, uint64_t min_instances)
{
	const struct reservoir *a = &r->a->sample, *b = &r->b->sample;
	struct ranktest res;
	int err;

	if (r->a->style == STYLE_MARKER || r->a->instances < min_instances ||
	    r->b->instances < min_instances)
		return 0;
	err = ranktest(a->v, a->n, b->v, b->n, &res);
	if (err)
		return err;
	r->p = res.p;
	r->verdict = res.b_larger ? COMPARE_SLOWER : COMPARE_FASTER;
	return 0;
}

static int fill_row(struct compare_row *r, const struct stats_row *a, const struct stats_row *b,
		    uint64_t min_instances)
{
	*r = (struct compare_row){.a = a, .b = b, .avg_change = NAN, .med_change = NAN, .p = NAN};
	if (!a || !b) {
		r->verdict = a ? COMPARE_ONLY_A : COMPARE_ONLY_B;
		return 0;
	}
	if (a->instances && b->instances) {
		r->avg_change = percent_of(a->avg_ns, b->avg_ns);
		r->med_change = percent_of(a->med_ns, b->med_ns);
	}
	return test_row(r, min_instances);
}

/* What had no room of its own: other names in the one than in the other. */
static bool is_others(const struct stats *s, const struct stats_row *r)
{
	return r && stats_unnamed_spans(s) && r->label_len == strlen(STATS_OTHERS) &&
	       !memcmp(r->label, STATS_OTHERS, r->label_len);
}

/* Both in order of name: side by side. */
static int join(struct compare *c, const struct stats *a, const struct stats *b,
		uint64_t min_instances)
{
	size_t i = 0, j = 0, n_a = stats_count(a), n_b = stats_count(b);
	int err = 0;

	while (!err && (i < n_a || j < n_b)) {
		const struct stats_row *x = i < n_a ? stats_get(a, i) : NULL;
		const struct stats_row *y = j < n_b ? stats_get(b, j) : NULL;
		int order = !y ? -1 : !x ? 1 : stats_compare_names(x, y);
		bool others = is_others(a, x) || is_others(b, y);

		i += order <= 0;
		j += order >= 0;
		err = fill_row(&c->rows[c->n++], order <= 0 ? x : NULL, order >= 0 ? y : NULL,
			       others ? UINT64_MAX : min_instances);
	}
	return err;
}

static int by_p(const void *x, const void *y)
{
	double a = (*(struct compare_row *const *)x)->p, b = (*(struct compare_row *const *)y)->p;

	return (a > b) - (a < b);
}

/* From the largest p down: each times the number of tests for one that is as small or smaller. */
static int correct(struct compare *c)
{
	_free_ struct compare_row **tested = calloc(c->n + 1, sizeof(struct compare_row *));
	double least = 1;

	if (!tested)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		if (!isnan(c->rows[i].p))
			tested[c->n_tested++] = &c->rows[i];
	if (c->n_tested)
		qsort(tested, c->n_tested, sizeof(tested[0]), by_p);
	for (size_t i = c->n_tested; i-- > 0;) {
		least = fmin(least, tested[i]->p * (double)c->n_tested / (double)(i + 1));
		tested[i]->p = least;
		if (least >= COMPARE_P)
			tested[i]->verdict = COMPARE_UNLIKELY;
	}
	return 0;
}

int compare_new(struct stats *a, struct stats *b, uint64_t min_instances, struct compare **out)
{
	struct compare *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->rows = calloc(stats_count(a) + stats_count(b) + 1, sizeof(*c->rows));
	stats_sort(a, STATS_NAME);
	stats_sort(b, STATS_NAME);
	err = c->rows ? join(c, a, b, min_instances) : -ENOMEM;
	err = err ?: correct(c);
	if (err) {
		compare_free(c);
		return err;
	}
	compare_sort(c, COMPARE_BY_CHANGE);
	*out = c;
	return 0;
}

void compare_free(struct compare *c)
{
	if (!c)
		return;
	free(c->rows);
	free(c);
}

/* ---- Order --------------------------------------------------------------------------------- */

static bool is_likely(const struct compare_row *r)
{
	return r->verdict == COMPARE_FASTER || r->verdict == COMPARE_SLOWER;
}

/* The time that B takes because of the change, or less: as far as the mean tells. */
static double made_ns(const struct compare_row *r)
{
	if (!r->a || !r->b)
		return (double)compare_either(r)->total_ns;
	return fabs(r->b->avg_ns - r->a->avg_ns) * (double)r->b->instances;
}

static uint64_t larger(const struct compare_row *r, bool total)
{
	uint64_t a = !r->a ? 0 : total ? r->a->total_ns : r->a->instances;
	uint64_t b = !r->b ? 0 : total ? r->b->total_ns : r->b->instances;

	return a > b ? a : b;
}

static double order_of(const struct compare_row *r, enum compare_key key)
{
	switch (key) {
	case COMPARE_BY_CHANGE:
		return made_ns(r);
	case COMPARE_BY_TOTAL:
		return (double)larger(r, true);
	case COMPARE_BY_INSTANCES:
		return (double)larger(r, false);
	case COMPARE_BY_AVG:
		return r->avg_change;
	case COMPARE_BY_MED:
		return r->med_change;
	case COMPARE_BY_P:
		return -r->p;
	case COMPARE_BY_NAME:
		break;
	}
	return 0;
}

static int by_order(const void *x, const void *y)
{
	const struct compare_row *a = x, *b = y;

	if (isnan(a->order) != isnan(b->order))
		return isnan(a->order) ? 1 : -1;
	if (a->order < b->order || a->order > b->order)
		return a->order < b->order ? 1 : -1;
	return stats_compare_names(compare_either(a), compare_either(b));
}

static int group_of(const struct compare_row *r)
{
	return is_likely(r) ? 0 : !r->a || !r->b ? 1 : 2;
}

static int by_change(const void *x, const void *y)
{
	int a = group_of(x), b = group_of(y);

	return a != b ? a - b : by_order(x, y);
}

void compare_sort(struct compare *c, enum compare_key key)
{
	for (size_t i = 0; i < c->n; i++)
		c->rows[i].order = order_of(&c->rows[i], key);
	if (c->n)
		qsort(c->rows, c->n, sizeof(c->rows[0]),
		      key == COMPARE_BY_CHANGE ? by_change : by_order);
}

/* ---- Questions ----------------------------------------------------------------------------- */

size_t compare_count(const struct compare *c)
{
	return c->n;
}

const struct compare_row *compare_get(const struct compare *c, size_t i)
{
	return &c->rows[i];
}

size_t compare_tested(const struct compare *c)
{
	return c->n_tested;
}

bool compare_exceeds(const struct compare_row *r, double percent, bool by_avg)
{
	return r->verdict == COMPARE_SLOWER && (by_avg ? r->avg_change : r->med_change) > percent;
}

const char *compare_verdict_name(enum compare_verdict v)
{
	static const char *const names[] = {
		[COMPARE_UNTESTED] = "untested",    [COMPARE_ONLY_A] = "only A",
		[COMPARE_ONLY_B] = "only B",	    [COMPARE_UNLIKELY] = "unlikely",
		[COMPARE_FASTER] = "likely faster", [COMPARE_SLOWER] = "likely slower",
	};

	return names[v];
}
