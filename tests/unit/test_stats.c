// SPDX-License-Identifier: GPL-2.0-only
/* The numbers of the statistics, worked out by hand or another way, and the limits of memory. */
#include "harness/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/filter.h"
#include "core/stats.h"
#include "harness/evscript.h"

static int push(void *ctx, const void *rec, size_t sz)
{
	return pipeline_push(ctx, rec, sz);
}

/* An event script through the pipeline. */
static struct stats *of_filtered(const struct stats_config *cfg, struct filter_config filter,
				 const char *script)
{
	struct filter f = {.cfg = filter};
	const struct pipeline_config pc = {0};
	struct pipeline *p;
	struct consumer to, next;
	struct stats *s;
	char err[256] = "";

	assert_ok(stats_new(cfg, &s));
	to = stats_consumer(s);
	next = filter_consumer(&f, &to);
	assert_ok(pipeline_new(&pc, &next, &p));
	if (evscript_run(script, strlen(script), push, p, err, sizeof(err)))
		fail_msg("%s", err);
	assert_ok(pipeline_finish(p, true));
	pipeline_free(p);
	return s;
}

static struct stats *of_script(const struct stats_config *cfg, const char *script)
{
	return of_filtered(cfg, (struct filter_config){0}, script);
}

static const struct stats_row *find(const struct stats *s, const char *label,
				    enum stats_style style)
{
	for (size_t i = 0; i < stats_count(s); i++) {
		const struct stats_row *r = stats_get(s, i);

		if (r->style == style && r->label_len == strlen(label) &&
		    !memcmp(r->label, label, r->label_len))
			return r;
	}
	fail_msg("no row '%s'", label);
	return NULL;
}

static void add(struct stats *s, const char *name, uint64_t ns)
{
	const struct consumer c = stats_consumer(s);
	const struct span sp = {.id = 1,
				.kind = SPAN_START_END,
				.name = name,
				.name_len = (uint16_t)strlen(name),
				.start_ns = 5,
				.end_ns = 5 + ns,
				.has_end = true};

	assert_ok(c.span(c.ctx, &sp));
}

static void finish(struct stats *s)
{
	const struct consumer c = stats_consumer(s);
	const struct trace_meta meta = {0};

	assert_ok(c.end(c.ctx, &meta));
}

#define NEAR(got, want) assert_true(fabs((got) - (want)) < 0.05)

/* Two values that nsys 2024 shows with StdDev 233,376,198.5: that of a sample. */
static void standard_deviation_as_nsys(void **state)
{
	const struct stats_config cfg = {0};
	const struct stats_row *r;
	struct stats *s;

	(void)state;
	assert_ok(stats_new(&cfg, &s));
	add(s, "sem_wait", 2971823);
	add(s, "sem_wait", 333015608);
	finish(s);
	r = find(s, "sem_wait", STYLE_START_END);
	NEAR(r->avg_ns, 167993715.5);
	NEAR(r->med_ns, 167993715.5);
	NEAR(r->stddev_ns, 233376198.5);
	stats_free(s);
}

static void all_columns(void **state)
{
	const struct stats_config cfg = {0};
	const struct stats_row *r;
	struct stats *s;

	(void)state;
	assert_ok(stats_new(&cfg, &s));
	for (uint64_t i = 100; i > 0; i--)
		add(s, "a", i);
	add(s, "b", 4950);
	finish(s);
	assert_int_equal(stats_count(s), 2);
	r = stats_get(s, 0); /* largest total first */
	assert_int_equal(r->label_len, 1);
	assert_int_equal(r->label[0], 'a');
	assert_int_equal(r->instances, 100);
	assert_int_equal(r->total_ns, 5050);
	assert_int_equal(r->self_ns, 5050);
	assert_int_equal(r->min_ns, 1);
	assert_int_equal(r->max_ns, 100);
	assert_int_equal(r->p95_ns, 95);
	assert_int_equal(r->p99_ns, 99);
	NEAR(r->percent, 50.5);
	NEAR(r->avg_ns, 50.5);
	NEAR(r->med_ns, 50.5);
	NEAR(r->stddev_ns, 29.0115);
	r = stats_get(s, 1);
	NEAR(r->percent, 49.5);
	NEAR(r->stddev_ns, 0);
	NEAR(r->med_ns, 4950);
	assert_int_equal(r->p99_ns, 4950);
	stats_free(s);
}

