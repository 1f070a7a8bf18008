// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <stdio.h>
#include <string.h>

#include "core/rankstat.h"
#include "core/stats.h"
#include "harness/spans.h"

static void outliers_by_total_and_by_mean_differ(void **state)
{
	struct rankstat r = {0};
	struct rank_spread s[2] = {{0}, {0}};

	(void)state;
	/* Row 1: rank 5 took most in all, but rank 2 most each time. */
	assert_ok(rankstat_add(&r, 1, 5, 60));
	assert_ok(rankstat_add(&r, 1, 5, 60));
	assert_ok(rankstat_add(&r, 1, 2, 100));
	assert_ok(rankstat_add(&r, 1, 9, 30));
	assert_ok(rankstat_add(&r, 1, 9, 31));
	assert_ok(rankstat_add(&r, 0, 7, 0));
	rankstat_spread(&r, s);
	assert_int_equal(s[1].ranks, 3);
	assert_int_equal(s[1].min_total_rank, 9);
	assert_int_equal(s[1].min_total_ns, 61);
	assert_int_equal(s[1].max_total_rank, 5);
	assert_int_equal(s[1].max_total_ns, 120);
	assert_int_equal(s[1].min_avg_rank, 9);
	assert_true(s[1].min_avg_ns == 30.5);
	assert_int_equal(s[1].max_avg_rank, 2);
	assert_true(s[1].max_avg_ns == 100);
	assert_int_equal(s[0].ranks, 1);
	assert_int_equal(s[0].max_total_rank, 7);
	rankstat_free(&r);
}

/* Whatever order they come in. */
static void of_equal_ones_the_lowest_rank_counts(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct rankstat r = {0};
		struct rank_spread s = {0};

		assert_ok(rankstat_add(&r, 0, i ? 4 : 3, 10));
		assert_ok(rankstat_add(&r, 0, i ? 3 : 4, 10));
		rankstat_spread(&r, &s);
		assert_int_equal(s.min_total_rank, 3);
		assert_int_equal(s.max_total_rank, 3);
		assert_int_equal(s.min_avg_rank, 3);
		assert_int_equal(s.max_avg_rank, 3);
		rankstat_free(&r);
	}
}

/* ---- In the table -------------------------------------------------------------------------- */

static void give(struct consumer *c, uint32_t pid, const char *name, uint64_t ns)
{
	struct span sp = span_of(name, 1000, 1000 + ns);

	sp.pid = pid;
	assert_ok(c->span(c->ctx, &sp));
}

static struct process process_of(uint32_t pid, int32_t rank, int32_t local)
{
	return (struct process){.pid = pid,
				.name = "p",
				.cmdline = "",
				.exe = "",
				.host = "node-b",
				.rank = rank,
				.local_rank = local,
				.source = 2};
}

static struct stats *stats_of(enum stats_by by)
{
	const struct trace_meta meta = {.host = "", .version = ""};
	const struct process procs[] = {process_of(1, 0, -1), process_of(2, 10, 2),
					process_of(3, -1, 1), process_of(4, -1, -1)};
	const struct stats_config cfg = {.by = by, .ranks = true};
	struct consumer c;
	struct stats *s;

	assert_ok(stats_new(&cfg, &s));
	c = stats_consumer(s);
	for (size_t i = 0; i < sizeof(procs) / sizeof(procs[0]); i++)
		assert_ok(c.process(c.ctx, &procs[i]));
	give(&c, 1, "step", 50);
	give(&c, 2, "step", 70);
	give(&c, 3, "step", 900);
	give(&c, 4, "alone", 5);
	give(&c, 2, "step", 20);
	assert_ok(c.end(c.ctx, &meta));
	return s;
}

static void a_row_knows_its_outliers(void **state)
{
	struct stats *s = stats_of(STATS_BY_NAME);
	const struct stats_row *r = stats_get(s, 0);

	(void)state;
	assert_string_equal(r->label, "step");
	assert_int_equal(r->instances, 4);
	/* The process without a rank is in the row, but it is no rank. */
	assert_int_equal(r->ranks.ranks, 2);
	assert_int_equal(r->ranks.min_total_rank, 0);
	assert_int_equal(r->ranks.max_total_rank, 10);
	assert_int_equal(r->ranks.max_total_ns, 90);
	assert_int_equal(r->ranks.min_avg_rank, 10);
	assert_int_equal(r->ranks.max_avg_rank, 0);
	r = stats_get(s, 1);
	assert_string_equal(r->label, "alone");
	assert_int_equal(r->ranks.ranks, 0);
	stats_free(s);
}

static void rows_by_rank(void **state)
{
	static const char *const want[] = {"local rank 1 of node-b", "rank 10", "rank 0",
					   "no rank"};
	struct stats *s = stats_of(STATS_BY_RANK);

	(void)state;
	assert_int_equal(stats_count(s), 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(stats_get(s, i)->label, want[i]);
	assert_int_equal(stats_get(s, 1)->instances, 2);
	stats_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outliers_by_total_and_by_mean_differ),
		cmocka_unit_test(of_equal_ones_the_lowest_rank_counts),
		cmocka_unit_test(a_row_knows_its_outliers),
		cmocka_unit_test(rows_by_rank),
	};

	return RUN(tests);
}
