// SPDX-License-Identifier: GPL-2.0-only
/* Ranks of many numbers: exact, and within 1 % once they are only counted. */
#include "harness/test.h"

#include <stdlib.h>

#include "core/values.h"

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void exact(void **state)
{
	static const uint64_t in[] = {50, 7, 7, UINT64_MAX, 0, 1000};
	static const uint64_t sorted[] = {0, 7, 7, 50, 1000, UINT64_MAX};
	struct values v = {0};

	(void)state;
	assert_int_equal(values_rank(&v, 0), 0);
	for (size_t i = 0; i < 6; i++)
		assert_ok(values_add(&v, in[i]));
	for (size_t i = 0; i < 6; i++)
		assert_true(values_rank(&v, i) == sorted[i]);
	/* Beyond the end: the largest; adding after a question. */
	assert_true(values_rank(&v, 6) == UINT64_MAX);
	assert_ok(values_add(&v, 8));
	assert_true(values_rank(&v, 3) == 8);
	values_free(&v);
}

static void check_near(uint64_t got, uint64_t want)
{
	uint64_t off = got > want ? got - want : want - got;

	if (off > want / 100)
		fail_msg("%llu is more than 1 %% from %llu", (unsigned long long)got,
			 (unsigned long long)want);
}

/* Over all magnitudes, and half of the values before the change, half after it. */
static void coarse_is_near(void **state)
{
	struct values v = {0}, exact_v = {0};
	uint64_t seed = 42;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t x = next_random(&seed) >> (next_random(&seed) % 64);

		if (i == 10000)
			assert_ok(values_coarsen(&v));
		assert_ok(values_add(&v, x));
		assert_ok(values_add(&exact_v, x));
	}
	assert_null(v.exact);
	assert_int_equal(v.count, 20000);
	for (uint64_t k = 0; k < 20000; k += 7)
		check_near(values_rank(&v, k), values_rank(&exact_v, k));
	check_near(values_rank(&v, 19999), values_rank(&exact_v, 19999));
	values_free(&v);
	values_free(&exact_v);
}

static void small_stay_exact(void **state)
{
	struct values v = {0};

	(void)state;
	assert_ok(values_coarsen(&v));
	assert_int_equal(values_rank(&v, 0), 0);
	for (uint64_t x = 0; x < 128; x++)
		assert_ok(values_add(&v, x));
	for (uint64_t k = 0; k < 128; k++)
		assert_int_equal(values_rank(&v, k), k);
	assert_ok(values_coarsen(&v)); /* again changes nothing */
	assert_int_equal(values_rank(&v, 77), 77);
	values_free(&v);
}

static void histogram(void **state)
{
	static const uint64_t in[] = {0, 1, 2, 3, 4, 1023, 1024, UINT64_MAX};
	struct values v = {0};
	uint64_t bins[64];

	(void)state;
	for (size_t i = 0; i < 8; i++)
		assert_ok(values_add(&v, in[i]));
	for (int round = 0; round < 2; round++) {
		values_histogram(&v, bins);
		assert_int_equal(bins[0], 2);
		assert_int_equal(bins[1], 2);
		assert_int_equal(bins[2], 1);
		assert_int_equal(bins[9], 1);
		assert_int_equal(bins[10], 1);
		assert_int_equal(bins[63], 1);
		assert_ok(values_coarsen(&v));
	}
	values_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),
		cmocka_unit_test(coarse_is_near),
		cmocka_unit_test(small_stay_exact),
		cmocka_unit_test(histogram),
	};

	return RUN(tests);
}
