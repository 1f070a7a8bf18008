// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of the collected rows: percentiles, labels, order. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stats_in.h"

/* Nearest rank: the smallest value that percent of all do not exceed. */
static uint64_t percentile(struct stats_row *r, unsigned int percent)
{
	uint64_t n = r->instances, rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
	uint64_t v = values_rank(&r->values, rank ? rank - 1 : 0);

	/* The middle of a bucket can lie outside. */
	return v < r->min_ns ? r->min_ns : v > r->max_ns ? r->max_ns : v;
}

static double median(struct stats_row *r)
{
	uint64_t low = values_rank(&r->values, (r->instances - 1) / 2);
	uint64_t high = values_rank(&r->values, r->instances / 2);
	double v = ((double)low + (double)high) / 2;

	return v < (double)r->min_ns   ? (double)r->min_ns
	       : v > (double)r->max_ns ? (double)r->max_ns
				       : v;
}

static void finish_row(struct row *row)
{
	struct stats_row *r = &row->r;

	if (!r->instances)
		return;
	r->avg_ns = (double)r->total_ns / (double)r->instances;
	r->med_ns = median(r);
	if (r->instances > 1)
		r->stddev_ns = sqrt(row->squares / (double)(r->instances - 1));
	r->p95_ns = percentile(r, 95);
	r->p99_ns = percentile(r, 99);
}

/* "1234/1240 worker", "1234 python3" */
static int label_by_id(const struct stats *s, struct row *row)
{
	bool thread = s->cfg.by == STATS_BY_THREAD;
	uint32_t ids[2] = {0, 0};
	const char *name;
	char text[320], tid[16] = "";
	int len = 255;

	memcpy(ids, row->key, thread ? sizeof(ids) : sizeof(ids[0]));
	name = thread ? map_get_ptr(&s->threads, PAIR(ids[0], ids[1]))
		      : map_get_ptr(&s->first_names, ids[0]);
	if (!thread && row->key_len > sizeof(ids[0])) {
		name = row->key + sizeof(ids[0]);
		len = (int)(row->key_len - sizeof(ids[0]));
	}
	if (thread)
		snprintf(tid, sizeof(tid), "/%u", ids[1]);
	snprintf(text, sizeof(text), "%u%s%s%.*s", ids[0], tid, name ? " " : "", len, name ?: "");
	row->label = strdup(text);
	if (!row->label)
		return -ENOMEM;
	row->r.label = row->label;
	row->r.label_len = strlen(row->label);
	return 0;
}

static bool is_by_id(const struct stats *s, const struct row *row)
{
	if (s->cfg.by == STATS_BY_THREAD)
		return row->key_len == 2 * sizeof(uint32_t);
	return s->cfg.by == STATS_BY_PROCESS && (row->key_len != strlen(STATS_OTHERS) ||
						 memcmp(row->key, STATS_OTHERS, row->key_len) != 0);
}

static long double order_of(const struct stats_row *r, enum stats_key key)
{
	switch (key) {
	case STATS_TOTAL:
		return r->total_ns;
	case STATS_INSTANCES:
		return r->instances;
	case STATS_AVG:
		return r->avg_ns;
	case STATS_MED:
		return r->med_ns;
	case STATS_MIN:
		return r->min_ns;
	case STATS_MAX:
		return r->max_ns;
	case STATS_STDDEV:
		return r->stddev_ns;
	case STATS_P95:
		return r->p95_ns;
	case STATS_P99:
		return r->p99_ns;
	case STATS_SELF:
		return r->self_ns;
	case STATS_NAME:
		break;
	}
	return 0;
}

int stats_compare_names(const struct stats_row *x, const struct stats_row *y)
{
	size_t n = x->label_len < y->label_len ? x->label_len : y->label_len;
	int order = memcmp(x->label, y->label, n);

	if (order)
		return order;
	if (x->label_len != y->label_len)
		return x->label_len < y->label_len ? -1 : 1;
	return (int)x->style - (int)y->style;
}

static int by_order(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	if (x->order < y->order || x->order > y->order)
		return x->order < y->order ? 1 : -1;
	return stats_compare_names(&x->r, &y->r);
}

void stats_sort(struct stats *s, enum stats_key key)
{
	for (size_t i = 0; i < s->n_rows; i++)
		s->rows[i]->order = order_of(&s->rows[i]->r, key);
	if (s->n_rows)
		qsort(s->rows, s->n_rows, sizeof(struct row *), by_order);
}

/* Before the rows are sorted: their numbers are their places. */
static int finish_ranks(struct stats *s)
{
	struct rank_spread *spreads = calloc(s->n_rows + 1, sizeof(*spreads));

	if (!spreads)
		return -ENOMEM;
	rankstat_spread(&s->rankstat, spreads);
	for (size_t i = 0; i < s->n_rows; i++)
		s->rows[i]->r.ranks = spreads[s->rows[i]->number];
	free(spreads);
	return 0;
}

int stats_finish(struct stats *s)
{
	double all = 0;
	int err = 0;

	for (size_t i = 0; i < s->n_rows && !err; i++) {
		struct row *row = s->rows[i];

		all += (double)row->r.total_ns;
		finish_row(row);
		row->r.label = row->key;
		row->r.label_len = row->key_len;
		if (is_by_id(s, row))
			err = label_by_id(s, row);
	}
	for (size_t i = 0; i < s->n_rows; i++)
		if (all > 0)
			s->rows[i]->r.percent = 100 * (double)s->rows[i]->r.total_ns / all;
	if (!err && s->cfg.ranks)
		err = finish_ranks(s);
	if (!err)
		stats_sort(s, STATS_TOTAL);
	return err;
}
