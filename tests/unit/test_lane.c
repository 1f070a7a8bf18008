// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of several sources in one trace, as a merged capture has them: PIDs of source 1 are
 * written as 4194304 + PID, those of source 2 as 8388608 + PID.
 */
#include "harness/test.h"
#include "harness/evscript.h"
#include "harness/expect.h"

#include <stdio.h>
#include <string.h>

#include "core/pids.h"

static const struct pipeline_config merged = {.merged = true};

#define HEAD                                                                                       \
	"1000 - clock real=5001000\n"                                                              \
	"1000 4194304/0 fact host \"a\"\n"                                                         \
	"1000 8388608/0 fact host \"b\"\n"

/* What is one process' stack, stamps and ids to the other is nothing. */
static void equal_pids_of_two_sources_do_not_meet(void **state)
{
	(void)state;
	expect_what(REC_SPANS | REC_TALLIES, merged,
		    HEAD "1010 4194311/7 msg stamp=0x10 \"of a\"\n"
			 "1020 8388615/7 msg stamp=0x10 \"of b\"\n"
			 "1030 4194311/7 push stamp=0x10\n"
			 "1040 8388615/7 pop\n"
			 "1050 4194311/7 start stamp=0x10 id=0 ret=0\n"
			 "1060 8388615/7 stop id=0\n"
			 "1070 8388615/7 mark stamp=0x10\n"
			 "1080 4194311/7 stop id=0\n"
			 "1090 4194311/7 pop\n",
		    "marker \"of b\" 5001070 7/7 complete\n"
		    "start/end \"of a\" 5001050..5001080 4194303/7 complete depth=1 parent=#1\n"
		    "push/pop \"of a\" 5001030..5001090 4194303/7 complete\n"
		    "orphan aclprofPop 1\n"
		    "orphan aclprofRangeStop 1\n");
}

/* The first that is told keeps its PID; the other gets a free one, also as a parent. */
static void a_used_pid_is_replaced_everywhere(void **state)
{
	(void)state;
	expect_what(REC_TRACKS | REC_SPANS, merged,
		    HEAD "1010 4194311/7 fact name \"first\"\n"
			 "1020 4194311/7 mark stamp=0\n"
			 "1030 8388615/7 fact name \"second\"\n"
			 "1040 8388615/7 mark stamp=0\n"
			 "1050 8388615/7 fork child=9 \"kid\"\n"
			 "1060 8388615/8 fact thread \"t\"\n"
			 "1070 8388615/7 category_name \"io\" number=3\n"
			 "1080 8388617/9 mark stamp=0\n",
		    "process 7 nspid=0 ppid=0 rank=-1 \"first\" cmdline=\"\" exe=\"\"\n"
		    "marker \"\" 5001020 7/7 complete\n"
		    "process 4194303 nspid=0 ppid=0 rank=-1 \"second\" cmdline=\"\" exe=\"\"\n"
		    "marker \"\" 5001040 4194303/7 complete\n"
		    "thread 4194303/8 \"t\"\n"
		    "category 4194303/3 \"io\"\n"
		    "process 9 nspid=0 ppid=4194303 rank=-1 \"kid\" cmdline=\"\" exe=\"\"\n"
		    "marker \"\" 5001080 9/9 complete\n");
}

/* Two recordings under one kernel and in one PID namespace mean the same process. */
static void one_pid_space_needs_no_replacement(void **state)
{
	(void)state;
	expect_what(REC_SPANS, merged,
		    HEAD "1000 4194304/0 fact boot_id \"k\"\n"
			 "1000 4194304/0 fact pid_space \"1\"\n"
			 "1000 8388608/0 fact boot_id \"k\"\n"
			 "1000 8388608/0 fact pid_space \"1\"\n"
			 "1010 4194311/7 mark stamp=0\n"
			 "1020 8388615/7 mark stamp=0\n",
		    "marker \"\" 5001010 7/7 complete\n"
		    "marker \"\" 5001020 7/7 complete\n");
	/* A container of the same host, with a namespace of its own. */
	expect_what(REC_SPANS, merged,
		    HEAD "1000 4194304/0 fact boot_id \"k\"\n"
			 "1000 4194304/0 fact pid_space \"1\"\n"
			 "1000 8388608/0 fact boot_id \"k\"\n"
			 "1000 8388608/0 fact pid_space \"2\"\n"
			 "1010 4194311/7 mark stamp=0\n"
			 "1020 8388615/7 mark stamp=0\n",
		    "marker \"\" 5001010 7/7 complete\n"
		    "marker \"\" 5001020 4194303/7 complete\n");
}

