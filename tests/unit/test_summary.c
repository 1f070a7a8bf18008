// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/spans.h"

#include <stdio.h>

#include "probe_config.h"
#include "sink/summary.h"

static struct summary *sum;
static struct consumer to;

static int setup(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	if (summary_new(&sum))
		return -1;
	to = summary_consumer(sum);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	summary_free(sum);
	summary_free(NULL);
	return 0;
}

static void expect(const char *want)
{
	char *text = NULL;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	assert_non_null(f);
	summary_print(sum, f);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void give(struct span sp)
{
	assert_ok(to.span(to.ctx, &sp));
}

static void count(enum tally_kind kind, uint8_t func, uint64_t n)
{
	const struct tally t = {.kind = kind, .func = func, .count = n};

	assert_ok(to.tally(to.ctx, &t));
}

static void a_clean_trace_is_short(void **state)
{
	(void)state;
	expect("0 events; nothing lost\n");
	for (int i = 0; i < 1200; i++)
		give(mark_of("m", 5));
	give(span_of("p", 0, 1500));
	count(TALLY_CALL, 2, 1200);
	expect("1,201 events: 1,200 marks, 1 push/pop; nothing lost\n"
	       "top names by total time:\n"
	       "      1.500 us            1x  p\n"
	       "          0 ns        1,200x  m\n");
	assert_false(summary_is_strict_failure(sum));
}

static void every_count_is_told(void **state)
{
	const struct tally null = {.kind = TALLY_NULL_STAMP, .pid = 10, .count = 200000};
	const struct process p = {.pid = 10, .name = "py\x1b[31m", .cmdline = "", .exe = ""};

	(void)state;
	for (int st = SPAN_COMPLETE; st <= SPAN_UNCERTAIN; st++) {
		struct span sp = span_of("x", 0, 10);

		sp.status = (uint8_t)st;
		give(sp);
	}
	count(TALLY_LOSS, 2, 3);
	count(TALLY_LOSS, 2, 4);
	count(TALLY_LOSS, 3, 1);
	count(TALLY_LIMIT, 3, 2);
	count(TALLY_LOST_RETURN, 5, 1);
	count(TALLY_LOST_PROCESS, PROBE_FUNC_LIFECYCLE, 3);
	count(TALLY_LOST_START, 4, 1);
	count(TALLY_ORPHAN, 4, 1);
	count(TALLY_FAILED, 3, 9);
	count(TALLY_UNREADABLE, 1, 1);
	count(TALLY_CUT, 1, 2);
	count(TALLY_LATE, 0, 1);
	count(TALLY_BAD, 0, 2);
	count(TALLY_MISMATCH, 2, 1);
	assert_ok(to.process(to.ctx, &p));
	assert_ok(to.tally(to.ctx, &null));
	expect("5 events: 5 push/pop; 10 calls lost\n"
	       "  not complete: 1 unfinished, 1 open, 1 superseded, 1 uncertain\n"
	       "  8 calls lost: 7 aclprofMark, 1 aclprofPush\n"
	       "  2 calls beyond a limit: 2 aclprofPush\n"
	       "  1 lost return record: 1 aclprofRangeStart\n"
	       "  3 process records lost: 3 fork/exec/exit\n"
	       "  1 end whose begin was lost: 1 aclprofPop\n"
	       "  1 orphan (an end without a begin): 1 aclprofPop\n"
	       "  9 failed calls: 9 aclprofPush\n"
	       "  1 unreadable message: 1 aclprofSetStampTraceMessage\n"
	       "  2 messages cut to 255 bytes: 2 aclprofSetStampTraceMessage\n"
	       "  1 record out of order (an error of acltap)\n"
	       "  2 records not understood\n"
	       "  1 call unaccounted for (an error of acltap): 1 aclprofMark\n"
	       "top names by total time:\n"
	       "         10 ns            1x  x\n"
	       "200,000 create_stamp calls returned NULL: msproftx is off in PID 10 (py\\x1b[31m)\n"
	       "hint: start it with 'msprof --msproftx=on' or aclprofStart with mask 0x80\n");
}

static void strict_looks_at_loss_only(void **state)
{
	static const enum tally_kind harmless[] = {TALLY_ORPHAN, TALLY_FAILED, TALLY_CUT,
						   TALLY_NULL_STAMP, TALLY_CALL};
	static const enum tally_kind failing[] = {TALLY_LOSS,	     TALLY_LIMIT,
						  TALLY_LOST_RETURN, TALLY_LOST_PROCESS,
						  TALLY_LOST_START,  TALLY_UNREADABLE};
	struct span sp = span_of("x", 0, 1);

	(void)state;
	for (size_t i = 0; i < 5; i++)
		count(harmless[i], 3, 1);
	sp.status = SPAN_OPEN;
	give(sp);
	assert_false(summary_is_strict_failure(sum));
	for (size_t i = 0; i < sizeof(failing) / sizeof(failing[0]); i++) {
		teardown(state);
		setup(state);
		count(failing[i], 3, 1);
		assert_true(summary_is_strict_failure(sum));
	}
	teardown(state);
	setup(state);
	sp.status = SPAN_UNCERTAIN;
	give(sp);
	assert_true(summary_is_strict_failure(sum));
}

static void many_names_take_bounded_memory(void **state)
{
	char name[32], *text = NULL;
	size_t sz;
	FILE *f;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "step %d", i);
		give(span_of(name, 0, 1));
	}
	for (int i = 0; i < 100000; i++)
		give(span_of("step 7", 0, 1000));
	f = open_memstream(&text, &sz);
	summary_print(sum, f);
	fclose(f);
	assert_non_null(strstr(text, "100,001x  step 7\n"));
	assert_non_null(strstr(text, "(95,904 more events in 95.904 us have names beyond the first "
				     "4096, not ranked)"));
	free(text);
}