#define HEAD "1000 - clock real=1700000000000000000\n"

/* A(B(C)) and A(A(A)): totals include, self times do not and add up to what passed. */
static void self_time(void **state)
{
	const struct stats_config cfg = {0};
	struct stats *s = of_script(&cfg, HEAD "2000 7/7 msg stamp=1 \"A\"\n"
					       "2000 7/7 msg stamp=2 \"B\"\n"
					       "2000 7/7 msg stamp=3 \"C\"\n"
					       "3000 7/7 push stamp=1\n"
					       "3100 7/7 push stamp=2\n"
					       "3150 7/7 push stamp=3\n"
					       "3250 7/7 mark stamp=3\n"
					       "3350 7/7 pop\n"
					       "3600 7/7 pop\n"
					       "3610 7/7 push stamp=2\n"
					       "3620 7/7 pop\n"
					       "4000 7/7 pop\n");
	const struct stats_row *a = find(s, "A", STYLE_PUSH_POP);
	const struct stats_row *b = find(s, "B", STYLE_PUSH_POP);
	const struct stats_row *c = find(s, "C", STYLE_PUSH_POP);

	(void)state;
	assert_int_equal(a->total_ns, 1000);
	assert_int_equal(a->self_ns, 1000 - 500 - 10);
	assert_int_equal(b->total_ns, 510);
	assert_int_equal(b->self_ns, 510 - 200);
	assert_int_equal(c->self_ns, 200);
	assert_int_equal(a->self_ns + b->self_ns + c->self_ns, 1000);
	assert_int_equal(find(s, "C", STYLE_MARKER)->instances, 1);
	assert_false(stats_self_incomplete(s));
	stats_free(s);
}

static void self_time_of_recursion(void **state)
{
	const struct stats_config cfg = {0};
	struct stats *s = of_script(&cfg, HEAD "2000 7/7 msg stamp=1 \"A\"\n"
					       "3000 7/7 push stamp=1\n"
					       "3100 7/7 push stamp=1\n"
					       "3200 7/7 push stamp=1\n"
					       "3300 7/7 pop\n"
					       "3400 7/7 pop\n"
					       "3500 7/7 pop\n");
	const struct stats_row *a = find(s, "A", STYLE_PUSH_POP);

	(void)state;
	assert_int_equal(a->instances, 3);
	assert_int_equal(a->total_ns, 500 + 300 + 100);
	assert_int_equal(a->self_ns, 500);
	stats_free(s);
}

/* A child that is not shown was still not its parent's own time. */
static void self_time_under_a_filter(void **state)
{
	static const char *const match[] = {"A"};
	const struct stats_config cfg = {0};
	const struct filter_config filter = {.match = match, .n_match = 1};
	struct stats *s = of_filtered(&cfg, filter,
				      HEAD "2000 7/7 msg stamp=1 \"A\"\n"
					   "2000 7/7 msg stamp=2 \"B\"\n"
					   "3000 7/7 push stamp=1\n"
					   "3100 7/7 push stamp=2\n"
					   "3400 7/7 pop\n"
					   "3500 7/7 pop\n");

	(void)state;
	assert_int_equal(stats_count(s), 1);
	assert_int_equal(stats_get(s, 0)->self_ns, 200);
	NEAR(stats_get(s, 0)->percent, 100);
	stats_free(s);
}