/* Options of a recording are those of its own records. */
static void options_hold_for_their_source_only(void **state)
{
	(void)state;
	expect_what(REC_SPANS, merged,
		    HEAD "1000 8388608/0 fact option \"returns=1\"\n"
			 "1010 4194311/7 mark stamp=0x10 ret=5\n"
			 "1020 8388615/7 mark stamp=0x10 ret=5\n"
			 "1030 8388615/7 mark stamp=0x10 ret=0\n",
		    "marker \"\" 5001010 7/7 complete\n"
		    "marker \"\" 5001030 4194303/7 complete ret=0\n");
}

/* A loss in one source makes nothing of another doubtful. */
static void a_loss_stays_in_its_source(void **state)
{
	(void)state;
	expect_what(REC_SPANS | REC_TALLIES, merged,
		    HEAD "1010 4194311/7 msg stamp=0x10 \"a\"\n"
			 "1010 8388615/7 msg stamp=0x10 \"b\"\n"
			 "1020 4194311/7 lost category stamp=0x10 number=4\n"
			 "1025 4194304/0 loss aclprofSetCategoryName count=1 from=1000\n"
			 "1030 4194311/7 mark stamp=0x10\n"
			 "1030 8388615/7 mark stamp=0x10\n",
		    "loss aclprofSetCategoryName 1 5001000..5001025\n"
		    "marker \"a\" 5001030 7/7 uncertain\n"
		    "marker \"b\" 5001030 4194303/7 complete\n");
}

/* Totals are checked against the records of their own source. */
static void totals_are_checked_by_source(void **state)
{
	(void)state;
	expect_what(REC_TALLIES | REC_CALLS, merged,
		    HEAD "1010 4194311/7 pop\n"
			 "1020 8388615/7 pop\n"
			 "1030 4194304/0 count aclprofPop calls=1\n"
			 "1040 8388608/0 count aclprofPop calls=3\n",
		    "call aclprofPop 1\n"
		    "orphan aclprofPop 1\n"
		    "call aclprofPop 3\n"
		    "orphan aclprofPop 1\n"
		    "mismatch aclprofPop 2\n");
}

/* decode() cannot see it: the one is a PID, the other a PID of a source. */
static void a_process_that_forks_itself_is_bad(void **state)
{
	(void)state;
	expect_what(REC_TRACKS | REC_SPANS | REC_TALLIES, merged,
		    HEAD "1010 4194311/7 fact cmdline \"x\"\n"
			 "1015 4194311/7 push stamp=0\n"
			 "1020 4194311/7 fork child=7 gap=1 \"k\"\n"
			 "1030 4194311/7 pop\n"
			 "1040 8388615/7 fork child=8 \"k\"\n",
		    "process 7 nspid=0 ppid=0 rank=-1 \"\" cmdline=\"x\" exe=\"\"\n"
		    "push/pop \"\" 5001015..5001030 7/7 complete\n"
		    "process 8 nspid=0 ppid=4194303 rank=-1 \"k\" cmdline=\"\" exe=\"\"\n"
		    "bad 1\n");
}

/* In a plain capture a large number is a PID like any other. */
static void a_plain_capture_has_no_sources(void **state)
{
	(void)state;
	expect_what(REC_SPANS, (struct pipeline_config){0},
		    "1000 - clock real=5001000\n"
		    "1010 4194311/7 mark stamp=0\n",
		    "marker \"\" 5001010 4194311/7 complete\n");
}

/* ---- What processes and sources say of themselves ------------------------------------------ */

struct seen {
	char text[1024];
	size_t len;
};

static int note_process(void *ctx, const struct process *p)
{
	struct seen *s = ctx;

	s->len += (size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len,
				   "%u = %u of source %u on %s, rank %d, local %d\n", p->pid,
				   p->host_pid, p->source, p->host, p->rank, p->local_rank);
	return 0;
}

static int note_source(void *ctx, const struct trace_source *src)
{
	struct seen *s = ctx;

	s->len += (size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len,
				   "%u %s on %s %+lld: %llu %s\n", src->number, src->name,
				   src->host, (long long)src->shift_ns,
				   (unsigned long long)src->first.mono_ns, src->ended);
	return 0;
}

static int note_end(void *ctx, const struct trace_meta *m)
{
	struct seen *s = ctx;

	s->len +=
		(size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len, "%u sources by %s%s\n",
				 m->sources, m->aligned, m->complete ? "" : ", incomplete");
	return 0;
}

static int to_pipeline(void *ctx, const void *rec, size_t sz)
{
	return pipeline_push(ctx, rec, sz);
}

