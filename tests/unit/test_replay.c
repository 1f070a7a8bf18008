// SPDX-License-Identifier: GPL-2.0-only
/* A script recorded into a capture and exported again, against the same script directly. */
#include "harness/test.h"
#include "harness/evscript.h"
#include "harness/spans.h"

#include <errno.h>
#include <stdio.h>

#include "sink/summary.h"
#include "store/capture.h"
#include "store/replay.h"

static const char script[] = "1000 - clock real=1000000001000 boot=1000\n"
			     "1000 7/7 fact name \"prog\"\n"
			     "1010 7/7 msg stamp=0x10 \"outer\"\n"
			     "1020 7/7 push stamp=0x10\n"
			     "1030 7/7 msg stamp=0x10 \"a mark\"\n"
			     "1040 7/7 mark stamp=0x10\n"
			     "1050 7/7 lost mark stamp=0x10\n"
			     "1060 7/7 pop\n"
			     "1070 7/7 start stamp=0x10 id=0 ret=0\n"
			     "1080 7/8 stop id=0\n"
			     "1090 7/8 stop id=0\n"
			     "1100 7/7 exit last\n"
			     "1200 - counts\n";

static const char *const formats[] = {"csv", "json", "tsv", "ndjson"};

static int to_pipeline(void *ctx, const void *rec, size_t sz)
{
	return pipeline_push(ctx, rec, sz);
}

static int to_capture(void *ctx, const void *rec, size_t sz)
{
	return capwrite_record(ctx, rec, sz);
}

static void run_script(int (*push)(void *ctx, const void *rec, size_t sz), void *ctx)
{
	char msg[128] = "";

	if (evscript_run(script, strlen(script), push, ctx, msg, sizeof(msg)))
		fail_msg("%s", msg);
}

static struct fanout *open_all(void **state, const char *prefix)
{
	static const struct sink_opts opts;
	struct fanout *f;
	char name[32];

	assert_ok(fanout_new(&f));
	for (size_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "%s.%s", prefix, formats[i]);
		assert_ok(fanout_add(f, sink_by_name(formats[i]), tmpdir_path(state, name), &opts));
	}
	return f;
}

static void record(void **state, bool complete)
{
	struct capwrite *w;

	assert_ok(capwrite_open(tmpdir_path(state, "x.acltap"), true, &w));
	run_script(to_capture, w);
	if (complete) {
		assert_ok(capwrite_close(w));
	} else {
		assert_ok(capwrite_flush(w));
		capwrite_abandon(w);
	}
}

static void directly(void **state)
{
	const struct pipeline_config cfg = {0};
	struct fanout *f = open_all(state, "direct");
	struct consumer next = fanout_consumer(f);
	struct pipeline *p;

	assert_ok(pipeline_new(&cfg, &next, &p));
	run_script(to_pipeline, p);
	assert_ok(pipeline_finish(p, true));
	pipeline_free(p);
	fanout_free(f);
}

struct told {
	uint64_t done, total;
};

static void tell(void *ctx, uint64_t done, uint64_t total)
{
	struct told *t = ctx;

	assert_true(done >= t->done && done <= total);
	*t = (struct told){done, total};
}

static void an_export_is_the_trace_again(void **state)
{
	enum capread_end ended = CAPREAD_DAMAGED;
	struct told told = {0};
	struct summary *s;
	struct fanout *f;
	char a[32], b[32], *want;

	directly(state);
	record(state, true);
	f = open_all(state, "again");
	assert_ok(summary_new(&s));
	assert_ok(export_capture(tmpdir_path(state, "x.acltap"), false, f, NULL, s, &ended, tell,
				 &told));
	assert_int_equal(ended, CAPREAD_COMPLETE);
	assert_true(told.total > 0 && told.done > 0);
	assert_int_equal(summary_totals(s)->events, 3);
	assert_int_equal(summary_totals(s)->lost, 1);
	assert_int_equal(summary_totals(s)->orphans, 1);
	fanout_free(f);
	for (size_t i = 0; i < 4; i++) {
		snprintf(a, sizeof(a), "direct.%s", formats[i]);
		snprintf(b, sizeof(b), "again.%s", formats[i]);
		want = slurp(tmpdir_path(state, a), NULL);
		assert_non_null(strstr(want, "outer"));
		expect_file(tmpdir_path(state, b), want);
		free(want);
	}
	summary_free(s);
}

static void truncated_captures_are_exported(void **state)
{
	enum capread_end ended = CAPREAD_DAMAGED;
	struct summary *s;
	char *text = NULL;
	size_t sz;
	FILE *out;

	record(state, false);
	assert_ok(summary_new(&s));
	assert_ok(export_capture(tmpdir_path(state, "x.acltap"), false, NULL, NULL, s, &ended, NULL,
				 NULL));
	assert_int_equal(ended, CAPREAD_TRUNCATED);
	out = open_memstream(&text, &sz);
	summary_print(s, out);
	fclose(out);
	assert_non_null(strstr(text, "warning: the capture is incomplete"));
	assert_non_null(strstr(text, "3 events"));
	free(text);
	summary_free(s);
}

static void errors_are_returned(void **state)
{
	static const struct sink_opts opts;
	enum capread_end ended;
	struct summary *s;
	struct fanout *f;

	assert_err(export_capture(tmpdir_path(state, "none"), false, NULL, NULL, NULL, &ended, NULL,
				  NULL),
		   ENOENT);
	spew(tmpdir_path(state, "bad"), "no capture", 10);
	assert_err(export_capture(tmpdir_path(state, "bad"), false, NULL, NULL, NULL, &ended, NULL,
				  NULL),
		   EINVAL);
	/* A sink that fails takes neither the summary nor the other sinks with it. */
	record(state, true);
	assert_ok(summary_new(&s));
	assert_ok(fanout_new(&f));
	assert_ok(fanout_add(f, &sink_csv, "/dev/full", &opts));
	assert_ok(fanout_add(f, &sink_json, tmpdir_path(state, "x.json"), &opts));
	assert_err(export_capture(tmpdir_path(state, "x.acltap"), false, f, NULL, s, &ended, NULL,
				  NULL),
		   ENOSPC);
	assert_int_equal(ended, CAPREAD_COMPLETE);
	assert_int_equal(fanout_get(f, 0)->err, -ENOSPC);
	assert_true(fanout_get(f, 1)->done);
	assert_int_equal(summary_totals(s)->events, 3);
	fanout_free(f);
	summary_free(s);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_export_is_the_trace_again),
		T(truncated_captures_are_exported),
		T(errors_are_returned),
	};

	return RUN(tests);
}
