// SPDX-License-Identifier: GPL-2.0-only
/* Two traces by name: who is there, how much changed, what is called likely, and in what order. */
#include "harness/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/compare.h"

struct both {
	struct stats *a, *b;
	struct compare *c;
};

static void add(struct stats *s, enum span_kind kind, const char *name, uint64_t ns)
{
	const struct consumer c = stats_consumer(s);
	const struct span sp = {.id = 1,
				.kind = (uint8_t)kind,
				.name = name,
				.name_len = (uint16_t)strlen(name),
				.start_ns = 5,
				.end_ns = 5 + ns,
				.has_end = true};

	assert_ok(c.span(c.ctx, &sp));
}

/* n ranges of from, from + step, ... ns. */
static void add_many(struct stats *s, const char *name, size_t n, uint64_t from, uint64_t step)
{
	for (size_t i = 0; i < n; i++)
		add(s, SPAN_PUSH_POP, name, from + i * step);
}

static void begin_with(struct both *t, size_t max_rows)
{
	const struct stats_config cfg = {.max_sample = COMPARE_SAMPLE, .max_rows = max_rows};

	assert_ok(stats_new(&cfg, &t->a));
	assert_ok(stats_new(&cfg, &t->b));
}

static void begin(struct both *t)
{
	begin_with(t, 0);
}

static void end(struct both *t, uint64_t min_instances)
{
	const struct trace_meta meta = {0};
	struct consumer a = stats_consumer(t->a), b = stats_consumer(t->b);

	assert_ok(a.end(a.ctx, &meta));
	assert_ok(b.end(b.ctx, &meta));
	assert_ok(compare_new(t->a, t->b, min_instances, &t->c));
}

static void release(struct both *t)
{
	compare_free(t->c);
	stats_free(t->a);
	stats_free(t->b);
}

static const struct compare_row *find(const struct both *t, const char *name,
				      enum stats_style style)
{
	for (size_t i = 0; i < compare_count(t->c); i++) {
		const struct compare_row *r = compare_get(t->c, i);
		const struct stats_row *s = compare_either(r);

		if (s->style == style && s->label_len == strlen(name) &&
		    !memcmp(s->label, name, s->label_len))
			return r;
	}
	fail_msg("no row '%s'", name);
	return NULL;
}

#define NEAR(got, want) assert_true(fabs((got) - (want)) < 1e-6)

static void who_is_there(void **state)
{
	const struct compare_row *r;
	struct both t;

	(void)state;
	begin(&t);
	add_many(t.a, "both", 20, 100, 1);
	add_many(t.b, "both", 20, 100, 1);
	add_many(t.a, "a", 20, 1, 1);
	add_many(t.b, "b", 20, 1, 1);
	add(t.a, SPAN_START_END, "both", 5); /* another style is another row */
	end(&t, 10);
	assert_int_equal(compare_count(t.c), 4);
	assert_int_equal(compare_tested(t.c), 1);
	r = find(&t, "a", STYLE_PUSH_POP);
	assert_int_equal(r->verdict, COMPARE_ONLY_A);
	assert_null(r->b);
	assert_true(isnan(r->p) && isnan(r->med_change) && isnan(r->avg_change));
	r = find(&t, "b", STYLE_PUSH_POP);
	assert_int_equal(r->verdict, COMPARE_ONLY_B);
	assert_null(r->a);
	assert_int_equal(find(&t, "both", STYLE_START_END)->verdict, COMPARE_ONLY_A);
	r = find(&t, "both", STYLE_PUSH_POP);
	assert_int_equal(r->verdict, COMPARE_UNLIKELY);
	NEAR(r->p, 1);
	NEAR(r->med_change, 0);
	NEAR(r->avg_change, 0);
	release(&t);
}

/* 100..119 against 125..144: median and mean of 109.5 go up by 25, and all are larger. */
static void slower_and_faster(void **state)
{
	const struct compare_row *r;
	struct both t;

	(void)state;
	begin(&t);
	add_many(t.a, "slow", 20, 100, 1);
	add_many(t.b, "slow", 20, 125, 1);
	add_many(t.a, "fast", 20, 125, 1);
	add_many(t.b, "fast", 20, 100, 1);
	end(&t, 10);
	r = find(&t, "slow", STYLE_PUSH_POP);
	assert_int_equal(r->verdict, COMPARE_SLOWER);
	NEAR(r->med_change, 100 * 25 / 109.5);
	NEAR(r->avg_change, 100 * 25 / 109.5);
	assert_true(r->p < 1e-6);
	assert_true(compare_exceeds(r, 22.8, false) && compare_exceeds(r, 22.8, true));
	assert_false(compare_exceeds(r, 22.9, false) || compare_exceeds(r, 22.9, true));
	r = find(&t, "fast", STYLE_PUSH_POP);
	assert_int_equal(r->verdict, COMPARE_FASTER);
	NEAR(r->med_change, -100 * 25 / 134.5);
	assert_false(compare_exceeds(r, 0, false) || compare_exceeds(r, 0, true));
	release(&t);
}

