// SPDX-License-Identifier: GPL-2.0-only
/* The sample: all while there are few, then fair, and the same each time. */
#include "harness/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/reservoir.h"

static void add(struct reservoir *r, uint64_t from, uint64_t to, size_t max)
{
	for (uint64_t x = from; x < to; x++)
		assert_ok(reservoir_add(r, x, max));
}

static void few_are_all_kept(void **state)
{
	struct reservoir r = {0};

	(void)state;
	add(&r, 0, 100, 100);
	assert_int_equal(r.n, 100);
	assert_int_equal(r.seen, 100);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(r.v[i], i);
	add(&r, 100, 1000, 100);
	assert_int_equal(r.n, 100);
	assert_int_equal(r.seen, 1000);
	reservoir_free(&r);
	assert_null(r.v);
	add(&r, 7, 8, 1);
	assert_int_equal(r.v[0], 7);
	reservoir_free(&r);
}

/* What was kept are different ones of those that were added. */
static void no_value_twice(void **state)
{
	struct reservoir r = {.seed = 1};
	bool seen[5000] = {false};

	(void)state;
	add(&r, 0, 3000, 500);
	reservoir_shrink(&r, 200);
	add(&r, 3000, 5000, 200);
	assert_int_equal(r.n, 200);
	for (size_t i = 0; i < r.n; i++) {
		assert_true(r.v[i] < 5000);
		assert_false(seen[r.v[i]]);
		seen[r.v[i]] = true;
	}
	reservoir_free(&r);
}

static void same_seed_same_sample(void **state)
{
	struct reservoir a = {.seed = 42}, b = {.seed = 42}, c = {.seed = 43};

	(void)state;
	add(&a, 0, 100000, 1000);
	add(&b, 0, 100000, 1000);
	add(&c, 0, 100000, 1000);
	assert_memory_equal(a.v, b.v, 1000 * sizeof(*a.v));
	assert_true(memcmp(a.v, c.v, 1000 * sizeof(*a.v)) != 0);
	reservoir_free(&a);
	reservoir_free(&b);
	reservoir_free(&c);
}

/*
 * Each of 50 has the chance 10 in 50, whenever it came: over 20,000 samples it is there 4000 times,
 * with a standard deviation of 57. how: 0 at once; 1 with less room from the middle on; 2 in the
 * end.
 */
static void fair(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		unsigned int count[50] = {0};

		for (uint64_t seed = 0; seed < 20000; seed++) {
			struct reservoir r = {.seed = seed};

			add(&r, 0, 30, how ? 20 : 10);
			if (how == 1)
				reservoir_shrink(&r, 10);
			add(&r, 30, 50, how == 2 ? 20 : 10);
			reservoir_shrink(&r, 10);
			assert_int_equal(r.n, 10);
			for (size_t i = 0; i < r.n; i++)
				count[r.v[i]]++;
			reservoir_free(&r);
		}
		for (size_t i = 0; i < 50; i++)
			assert_in_range(count[i], 4000 - 5 * 57, 4000 + 5 * 57);
	}
}

/* Less room takes effect with the next value as well. */
static void room_that_shrinks(void **state)
{
	struct reservoir r = {0};

	(void)state;
	add(&r, 0, 64, 64);
	add(&r, 64, 65, 8);
	assert_int_equal(r.n, 8);
	assert_int_equal(r.seen, 65);
	reservoir_shrink(&r, 100);
	assert_int_equal(r.n, 8);
	add(&r, 65, 66, 1);
	assert_int_equal(r.n, 1);
	reservoir_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_are_all_kept),	 cmocka_unit_test(no_value_twice),
		cmocka_unit_test(same_seed_same_sample), cmocka_unit_test(fair),
		cmocka_unit_test(room_that_shrinks),
	};

	return RUN(tests);
}