/* Of another thread's ranges and of start/end ranges nothing is taken away. */
static void self_time_keeps_apart(void **state)
{
	const struct stats_config cfg = {0};
	struct stats *s = of_script(&cfg, HEAD "2000 7/7 msg stamp=1 \"A\"\n"
					       "2000 7/7 msg stamp=2 \"B\"\n"
					       "3000 7/7 push stamp=1\n"
					       "3100 7/8 push stamp=2\n"
					       "3150 7/7 start stamp=2 id=1\n"
					       "3200 7/7 stop id=1\n"
					       "3300 7/8 pop\n"
					       "3500 7/7 pop\n");

	(void)state;
	assert_int_equal(find(s, "A", STYLE_PUSH_POP)->self_ns, 500);
	assert_int_equal(find(s, "B", STYLE_PUSH_POP)->self_ns, 200);
	assert_int_equal(find(s, "B", STYLE_START_END)->self_ns, 50);
	stats_free(s);
}

/* One name in all styles is a row for each; ranges without an instance are there. */
static void styles_and_statuses(void **state)
{
	const struct stats_config cfg = {0};
	struct stats *s = of_script(&cfg, HEAD "2000 7/7 msg stamp=1 \"x\"\n"
					       "3000 7/7 mark stamp=1\n"
					       "3000 7/7 mark_ex \"x\" stream=0\n"
					       "3100 7/7 push stamp=1\n"
					       "3200 7/7 pop\n"
					       "3300 7/7 start stamp=1 id=1\n"
					       "3400 7/7 start stamp=1 id=1\n"
					       "3500 7/7 push stamp=1\n"
					       "3600 7/7 exit last\n");

	(void)state;
	assert_int_equal(stats_count(s), 3);
	assert_int_equal(find(s, "x", STYLE_MARKER)->instances, 2);
	assert_int_equal(find(s, "x", STYLE_PUSH_POP)->instances, 1);
	assert_int_equal(find(s, "x", STYLE_PUSH_POP)->unfinished, 1);
	assert_int_equal(find(s, "x", STYLE_START_END)->instances, 0);
	assert_int_equal(find(s, "x", STYLE_START_END)->unfinished, 2);
	assert_int_equal(find(s, "x", STYLE_START_END)->min_ns, 0);
	NEAR(find(s, "x", STYLE_START_END)->med_ns, 0);
	stats_free(s);
}

static void uncertain(void **state)
{
	const struct stats_config cfg = {0};
	struct stats *s = of_script(&cfg, HEAD "2000 7/7 msg stamp=1 \"x\"\n"
					       "3000 7/7 push stamp=1\n"
					       "3100 7/7 lost pop\n"
					       "3200 7/7 lost push stamp=1\n"
					       "3300 7/7 pop\n"
					       "3400 7/7 mark stamp=1\n"
					       "3500 - counts\n");
	const struct stats_row *x = find(s, "x", STYLE_PUSH_POP);

	(void)state;
	assert_int_equal(x->instances, 0);
	assert_int_equal(x->uncertain, 1);
	assert_int_equal(x->total_ns, 0);
	stats_free(s);
}

#define GROUPS                                                                                     \
	HEAD "1500 7/7 fact name \"python3\"\n"                                                    \
	     "1500 7/8 fact thread \"worker\"\n"                                                   \
	     "2000 7/7 msg stamp=1 \"a\"\n"                                                        \
	     "2000 7/7 msg stamp=2 \"b\"\n"                                                        \
	     "2000 7/7 category_name \"io\" number=3\n"                                            \
	     "2000 7/7 category stamp=2 number=3\n"                                                \
	     "3000 7/7 push stamp=1\n"                                                             \
	     "3100 7/7 pop\n"                                                                      \
	     "3200 7/8 push stamp=2\n"                                                             \
	     "3400 7/8 pop\n"                                                                      \
	     "3500 7/8 mark_ex \"m\" stream=0\n"

static void by_thread(void **state)
{
	const struct stats_config cfg = {.by = STATS_BY_THREAD};
	struct stats *s = of_script(&cfg, GROUPS);

	(void)state;
	assert_int_equal(stats_count(s), 3);
	assert_int_equal(find(s, "7/7", STYLE_PUSH_POP)->total_ns, 100);
	assert_int_equal(find(s, "7/8 worker", STYLE_PUSH_POP)->total_ns, 200);
	assert_int_equal(find(s, "7/8 worker", STYLE_MARKER)->instances, 1);
	stats_free(s);
}