static void expect_notes(bool is_merged, const char *script, const char *expected)
{
	struct seen s = {.len = 0};
	const struct consumer next = {
		.ctx = &s, .process = note_process, .source = note_source, .end = note_end};
	struct pipeline *p;
	char why[128] = "";

	assert_ok(pipeline_new(&(struct pipeline_config){.merged = is_merged}, &next, &p));
	assert_ok(evscript_run(script, strlen(script), to_pipeline, p, why, sizeof(why)));
	assert_ok(pipeline_finish(p, true));
	pipeline_free(p);
	assert_string_equal(s.text, expected);
}

static void a_local_rank_counts_on_one_host_only(void **state)
{
	static const char ranks[] = "1010 4194311/7 fact local_rank \"1\"\n"
				    "1020 8388615/7 fact local_rank \"1\"\n"
				    "1030 8388616/8 fact rank \"4\"\n"
				    "1030 8388616/8 fact local_rank \"2\"\n";
	char script[1024];

	(void)state;
	snprintf(script, sizeof(script), "%s%s", HEAD, ranks);
	expect_notes(true, script,
		     "7 = 7 of source 1 on a, rank -1, local 1\n"
		     "4194303 = 7 of source 2 on b, rank -1, local 1\n"
		     "8 = 8 of source 2 on b, rank 4, local 2\n"
		     "1  on a +0: 0 \n"
		     "2  on b +0: 0 \n"
		     "2 sources by \n");
	snprintf(script, sizeof(script), "%s%s%s", HEAD,
		 "1000 4194304/0 fact boot_id \"k\"\n1000 8388608/0 fact boot_id \"k\"\n", ranks);
	expect_notes(true, script,
		     "7 = 7 of source 1 on a, rank 1, local 1\n"
		     "4194303 = 7 of source 2 on b, rank 1, local 1\n"
		     "8 = 8 of source 2 on b, rank 4, local 2\n"
		     "1  on a +0: 0 \n"
		     "2  on b +0: 0 \n"
		     "2 sources by \n");
	expect_notes(false, "1010 7/7 fact local_rank \"1\"\n",
		     "7 = 7 of source 0 on , rank 1, local 1\n"
		     "0 sources by \n");
}

static void sources_keep_their_clocks(void **state)
{
	(void)state;
	expect_notes(true,
		     HEAD "1000 - fact aligned \"clock\"\n"
			  "1000 4194304/0 fact source \"x.acltap\"\n"
			  "1000 8388608/0 fact source \"y.acltap\"\n"
			  "1000 8388608/0 fact shift \"-500\"\n"
			  "1000 8388608/0 fact ended \"truncated\"\n"
			  "1000 8388608/0 clock real=77\n",
		     "1 x.acltap on a +0: 0 \n"
		     "2 y.acltap on b -500: 1500 truncated\n"
		     "2 sources by clock, incomplete\n");
}

static void numbers_run_out_without_harm(void **state)
{
	struct pids p = {0};
	uint32_t n;

	(void)state;
	assert_ok(pids_number(&p, 1, 0, &n));
	assert_int_equal(n, 0);
	assert_ok(pids_number(&p, 1, 4194303, &n));
	assert_int_equal(n, 4194303);
	assert_ok(pids_number(&p, 2, 4194303, &n));
	assert_int_equal(n, 4194302);
	assert_ok(pids_number(&p, 1, 4194302, &n)); /* a late owner of a number given away */
	assert_int_equal(n, 4194301);
	assert_ok(pids_number(&p, 2, 4194303, &n)); /* the same as before */
	assert_int_equal(n, 4194302);
	p.below = 1;
	assert_ok(pids_number(&p, 3, 4194303, &n));
	assert_int_equal(n, 4194303);
	pids_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_pids_of_two_sources_do_not_meet),
		cmocka_unit_test(a_used_pid_is_replaced_everywhere),
		cmocka_unit_test(one_pid_space_needs_no_replacement),
		cmocka_unit_test(options_hold_for_their_source_only),
		cmocka_unit_test(a_loss_stays_in_its_source),
		cmocka_unit_test(totals_are_checked_by_source),
		cmocka_unit_test(a_process_that_forks_itself_is_bad),
		cmocka_unit_test(a_plain_capture_has_no_sources),
		cmocka_unit_test(a_local_rank_counts_on_one_host_only),
		cmocka_unit_test(sources_keep_their_clocks),
		cmocka_unit_test(numbers_run_out_without_harm),
	};

	return RUN(tests);
}
