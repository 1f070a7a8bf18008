// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <string.h>

#include "core/align.h"
#include "harness/spans.h"

/* Wall clocks differ as they like: only monotonic times count. */
static struct consumer begin(struct align *a, size_t capture)
{
	const struct trace_meta meta = {
		.host = "", .version = "", .first = {.mono_ns = 7, .real_ns = 1000007 + capture}};
	struct consumer c = align_consumer(a, capture);

	assert_ok(c.begin(c.ctx, &meta));
	return c;
}

/* Ends of "sync" in one process, by its monotonic clock. */
static void give(struct consumer *c, size_t capture, uint32_t pid, const uint64_t *ends, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t end = ends[i] + 1000000 + capture;
		struct span sp = span_of("sync", end - 5, end), other = span_of("sync2", end, end);

		sp.pid = other.pid = pid;
		assert_ok(c->span(c->ctx, &sp));
		assert_ok(c->span(c->ctx, &other));
		sp.status = SPAN_UNCERTAIN; /* proves nothing, so it is none */
		assert_ok(c->span(c->ctx, &sp));
	}
}

#define GIVE(capture, pid, ...)                                                                    \
	do {                                                                                       \
		const uint64_t ends_[] = {__VA_ARGS__};                                            \
		give(&c, capture, pid, ends_, sizeof(ends_) / sizeof(ends_[0]));                   \
	} while (0)

static void the_median_of_all_ends_counts(void **state)
{
	const size_t groups[] = {0, 1};
	int64_t shifts[2];
	struct align_result res = {.shifts = shifts};
	struct align *a;
	struct consumer c;

	(void)state;
	assert_ok(align_new("sync", &a));
	c = begin(a, 0);
	GIVE(0, 1, 1000, 2000, 3000);
	c = begin(a, 1);
	GIVE(1, 1, 5000, 6003, 7900); /* 4000, 4003 and, held up, 4900 later */
	assert_ok(align_solve(a, groups, 2, &res));
	assert_int_equal(shifts[0], 0);
	assert_int_equal(shifts[1], -4003);
	assert_int_equal(res.used, 3);
	assert_int_equal(res.worst_ns, 897);
	align_free(a);
}

/* Of an even number the middle between the two. */
static void two_ends_share_the_difference(void **state)
{
	const size_t groups[] = {0, 1};
	int64_t shifts[2];
	struct align_result res = {.shifts = shifts};
	struct align *a;
	struct consumer c;

	(void)state;
	assert_ok(align_new("sync", &a));
	c = begin(a, 0);
	GIVE(0, 1, 1000, 2000);
	c = begin(a, 1);
	GIVE(1, 9, 900, 1910);
	assert_ok(align_solve(a, groups, 2, &res));
	assert_int_equal(shifts[1], 95);
	assert_int_equal(res.worst_ns, 5);
	align_free(a);
}

/* Whatever delays a process after the barrier makes it later, never earlier. */
static void the_first_of_a_group_to_leave_counts(void **state)
{
	const size_t groups[] = {0, 1, 1};
	int64_t shifts[2];
	struct align_result res = {.shifts = shifts};
	struct align *a;
	struct consumer c;

	(void)state;
	assert_ok(align_new("sync", &a));
	c = begin(a, 0);
	GIVE(0, 1, 1000, 2009, 3000);
	GIVE(0, 2, 1030, 2000, 3001);
	c = begin(a, 1);
	GIVE(1, 1, 150, 1190, 2100); /* the same PID in another capture is another process */
	c = begin(a, 2);
	GIVE(2, 1, 100, 1100, 2150);
	assert_ok(align_solve(a, groups, 2, &res));
	assert_int_equal(shifts[1], 900);
	assert_int_equal(res.worst_ns, 0);
	align_free(a);
}

static void counts_must_agree(void **state)
{
	const size_t groups[] = {0, 1};
	int64_t shifts[2];
	struct align_result res = {.shifts = shifts};
	struct align_count n;
	struct align *a;
	struct consumer c;

	(void)state;
	assert_ok(align_new("sync", &a));
	assert_err(align_solve(a, groups, 2, &res), EINVAL); /* none has it */
	c = begin(a, 0);
	GIVE(0, 1, 1000, 2000);
	assert_err(align_solve(a, groups, 2, &res), EINVAL); /* the second has it not */
	c = begin(a, 1);
	GIVE(1, 1, 1000, 2000);
	assert_ok(align_solve(a, groups, 2, &res));
	GIVE(1, 2, 1000);
	assert_err(align_solve(a, groups, 2, &res), EINVAL);
	n = align_count(a, 0);
	assert_int_equal(n.processes, 1);
	assert_int_equal(n.least, 2);
	assert_int_equal(n.most, 2);
	n = align_count(a, 1);
	assert_int_equal(n.processes, 2);
	assert_int_equal(n.least, 1);
	n = align_count(a, 5);
	assert_int_equal(n.processes, 0);
	align_free(a);
}

/* All are counted, but only so many are kept. */
static void any_number_of_ends_can_come(void **state)
{
	const size_t groups[] = {0, 1};
	int64_t shifts[2];
	struct align_result res = {.shifts = shifts};
	struct align *a;
	struct consumer c;

	(void)state;
	assert_ok(align_new("sync", &a));
	for (size_t capture = 0; capture < 2; capture++) {
		c = begin(a, capture);
		for (uint64_t i = 0; i < ALIGN_ENDS + 10; i++) {
			const uint64_t end = 100 * i + 50 * capture;

			give(&c, capture, 1, &end, 1);
		}
	}
	assert_int_equal(align_count(a, 0).most, ALIGN_ENDS + 10);
	assert_ok(align_solve(a, groups, 2, &res));
	assert_int_equal(res.used, ALIGN_ENDS);
	assert_int_equal(shifts[1], -50);
	align_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_of_all_ends_counts),
		cmocka_unit_test(two_ends_share_the_difference),
		cmocka_unit_test(the_first_of_a_group_to_leave_counts),
		cmocka_unit_test(counts_must_agree),
		cmocka_unit_test(any_number_of_ends_can_come),
	};

	return RUN(tests);
}
