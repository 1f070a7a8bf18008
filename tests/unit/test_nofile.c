// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include "util/nofile.h"

static void soft_becomes_hard_and_what_was_is_told(void **state)
{
	struct rlimit begin, few, was, now;

	(void)state;
	assert_ok(getrlimit(RLIMIT_NOFILE, &begin));
	few = begin;
	few.rlim_cur = 40;
	assert_ok(setrlimit(RLIMIT_NOFILE, &few));
	nofile_raise(&was);
	assert_int_equal(was.rlim_cur, 40);
	assert_int_equal(was.rlim_max, begin.rlim_max);
	assert_ok(getrlimit(RLIMIT_NOFILE, &now));
	assert_int_equal(now.rlim_cur, begin.rlim_max < NOFILE_MAX ? begin.rlim_max : NOFILE_MAX);
	assert_int_equal(now.rlim_max, begin.rlim_max);
	nofile_raise(NULL);
	assert_ok(setrlimit(RLIMIT_NOFILE, &begin));
}

static void a_low_hard_limit_is_kept(void **state)
{
	struct rlimit low, now;

	(void)state;
	assert_ok(getrlimit(RLIMIT_NOFILE, &low));
	low.rlim_cur = 40;
	low.rlim_max = 50;
	assert_ok(setrlimit(RLIMIT_NOFILE, &low)); /* for good: the last test */
	nofile_raise(NULL);
	assert_ok(getrlimit(RLIMIT_NOFILE, &now));
	assert_int_equal(now.rlim_cur, 50);
	assert_int_equal(now.rlim_max, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(soft_becomes_hard_and_what_was_is_told),
		cmocka_unit_test(a_low_hard_limit_is_kept),
	};

	return RUN(tests);
}