static void by_process(void **state)
{
	const struct stats_config cfg = {.by = STATS_BY_PROCESS};
	struct stats *s = of_script(&cfg, GROUPS);

	(void)state;
	assert_int_equal(stats_count(s), 2);
	assert_int_equal(find(s, "7 python3", STYLE_PUSH_POP)->total_ns, 300);
	stats_free(s);
}

/* What a program before had called is not its successor's. */
static void by_process_and_program(void **state)
{
	const struct stats_config cfg = {.by = STATS_BY_PROCESS};
	struct stats *s = of_script(&cfg, HEAD "2000 7/7 push stamp=1\n"
					       "2100 7/7 pop\n"
					       "2150 7/7 fact name \"sh\"\n"
					       "2200 7/7 push stamp=1\n"
					       "2210 7/7 pop\n"
					       "2300 7/7 exec \"tool\"\n"
					       "2400 7/7 push stamp=1\n"
					       "2401 7/7 pop\n");

	(void)state;
	assert_int_equal(stats_count(s), 2);
	assert_int_equal(find(s, "7 sh", STYLE_PUSH_POP)->total_ns, 110);
	assert_int_equal(find(s, "7 tool", STYLE_PUSH_POP)->total_ns, 1);
	stats_free(s);
}

static void by_category(void **state)
{
	const struct stats_config cfg = {.by = STATS_BY_CATEGORY};
	struct stats *s = of_script(&cfg, GROUPS);

	(void)state;
	assert_int_equal(stats_count(s), 3);
	assert_int_equal(find(s, "0", STYLE_PUSH_POP)->total_ns, 100);
	assert_int_equal(find(s, "3 io", STYLE_PUSH_POP)->total_ns, 200);
	assert_int_equal(find(s, "N/A", STYLE_MARKER)->instances, 1);
	stats_free(s);
}

static void by_category_of_each_program(void **state)
{
	const struct stats_config cfg = {.by = STATS_BY_CATEGORY};
	struct stats *s = of_script(&cfg, HEAD "1500 7/7 fact name \"tool\"\n"
					       "2000 7/7 category_name \"io\" number=3\n"
					       "2000 7/7 category stamp=2 number=3\n"
					       "3000 7/7 mark stamp=2\n"
					       "3010 7/7 fact nspid \"7\"\n"
					       "3020 7/7 mark stamp=2\n"
					       "3100 7/7 exec \"tool\"\n"
					       "3110 7/7 category stamp=2 number=3\n"
					       "3120 7/7 mark stamp=2\n"
					       "3130 7/7 exit last\n"
					       "4000 7/7 category_name \"net\" number=3\n"
					       "4000 7/7 category stamp=2 number=3\n"
					       "4010 7/7 mark stamp=2\n");

	(void)state;
	assert_int_equal(stats_count(s), 3);
	assert_int_equal(find(s, "3 io", STYLE_MARKER)->instances, 2);
	assert_int_equal(find(s, "3", STYLE_MARKER)->instances, 1);
	assert_int_equal(find(s, "3 net", STYLE_MARKER)->instances, 1);
	stats_free(s);
}

static const char *order(struct stats *s, enum stats_key key)
{
	static char text[8];

	stats_sort(s, key);
	for (size_t i = 0; i < stats_count(s) && i < sizeof(text) - 1; i++)
		text[i] = stats_get(s, i)->label[0];
	text[stats_count(s)] = '\0';
	return text;
}