/* One outlier moves the mean; a tail moves it too, and the ranks: the median stays in both. */
static void mean_or_median(void **state)
{
	const struct compare_row *r;
	struct both t;

	(void)state;
	begin(&t);
	add_many(t.a, "outlier", 50, 1000, 1);
	add_many(t.b, "outlier", 49, 1000, 1);
	add(t.b, SPAN_PUSH_POP, "outlier", 1000000);
	add_many(t.a, "tail", 100, 1000, 0);
	add_many(t.b, "tail", 60, 1000, 0);
	add_many(t.b, "tail", 40, 2000, 0);
	end(&t, 10);
	r = find(&t, "outlier", STYLE_PUSH_POP);
	assert_true(r->avg_change > 1000);
	assert_int_equal(r->verdict, COMPARE_UNLIKELY);
	assert_false(compare_exceeds(r, 10, true));
	r = find(&t, "tail", STYLE_PUSH_POP);
	assert_int_equal(r->verdict, COMPARE_SLOWER);
	assert_true(compare_exceeds(r, 10, true));
	assert_false(compare_exceeds(r, 10, false));
	release(&t);
}

static void too_few(void **state)
{
	const struct compare_row *r;
	struct both t;

	(void)state;
	begin(&t);
	add_many(t.a, "few", 9, 100, 1);
	add_many(t.b, "few", 100, 500, 1);
	add_many(t.a, "enough", 10, 100, 1);
	add_many(t.b, "enough", 10, 500, 1);
	end(&t, 10);
	r = find(&t, "few", STYLE_PUSH_POP);
	assert_int_equal(r->verdict, COMPARE_UNTESTED);
	assert_true(isnan(r->p));
	assert_true(r->med_change > 400); /* it is shown */
	assert_false(compare_exceeds(r, 10, false));
	assert_int_equal(find(&t, "enough", STYLE_PUSH_POP)->verdict, COMPARE_SLOWER);
	release(&t);

	/* Of three and three no arrangement is rare enough. */
	begin(&t);
	add_many(t.a, "x", 3, 100, 1);
	add_many(t.b, "x", 3, 500, 1);
	end(&t, 1);
	r = find(&t, "x", STYLE_PUSH_POP);
	assert_int_equal(r->verdict, COMPARE_UNLIKELY);
	NEAR(r->p, 0.1);
	release(&t);
}

static void marks_and_zeros(void **state)
{
	const struct compare_row *r;
	struct both t;

	(void)state;
	begin(&t);
	for (int i = 0; i < 20; i++) {
		add(t.a, SPAN_MARKER, "m", 0);
		add(t.b, SPAN_MARKER, "m", 0);
	}
	add_many(t.a, "zero", 20, 0, 0);
	add_many(t.b, "zero", 20, 5, 0);
	end(&t, 10);
	r = find(&t, "m", STYLE_MARKER);
	assert_int_equal(r->verdict, COMPARE_UNTESTED);
	NEAR(r->med_change, 0);
	r = find(&t, "zero", STYLE_PUSH_POP);
	assert_int_equal(r->verdict, COMPARE_SLOWER);
	assert_true(isinf(r->med_change));
	assert_true(compare_exceeds(r, 1e9, false));
	release(&t);
}

/* A range that only began is there, but is nothing to compare. */
static void without_instances(void **state)
{
	const struct span open = {
		.id = 2, .kind = SPAN_PUSH_POP, .name = "x", .name_len = 1, .status = SPAN_OPEN};
	const struct compare_row *r;
	struct consumer b;
	struct both t;

	(void)state;
	begin(&t);
	add_many(t.a, "x", 20, 100, 1);
	b = stats_consumer(t.b);
	assert_ok(b.span(b.ctx, &open));
	end(&t, 10);
	r = find(&t, "x", STYLE_PUSH_POP);
	assert_int_equal(r->verdict, COMPARE_UNTESTED);
	assert_non_null(r->b);
	assert_true(isnan(r->med_change));
	release(&t);

	begin(&t);
	end(&t, 10);
	assert_int_equal(compare_count(t.c), 0);
	compare_sort(t.c, COMPARE_BY_NAME);
	release(&t);
}

/* What had no row of its own is not one thing. */
static void all_others(void **state)
{
	struct both t;

	(void)state;
	begin_with(&t, 1);
	add_many(t.a, "x", 20, 100, 1);
	add_many(t.b, "x", 20, 500, 1);
	add_many(t.a, "y", 20, 100, 1);
	add_many(t.b, "z", 20, 500, 1);
	end(&t, 10);
	assert_int_equal(compare_tested(t.c), 1);
	assert_int_equal(find(&t, "x", STYLE_PUSH_POP)->verdict, COMPARE_SLOWER);
	assert_int_equal(find(&t, STATS_OTHERS, STYLE_PUSH_POP)->verdict, COMPARE_UNTESTED);
	release(&t);

	/* A name that only looks like it is one. */
	begin(&t);
	add_many(t.a, STATS_OTHERS, 20, 100, 1);
	add_many(t.b, STATS_OTHERS, 20, 500, 1);
	end(&t, 10);
	assert_int_equal(find(&t, STATS_OTHERS, STYLE_PUSH_POP)->verdict, COMPARE_SLOWER);
	release(&t);
}

