// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <string.h>

#include "core/entry.h"
#include "probe_config.h"

static void rows_are_numbered_by_position(void **state)
{
	(void)state;
	for (size_t i = 0; i < entry_count(); i++) {
		const struct entry *e = entry_get(i);

		assert_non_null(e);
		assert_int_equal(e->func, i);
		assert_int_equal(COOKIE_FUNC(e->cookie), i);
		assert_ptr_equal(entry_by_symbol(e->symbol), e);
	}
	assert_null(entry_get(entry_count()));
	assert_null(entry_by_symbol("aclprofNoSuch"));
	assert_string_equal(entry_name(255), "?");
}

static void cookies_describe_the_calls(void **state)
{
	__u64 msg = entry_by_symbol("aclprofSetStampTraceMessage")->cookie;
	__u64 start = entry_by_symbol("aclprofRangeStart")->cookie;

	(void)state;
	assert_int_equal(COOKIE_ARG0(msg), 1);
	assert_int_equal(COOKIE_ARG1(msg), 3);
	assert_int_equal(COOKIE_MSG(msg), MSG_COUNTED);
	assert_int_equal(COOKIE_MSG_ARG(msg), 2);
	assert_int_equal(COOKIE_OUT(start), 2);
	assert_int_equal(COOKIE_DEPTH(entry_by_symbol("aclprofPush")->cookie), DEPTH_PUSH);
	assert_int_equal(COOKIE_DEPTH(entry_by_symbol("aclprofPop")->cookie), DEPTH_POP);
	assert_int_equal(COOKIE_DEPTH(start), DEPTH_KEEP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_numbered_by_position),
		cmocka_unit_test(cookies_describe_the_calls),
	};

	return RUN(tests);
}
