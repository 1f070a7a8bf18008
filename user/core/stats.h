/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics of durations: one row for each style and name (or thread, process, rank, category). A
 * consumer that counts, and the rows in the end. Pure. Memory is bounded: so many rows, the rest
 * in one of their own; so many values, beyond which the rows that have most keep buckets instead
 * (core/values.h); so many ranges that have an ended child and have not ended themselves.
 */
#ifndef ACLTAP_CORE_STATS_H
#define ACLTAP_CORE_STATS_H

#include "core/pipeline.h"
#include "core/rankstat.h"
#include "core/reservoir.h"
#include "core/values.h"

#define STATS_ROWS_MAX 100000
#define STATS_VALUES_MAX 4000000 /* exact values of all rows together */
#define STATS_PARENTS_MAX 1000000
#define STATS_OTHERS "(all others)" /* the label of what is beyond max_rows */

enum stats_style { STYLE_PUSH_POP, STYLE_START_END, STYLE_MARKER };

enum stats_by {
	STATS_BY_NAME,
	STATS_BY_THREAD,
	STATS_BY_PROCESS,
	STATS_BY_CATEGORY,
	STATS_BY_RANK
};

enum stats_key {
	STATS_TOTAL,
	STATS_INSTANCES,
	STATS_AVG,
	STATS_MED,
	STATS_MIN,
	STATS_MAX,
	STATS_STDDEV,
	STATS_P95,
	STATS_P99,
	STATS_SELF,
	STATS_NAME, /* ascending; all others largest first */
};

/* Durations in ns, of complete spans only. No instances: all 0. */
struct stats_row {
	const char *label;
	size_t label_len;
	enum stats_style style;
	uint64_t instances, total_ns, min_ns, max_ns;
	uint64_t self_ns;    /* without the push/pop ranges directly inside */
	uint64_t unfinished; /* also open ones, and those whose id was started again */
	uint64_t uncertain;
	double percent; /* total_ns of the total of all rows */
	double avg_ns, med_ns;
	double stddev_ns;	 /* of a sample: divided by n - 1, as nsys does; 0 for one */
	uint64_t p95_ns, p99_ns; /* nearest rank: one of the values */
	struct values values;
	struct rank_spread ranks; /* only with config.ranks */
	struct reservoir sample;  /* some of the values, as they are; empty without max_sample */
};

struct stats_config {
	enum stats_by by;
	bool ranks;	   /* tell which are the outliers */
	size_t max_values; /* 0 = STATS_VALUES_MAX */
	size_t max_rows;   /* 0 = STATS_ROWS_MAX */
	/* Values to sample in each row, 0 = none; fewer when all together are max_values. */
	size_t max_sample;
};

struct stats;

int stats_new(const struct stats_config *cfg, struct stats **out); /* 0 or -ENOMEM */
struct consumer stats_consumer(struct stats *s);
void stats_free(struct stats *s); /* NULL is fine */

/* After the consumer's end(). Rows of equal rank are in order of label and style. */
void stats_sort(struct stats *s, enum stats_key key);
/* The order of STATS_NAME: by label, then style. As strcmp(). */
int stats_compare_names(const struct stats_row *x, const struct stats_row *y);
size_t stats_count(const struct stats *s);
const struct stats_row *stats_get(const struct stats *s, size_t i); /* i < stats_count() */

/* How much had to be given up to stay within the memory. */
size_t stats_coarse_rows(const struct stats *s);     /* median and percentiles within 1 % */
uint64_t stats_unnamed_spans(const struct stats *s); /* beyond max_rows */
bool stats_ranks_incomplete(const struct stats *s);  /* too many pairs of rows and ranks */
bool stats_self_incomplete(const struct stats *s);   /* some self times are too long */

const char *stats_style_name(enum stats_style style); /* PushPop, StartEnd, Marker */

#endif