/* p of .0079 alone (5 and 5, all apart) is no longer likely as the best of ten. */
static void corrected_for_their_number(void **state)
{
	char name[2] = "0";
	struct both t;

	(void)state;
	begin(&t);
	add_many(t.a, "x", 5, 100, 1);
	add_many(t.b, "x", 5, 500, 1);
	end(&t, 5);
	NEAR(find(&t, "x", STYLE_PUSH_POP)->p, 2 / 252.0);
	assert_int_equal(find(&t, "x", STYLE_PUSH_POP)->verdict, COMPARE_SLOWER);
	release(&t);

	begin(&t);
	add_many(t.a, "x", 5, 100, 1);
	add_many(t.b, "x", 5, 500, 1);
	for (*name = '1'; *name <= '9'; (*name)++) {
		add_many(t.a, name, 5, 100, 1);
		add_many(t.b, name, 5, 100, 1);
	}
	end(&t, 5);
	assert_int_equal(compare_tested(t.c), 10);
	NEAR(find(&t, "x", STYLE_PUSH_POP)->p, 10 * 2 / 252.0);
	assert_int_equal(find(&t, "x", STYLE_PUSH_POP)->verdict, COMPARE_UNLIKELY);
	NEAR(find(&t, "1", STYLE_PUSH_POP)->p, 1);
	release(&t);

	/* But where all ten changed, all are. */
	begin(&t);
	for (*name = '0'; *name <= '9'; (*name)++) {
		add_many(t.a, name, 5, 100, 1);
		add_many(t.b, name, 5, 500, 1);
	}
	end(&t, 5);
	NEAR(find(&t, "0", STYLE_PUSH_POP)->p, 2 / 252.0);
	assert_int_equal(find(&t, "9", STYLE_PUSH_POP)->verdict, COMPARE_SLOWER);
	release(&t);
}

/* Two times the same program: seldom anything, however many names. */
static void same_again(void **state)
{
	unsigned int seed = 5, wrong = 0;

	(void)state;
	for (int round = 0; round < 100; round++) {
		char name[2] = "";
		struct both t;

		begin(&t);
		for (*name = 'a'; *name <= 'z'; (*name)++) {
			for (int i = 0; i < 15; i++) {
				add(t.a, SPAN_PUSH_POP, name, (uint64_t)rand_r(&seed) % 1000);
				add(t.b, SPAN_PUSH_POP, name, (uint64_t)rand_r(&seed) % 1000);
			}
		}
		end(&t, 10);
		wrong += compare_get(t.c, 0)->verdict != COMPARE_UNLIKELY;
		release(&t);
	}
	assert_in_range(wrong, 0, 5);
}

static const char *order(struct both *t, enum compare_key key)
{
	static char text[16];

	compare_sort(t->c, key);
	for (size_t i = 0; i < compare_count(t->c) && i < sizeof(text) - 1; i++)
		text[i] = compare_either(compare_get(t->c, i))->label[0];
	text[compare_count(t->c)] = '\0';
	return text;
}

static void sorting(void **state)
{
	struct both t;

	(void)state;
	begin(&t);
	add_many(t.a, "same", 40, 100000, 1); /* most time, no change */
	add_many(t.b, "same", 40, 100000, 1);
	add_many(t.a, "big", 20, 10000, 1); /* 20 times 1000 more */
	add_many(t.b, "big", 20, 11000, 1);
	add_many(t.a, "double", 12, 1000, 1); /* 12 times 1000 more */
	add_many(t.b, "double", 12, 2000, 1);
	add_many(t.a, "less", 30, 3000, 1); /* 30 times 1500 less */
	add_many(t.b, "less", 30, 1500, 1);
	add_many(t.a, "only", 5, 300, 1);
	add_many(t.b, "new", 3, 200, 1);
	end(&t, 10);
	assert_string_equal(order(&t, COMPARE_BY_CHANGE), "lbdons");
	assert_string_equal(order(&t, COMPARE_BY_TOTAL), "sbldon");
	assert_string_equal(order(&t, COMPARE_BY_INSTANCES), "slbdon");
	assert_string_equal(order(&t, COMPARE_BY_AVG), "dbslno");
	assert_string_equal(order(&t, COMPARE_BY_MED), "dbslno");
	assert_string_equal(order(&t, COMPARE_BY_P), "lbdsno");
	assert_string_equal(order(&t, COMPARE_BY_NAME), "bdlnos");
	release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_there),	   cmocka_unit_test(slower_and_faster),
		cmocka_unit_test(mean_or_median),  cmocka_unit_test(too_few),
		cmocka_unit_test(marks_and_zeros), cmocka_unit_test(without_instances),
		cmocka_unit_test(all_others),	   cmocka_unit_test(corrected_for_their_number),
		cmocka_unit_test(same_again),	   cmocka_unit_test(sorting),
	};

	return RUN(tests);
}