static void sorting(void **state)
{
	const struct stats_config cfg = {0};
	struct stats *s;

	(void)state;
	assert_ok(stats_new(&cfg, &s));
	add(s, "a", 10);
	for (int i = 0; i < 3; i++)
		add(s, "b", 8);
	add(s, "c", 1);
	add(s, "c", 15);
	add(s, "d", 1);
	finish(s);
	assert_string_equal(order(s, STATS_TOTAL), "bcad");
	assert_string_equal(order(s, STATS_INSTANCES), "bcad"); /* equal: by name */
	assert_string_equal(order(s, STATS_AVG), "abcd");
	assert_string_equal(order(s, STATS_MED), "abcd");
	assert_string_equal(order(s, STATS_MIN), "abcd");
	assert_string_equal(order(s, STATS_MAX), "cabd");
	assert_string_equal(order(s, STATS_STDDEV), "cabd");
	assert_string_equal(order(s, STATS_P95), "cabd");
	assert_string_equal(order(s, STATS_P99), "cabd");
	assert_string_equal(order(s, STATS_SELF), "bcad");
	assert_string_equal(order(s, STATS_NAME), "abcd");
	stats_free(s);
}

/* Beyond the limit the row with most values turns to buckets, the small one stays exact. */
static void largest_turns_coarse(void **state)
{
	const struct stats_config cfg = {.max_values = 1000};
	const struct stats_row *r;
	struct stats *s;

	(void)state;
	assert_ok(stats_new(&cfg, &s));
	for (uint64_t i = 0; i < 200; i++)
		add(s, "small", 1000003 + i);
	for (uint64_t i = 0; i < 800; i++)
		add(s, "large", 1000000 + 1000 * i);
	assert_int_equal(stats_coarse_rows(s), 0);
	for (uint64_t i = 800; i < 10000; i++)
		add(s, "large", 1000000 + 1000 * i);
	finish(s);
	assert_int_equal(stats_coarse_rows(s), 1);
	r = find(s, "small", STYLE_START_END);
	assert_non_null(r->values.exact);
	assert_int_equal(r->p95_ns, 1000003 + 189);
	NEAR(r->med_ns, 1000003 + 99.5);
	r = find(s, "large", STYLE_START_END);
	assert_null(r->values.exact);
	assert_int_equal(r->instances, 10000);
	assert_int_equal(r->min_ns, 1000000); /* these stay exact */
	assert_int_equal(r->max_ns, 10999000);
	NEAR(r->avg_ns, 5999500);
	assert_true(fabs(r->med_ns - 5999500) < 59995);
	assert_true(fabs((double)r->p95_ns - 10499000) < 104990);
	assert_true(fabs((double)r->p99_ns - 10899000) < 108990);
	stats_free(s);
}

/* Samples are values of their row, the same each time, and fewer when there are too many. */
static void samples(void **state)
{
	const struct stats_config cfg = {.max_values = 1000, .max_sample = 300};
	const struct stats_row *r, *again;
	struct stats *s, *t;

	(void)state;
	assert_ok(stats_new(&cfg, &s));
	assert_ok(stats_new(&cfg, &t));
	for (uint64_t i = 0; i < 500; i++) {
		add(s, "a", i);
		add(t, "b", 7);
		add(t, "a", i);
	}
	add(s, "few", 77);
	finish(s);
	finish(t);
	r = find(s, "few", STYLE_START_END);
	assert_int_equal(r->sample.n, 1);
	assert_int_equal(r->sample.v[0], 77);
	r = find(s, "a", STYLE_START_END);
	assert_int_equal(r->sample.n, 300);
	for (size_t i = 0; i < r->sample.n; i++)
		assert_true(r->sample.v[i] < 500);
	again = find(t, "a", STYLE_START_END);
	assert_int_equal(again->sample.n, 300);
	assert_memory_equal(r->sample.v, again->sample.v, 300 * sizeof(uint64_t));
	stats_free(s);
	stats_free(t);

	/* 5 rows: 150 each are within 1000, 300 are not. */
	assert_ok(stats_new(&cfg, &s));
	for (uint64_t i = 0; i < 5 * 400; i++)
		add(s, (const char *const[]){"a", "b", "c", "d", "e"}[i % 5], i);
	add(s, "few", 5);
	finish(s);
	assert_int_equal(find(s, "a", STYLE_START_END)->sample.n, 150);
	assert_int_equal(find(s, "e", STYLE_START_END)->sample.n, 150);
	assert_int_equal(find(s, "e", STYLE_START_END)->sample.seen, 400);
	assert_int_equal(find(s, "few", STYLE_START_END)->sample.n, 1);
	assert_int_equal(find(s, "e", STYLE_START_END)->instances, 400);
	stats_free(s);
}

