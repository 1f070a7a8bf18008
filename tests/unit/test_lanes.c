// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <stdlib.h>

#include "sink/lanes.h"

static void first_free_lane_is_found(void **state)
{
	struct lanes l = {0};

	(void)state;
	assert_int_equal(lanes_find(&l, 5), 0);
	assert_int_equal(lanes_take(&l, 0, 10), 0);
	assert_int_equal(lanes_find(&l, 9), 1);
	assert_int_equal(lanes_find(&l, 10), 0); /* ends where the next begins */
	assert_int_equal(lanes_take(&l, 1, 7), 0);
	assert_int_equal(lanes_find(&l, 8), 1);
	assert_int_equal(lanes_find(&l, 20), 0);
	assert_int_equal(lanes_end(&l, 1), 7);
	lanes_free(&l);
}

static void open_lanes_are_never_free(void **state)
{
	struct lanes l = {0};

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		assert_int_equal(lanes_find(&l, i), i);
		assert_int_equal(lanes_take(&l, i, LANE_OPEN), 0);
	}
	/* The latest time there is, that of an open lane: never one beyond the last. */
	assert_true(lanes_find(&l, UINT64_MAX) <= l.n);
	lanes_free(&l);
}

static size_t first_free(const uint64_t *ends, size_t n, uint64_t start_ns)
{
	size_t i = 0;

	while (i < n && ends[i] > start_ns)
		i++;
	return i;
}

static void as_if_all_were_looked_at(void **state)
{
	static uint64_t ends[5000];
	struct lanes l = {0};

	(void)state;
	srand(1);
	for (uint64_t t = 0; t < 5000; t++) {
		size_t i = lanes_find(&l, t);
		uint64_t end = t + (uint64_t)rand() % (t % 1000 + 1);

		assert_int_equal(i, first_free(ends, l.n, t));
		ends[i] = rand() % 50 ? end : LANE_OPEN;
		assert_int_equal(lanes_take(&l, i, ends[i]), 0);
	}
	assert_true(l.n > 100);
	lanes_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_free_lane_is_found),
		cmocka_unit_test(open_lanes_are_never_free),
		cmocka_unit_test(as_if_all_were_looked_at),
	};

	return RUN(tests);
}