static void names_are_harmless(void **state)
{
	struct span sp = span_of("", 0, 1);

	(void)state;
	give(span_of("\033[2J\n\xff", 0, 3));
	give(span_of("", 0, 2));
	sp.unreadable = true;
	give(sp);
	expect("3 events: 3 push/pop; nothing lost\n"
	       "  1 event without a name: no message was set on its stamp while acltap watched\n"
	       "top names by total time:\n"
	       "          3 ns            1x  \\x1b[2J\\n\\xff\n"
	       "          2 ns            1x  (no name)\n"
	       "          1 ns            1x  <unreadable>\n");
}

static void clocks_and_ends_are_told(void **state)
{
	struct trace_meta meta = {
		.first = {.mono_ns = 1000, .real_ns = 1700000000000001000},
		.last = {.mono_ns = 5000, .real_ns = 1700000000000005000 + 1000000},
	};

	(void)state;
	assert_ok(to.end(to.ctx, &meta));
	expect("0 events; nothing lost\n"); /* 1 ms is allowed */
	meta.last.real_ns -= 3000000;
	assert_ok(to.end(to.ctx, &meta));
	summary_incomplete(sum, false, 2000 + 123000000);
	expect("warning: the capture is incomplete: it reaches to 2023-11-14 22:13:20.123\n"
	       "0 events; nothing lost\n"
	       "warning: the wall clock moved back by 2.000 ms while tracing; all times follow the "
	       "clock at the start\n");
}

static void files_are_listed(void **state)
{
	static const struct sink_opts opts;
	struct fanout *f;
	struct consumer c;
	struct span sp = mark_of("m", 1);
	char *text = NULL, want[2048];
	const char *path;
	size_t sz;
	FILE *out;

	tmpdir_setup(state);
	path = tmpdir_path(state, "x.csv");
	assert_ok(fanout_new(&f));
	assert_ok(fanout_add(f, &sink_csv, path, &opts));
	assert_ok(fanout_add(f, &sink_json, "/dev/full", &opts));
	c = fanout_consumer(f);
	assert_ok(c.begin(c.ctx, &(struct trace_meta){0}));
	assert_ok(c.span(c.ctx, &sp));
	sp.status = SPAN_UNCERTAIN;
	assert_ok(c.span(c.ctx, &sp));
	c.end(c.ctx, &(struct trace_meta){0});
	out = open_memstream(&text, &sz);
	summary_print_files(f, out);
	fclose(out);
	snprintf(want, sizeof(want),
		 "wrote '%s': 1 row; 1 span left out (not complete: .tsv and .ndjson have them)\n"
		 "  opens with: %s\n"
		 "cannot write '/dev/full': No space left on device\n",
		 path, sink_csv.help);
	assert_string_equal(text, want);
	free(text);
	fanout_free(f);
	tmpdir_teardown(state);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_clean_trace_is_short),    T(every_count_is_told),
		T(strict_looks_at_loss_only), T(many_names_take_bounded_memory),
		T(names_are_harmless),	      T(clocks_and_ends_are_told),
		T(files_are_listed),
	};

	return RUN(tests);
}