static size_t value_bytes(const struct stats *s)
{
	size_t n = 0;

	for (size_t i = 0; i < stats_count(s); i++) {
		const struct values *v = &stats_get(s, i)->values;

		n += v->cap * sizeof(*v->exact);
		for (size_t p = 0; v->pages && p < VALUES_PAGES; p++)
			n += v->pages[p] ? VALUES_SUB * sizeof(uint64_t) : 0;
	}
	return n;
}

/* S23: names with arguments in them, and one that is called all the time. */
static void many_names_and_values(void **state)
{
	const struct stats_config cfg = {0};
	const struct stats_row *r;
	char name[32];
	struct stats *s;

	(void)state;
	assert_ok(stats_new(&cfg, &s));
	/* One row less than there may be. */
	for (int i = 0; i < STATS_ROWS_MAX - 1; i++) {
		snprintf(name, sizeof(name), "request %d", i);
		add(s, name, (uint64_t)i);
		add(s, name, (uint64_t)i + 2);
	}
	assert_int_equal(stats_count(s), STATS_ROWS_MAX - 1);
	for (int i = 0; i < 10000000; i++)
		add(s, "hot", 5000 + (uint64_t)(i % 1000));
	assert_true(value_bytes(s) < 48u << 20);
	finish(s);
	r = stats_get(s, 0);
	assert_int_equal(r->instances, 10000000);
	assert_true(fabs(r->med_ns - 5499.5) < 55);
	r = find(s, "request 99998", STYLE_START_END);
	assert_int_equal(r->total_ns, 199998);
	NEAR(r->med_ns, 99999);
	assert_int_equal(stats_coarse_rows(s), 1);
	assert_int_equal(stats_unnamed_spans(s), 0);
	stats_free(s);
}

static void too_many_names(void **state)
{
	const struct stats_config cfg = {.max_rows = 10};
	char name[32];
	struct stats *s;

	(void)state;
	assert_ok(stats_new(&cfg, &s));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%d", i % 50);
		add(s, name, 1);
	}
	finish(s);
	assert_int_equal(stats_count(s), 11);
	assert_int_equal(stats_unnamed_spans(s), 80);
	assert_int_equal(find(s, "9", STYLE_START_END)->instances, 2);
	assert_int_equal(find(s, "(all others)", STYLE_START_END)->instances, 80);
	stats_free(s);
}

static void empty(void **state)
{
	const struct stats_config cfg = {0};
	struct stats *s = of_script(&cfg, HEAD);

	(void)state;
	assert_int_equal(stats_count(s), 0);
	stats_sort(s, STATS_MED);
	stats_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(standard_deviation_as_nsys),
		cmocka_unit_test(all_columns),
		cmocka_unit_test(self_time),
		cmocka_unit_test(self_time_of_recursion),
		cmocka_unit_test(self_time_under_a_filter),
		cmocka_unit_test(self_time_keeps_apart),
		cmocka_unit_test(styles_and_statuses),
		cmocka_unit_test(uncertain),
		cmocka_unit_test(by_thread),
		cmocka_unit_test(by_process),
		cmocka_unit_test(by_process_and_program),
		cmocka_unit_test(by_category),
		cmocka_unit_test(by_category_of_each_program),
		cmocka_unit_test(sorting),
		cmocka_unit_test(largest_turns_coarse),
		cmocka_unit_test(samples),
		cmocka_unit_test(many_names_and_values),
		cmocka_unit_test(too_many_names),
		cmocka_unit_test(empty),
	};

	return RUN(tests);
}
