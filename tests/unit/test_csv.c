// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/spans.h"

#include <errno.h>
#include <stdio.h>

#define HEADER                                                                                     \
	"Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),"         \
	"End_time(us),message_type,message,domain,Device Start_time(us),Device End_time(us)\n"

static void rows_have_the_vendors_form(void **state)
{
	const char *path = tmpdir_path(state, "x.csv");
	struct run r = run_begin("csv", path, NULL);
	struct span sp = span_of("preprocess", 1717575960208120114, 1717575960208126869);

	sp.pid = 19988;
	sp.end_tid = 20011;
	run_span(&r, sp);
	sp = mark_of("a,b", 1717575960208120113);
	sp.category = 7;
	sp.payload = (struct payload){.type = -2, .len = 1, .bytes = {9}};
	run_span(&r, sp);
	sp = mark_of("ex", 1717575960208120115);
	sp.kind = SPAN_MARKER_EX;
	run_span(&r, sp);
	sp = span_of("mstx", 1717575960208120116, 1717575960208120117);
	sp.kind = SPAN_START_END;
	sp.domain = "my,domain";
	sp.end_tid = 21; /* mstx: the thread of the start call */
	run_span(&r, sp);
	assert_ok(run_end(&r));
	expect_file(path, HEADER
		    "host,10,20,7,marker,-2,0,1717575960208120.113\t,1717575960208120.113\t,0,"
		    "\"a,b\",N/A,N/A,N/A\n"
		    "host,19988,20011,0,push/pop,0,0,1717575960208120.114\t,"
		    "1717575960208126.869\t,0,preprocess,N/A,N/A,N/A\n"
		    "host,10,20,N/A,marker_ex,N/A,N/A,1717575960208120.115\t,"
		    "1717575960208120.115\t,N/A,ex,default,N/A,N/A\n"
		    "host,10,20,N/A,start/end,N/A,N/A,1717575960208120.116\t,"
		    "1717575960208120.117\t,N/A,mstx,\"my,domain\",N/A,N/A\n");
}

static void no_tab_leaves_the_tab_out(void **state)
{
	const struct sink_opts opts = {.no_tab = true};
	const char *path = tmpdir_path(state, "x.csv");
	struct run r = run_begin("csv", path, &opts);

	run_span(&r, mark_of("m", 1000));
	assert_ok(run_end(&r));
	expect_file(path, HEADER "host,10,20,0,marker,0,0,1.000,1.000,0,m,N/A,N/A,N/A\n");
}

static void only_what_is_complete_is_a_row(void **state)
{
	const char *path = tmpdir_path(state, "x.csv");
	struct run r = run_begin("csv", path, NULL);

	for (int st = SPAN_UNFINISHED; st <= SPAN_UNCERTAIN; st++) {
		struct span sp = span_of("x", 1, 2);

		sp.status = (uint8_t)st;
		run_span(&r, sp);
	}
	assert_ok(r.to.end(r.to.ctx, &(struct trace_meta){0}));
	assert_int_equal(fanout_get(r.fan, 0)->left_out, 4);
	assert_int_equal(fanout_get(r.fan, 0)->rows, 0);
	fanout_free(r.fan);
	expect_file(path, HEADER);
}

static struct run run_slices(const char *path, uint64_t rows)
{
	const struct sink_opts opts = {.slice_rows = 3};
	struct run r = run_begin("csv", path, &opts);

	for (uint64_t i = 0; i < rows; i++)
		run_span(&r, mark_of("m", 1000 * i));
	return r;
}

static int lines_of(const char *path)
{
	char *text = slurp(path, NULL);
	int n = 0;

	assert_memory_equal(text, HEADER, strlen(HEADER));
	for (char *p = text; *p; p++)
		n += *p == '\n';
	free(text);
	return n;
}

static void long_tables_are_sliced(void **state)
{
	struct run r = run_slices(tmpdir_path(state, "msprof_tx_2026.csv"), 3);

	assert_ok(run_end(&r));
	assert_int_equal(lines_of(tmpdir_path(state, "msprof_tx_2026.csv")), 4);
	assert_int_equal(dir_entries(*state), 1);
	assert_int_equal(remove(tmpdir_path(state, "msprof_tx_2026.csv")), 0);

	r = run_slices(tmpdir_path(state, "msprof_tx_2026.csv"), 7);
	assert_ok(r.to.end(r.to.ctx, &(struct trace_meta){0}));
	assert_int_equal(fanout_get(r.fan, 0)->files, 3);
	assert_string_equal(fanout_get(r.fan, 0)->path,
			    tmpdir_path(state, "msprof_tx_slice_0_2026.csv"));
	fanout_free(r.fan);
	assert_int_equal(lines_of(tmpdir_path(state, "msprof_tx_slice_0_2026.csv")), 4);
	assert_int_equal(lines_of(tmpdir_path(state, "msprof_tx_slice_1_2026.csv")), 4);
	assert_int_equal(lines_of(tmpdir_path(state, "msprof_tx_slice_2_2026.csv")), 2);
	assert_int_equal(dir_entries(*state), 3);

	r = run_slices(tmpdir_path(state, "plain.csv"), 4);
	assert_ok(run_end(&r));
	assert_int_equal(lines_of(tmpdir_path(state, "plain_slice_1.csv")), 2);
}

static void slices_are_all_there_or_none(void **state)
{
	struct run r = run_slices(tmpdir_path(state, "a_b.csv"), 9);

	/* The last of the three names is taken meanwhile. */
	spew(tmpdir_path(state, "a_slice_2_b.csv"), "mine", 4);
	assert_err(run_end(&r), EEXIST);
	assert_int_equal(dir_entries(*state), 1);
	expect_file(tmpdir_path(state, "a_slice_2_b.csv"), "mine");

	r = run_slices(tmpdir_path(state, "c_d.csv"), 9);
	fanout_free(r.fan);
	assert_int_equal(dir_entries(*state), 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(rows_have_the_vendors_form),	   T(no_tab_leaves_the_tab_out),
		T(only_what_is_complete_is_a_row), T(long_tables_are_sliced),
		T(slices_are_all_there_or_none),
	};

	return RUN(tests);
}
