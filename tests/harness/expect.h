/* SPDX-License-Identifier: GPL-2.0-only */
/* Event script in, expected lines of the recorder out: the shape of most tests of the core. */
#ifndef ACLTAP_TEST_EXPECT_H
#define ACLTAP_TEST_EXPECT_H

#include "harness/recorder.h"
#include "harness/test.h"

static inline void expect_what(unsigned int what, struct pipeline_config cfg, const char *script,
			       const char *expected)
{
	char err[128] = "";
	struct recorder r;
	int ret;

	assert_ok(recorder_init(&r, what));
	ret = recorder_run(&r, &cfg, script, err, sizeof(err));
	assert_string_equal(err, "");
	assert_ok(ret);
	assert_string_equal(r.text, expected);
	assert_int_equal(r.begins, 1);
	assert_int_equal(r.ends, 1);
	assert_int_equal(r.before_begin, 0);
	recorder_free(&r);
}

/* Spans and counts. */
static inline void expect(const char *script, const char *expected)
{
	expect_what(REC_SPANS | REC_TALLIES, (struct pipeline_config){0}, script, expected);
}

static inline void expect_lifecycle(const char *script, const char *expected)
{
	expect_what(REC_SPANS | REC_TALLIES, (struct pipeline_config){.lifecycle = true}, script,
		    expected);
}

static inline void expect_returns(const char *script, const char *expected)
{
	expect_what(REC_SPANS | REC_TALLIES, (struct pipeline_config){.returns = true}, script,
		    expected);
}

#endif
