// SPDX-License-Identifier: GPL-2.0-only
/* The harness itself: what a script line becomes, and that no bytes can harm it. */
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "harness/evscript.h"
#include "wire.h"

struct got {
	struct {
		struct wire w;
		char msg[512];
	} recs[16];
	size_t sizes[16], n;
};

static int keep(void *ctx, const void *rec, size_t sz)
{
	struct got *g = ctx;

	if (g->n == 16)
		return -ENOBUFS;
	assert_int_equal((uintptr_t)rec % 8, 0);
	memset(&g->recs[g->n], 0, sizeof(g->recs[0]));
	memcpy(&g->recs[g->n], rec, sz < sizeof(g->recs[0]) ? sz : sizeof(g->recs[0]));
	g->sizes[g->n++] = sz;
	return 0;
}

static struct got run(const char *script)
{
	struct got g = {0};
	char err[128];

	assert_ok(evscript_run(script, strlen(script), keep, &g, err, sizeof(err)));
	assert_string_equal(err, "");
	return g;
}

static void a_call_becomes_a_record(void **state)
{
	struct got g = run("# comment\n\n  \t\n"
			   "100 7/8 msg stamp=0x10 \"a\\x41\\n\\\"\\\\\" # more\n"
			   "+5 7 range_start stamp=-1 id=3 at=110\n");
	const struct wire *w = &g.recs[0].w;

	(void)state;
	assert_int_equal(g.n, 3);
	assert_int_equal(g.sizes[0], sizeof(*w) + 5);
	assert_int_equal(w->len, sizeof(*w) + 5);
	assert_int_equal(w->msg_len, 5);
	assert_memory_equal(g.recs[0].msg, "aA\n\"\\", 5);
	assert_int_equal(w->time_ns, 100);
	assert_int_equal(w->kind, WIRE_CALL);
	assert_int_equal(w->tgid, 7);
	assert_int_equal(w->tid, 8);
	assert_int_equal(w->func, entry_by_symbol("aclprofSetStampTraceMessage")->func);
	assert_int_equal(w->arg0, 0x10);
	assert_int_equal(w->arg1, 5);
	assert_int_equal(w->seq, 1);
	assert_int_equal(g.recs[1].w.time_ns, 105);
	assert_true(g.recs[1].w.arg0 == UINT64_MAX);
	assert_int_equal(g.recs[2].w.kind, WIRE_RETURN);
	assert_int_equal(g.recs[2].w.time_ns, 110);
	assert_int_equal(g.recs[2].w.arg1, 3);
	assert_int_equal(g.recs[2].w.seq, 1);
}

/* The example worked through by hand, as the probes do it. */
static void bookkeeping_is_that_of_the_kernel_side(void **state)
{
	static const struct {
		unsigned int seq, gap, depth, min_depth;
	} expected[] = {{1, 0, 0, 0}, {2, 0, 1, 1}, {5, 2, 2, 1}, {6, 2, 1, 1}};
	struct got g = run("10 7 push stamp=1\n"
			   "20 7 push stamp=1\n"
			   "30 7 lost pop\n"
			   "40 7 lost push stamp=1\n"
			   "50 7 pop\n"
			   "60 7 pop\n");

	(void)state;
	assert_int_equal(g.n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(g.recs[i].w.seq, expected[i].seq);
		assert_int_equal(g.recs[i].w.gap, expected[i].gap);
		assert_int_equal(g.recs[i].w.depth, expected[i].depth);
		assert_int_equal(g.recs[i].w.min_depth, expected[i].min_depth);
	}
}

static void a_failed_push_is_taken_back(void **state)
{
	struct got g = run("10 7 push stamp=1 ret=-1\n20 7 push stamp=0 ret=-1\n30 7 pop\n");

	(void)state;
	assert_int_equal(g.n, 5);
	assert_int_equal(g.recs[1].w.depth, 0);
	assert_true(g.recs[1].w.arg0 == UINT64_MAX);
	assert_int_equal(g.recs[3].w.depth, 1);
	assert_int_equal(g.recs[4].w.depth, 1);
}

static void threads_and_processes_come_and_go(void **state)
{
	struct got g = run("10 7 push stamp=1\n"
			   "20 7 lost fork child=8\n"
			   "30 8 push stamp=1\n"
			   "40 7 exec \"x\"\n"
			   "50 7 pop\n"
			   "60 7 exit last\n"
			   "70 7 pop\n");

	(void)state;
	assert_int_equal(g.n, 6);
	assert_int_equal(g.recs[1].w.gap, 1); /* what the child inherited is not known */
	assert_int_equal(g.recs[2].w.gap, 1);
	assert_int_equal(g.recs[3].w.seq, 1); /* exec: new thread state */
	assert_int_equal(g.recs[3].w.depth, 0);
	assert_int_equal(g.recs[4].w.flags, WIRE_F_LAST);
	assert_int_equal(g.recs[4].w.seq, 1);
	assert_int_equal(g.recs[5].w.gap, 0); /* another process */
}

static void losses_and_totals_add_up(void **state)
{
	struct got g = run("10 7 lost pop\n20 7 lost pop\n30 7 pop\n40 - losses\n50 - losses\n"
			   "60 7 start stamp=1\n61 7 lost return start id=1\n70 - counts\n");
	struct wire_count total;

	(void)state;
	assert_int_equal(g.n, 6);
	assert_int_equal(g.recs[1].w.kind, WIRE_LOSS);
	assert_int_equal(g.recs[1].w.arg0, 10);
	assert_int_equal(g.recs[1].w.arg1, 2);
	assert_int_equal(g.recs[3].w.kind, WIRE_COUNT);
	memcpy(&total, g.recs[3].msg, sizeof(total));
	assert_int_equal(total.calls, 3);
	assert_int_equal(total.lost, 2);
	assert_int_equal(g.recs[4].w.flags, WIRE_F_RETURNS);
	memcpy(&total, g.recs[5].msg, sizeof(total));
	assert_int_equal(total.lost_returns, 1);
}

static void anything_can_be_overridden(void **state)
{
	struct got g = run("10 7 pop kind=9 func=8 seq=7 gap=6 depth=5 min_depth=4 arg0=3 arg1=2 "
			   "flags=1 msg_len=11 size=20\n"
			   "20 7 payload stamp=1 type=-2 value=0x0807060504030201 size=4\n"
			   "30 - raw \"\\x00\\xff\"\n");
	const struct wire *w = &g.recs[0].w;

	(void)state;
	assert_int_equal(g.sizes[0], 20);
	assert_int_equal(w->kind, 9);
	assert_int_equal(w->func, 8);
	assert_int_equal(g.recs[1].w.msg_len, 4);
	assert_int_equal((int32_t)g.recs[1].w.arg1, -2);
	assert_memory_equal(g.recs[1].msg, "\1\2\3\4", 4);
	assert_int_equal(g.sizes[2], 2);
}

static void a_mistake_is_named_with_its_line(void **state)
{
	static const struct {
		const char *script, *err;
	} cases[] = {
		{"x", "line 1: not a time"},
		{"10 7 pop\n\n10 z pop", "line 3: not a process id"},
		{"10 7/z pop", "line 1: not a thread id"},
		{"10 7", "line 1: unknown verb"},
		{"10 7 leap", "line 1: unknown verb"},
		{"10 7 pop high", "line 1: unknown word"},
		{"10 7 pop height=3", "line 1: unknown key"},
		{"10 7 pop seq=", "line 1: not a number"},
		{"10 7 pop seq=18446744073709551616", "line 1: not a number"},
		{"10 7 pop seq=0x", "line 1: not a number"},
		{"10 7 msg \"abc", "line 1: text does not end"},
		{"10 7 msg \"\\", "line 1: bad escape"},
		{"10 7 msg \"\\x4\"", "line 1: bad escape"},
		{"10 7 msg \"\\q\"", "line 1: bad escape"},
		{"10 7 return leap", "line 1: unknown function"},
		{"10 7 fact leap \"x\"", "line 1: unknown fact"},
	};
	struct got g;
	char err[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		g = (struct got){0};
		assert_err(evscript_run(cases[i].script, strlen(cases[i].script), keep, &g, err,
					sizeof(err)),
			   EINVAL);
		assert_string_equal(err, cases[i].err);
	}
	assert_err(evscript_run("x", 1, keep, &g, err, 0), EINVAL);
	assert_err(evscript_run("x", 1, keep, &g, err, 5), EINVAL);
	assert_string_equal(err, "line");
}

static void the_receivers_error_comes_back(void **state)
{
	struct got g = {.n = 16};
	char err[32];

	(void)state;
	assert_err(evscript_run("10 7 pop\n", 9, keep, &g, err, sizeof(err)), ENOBUFS);
	assert_string_equal(err, "");
}

static int ignore(void *ctx, const void *rec, size_t sz)
{
	(void)ctx;
	(void)rec;
	(void)sz;
	return 0;
}

/* Every prefix, and every byte changed: on the heap, so that a byte too many is seen. */
static void no_bytes_do_harm(void **state)
{
	static const char script[] = "10 7/8 msg stamp=0x10 \"a\\x41\\n\"\n"
				     "+5 7 lost start stamp=-1 id=3 at=110 noid\n"
				     "20 - count push calls=3\n30 - fact host \"h\"#\n40 - counts";
	const size_t len = sizeof(script) - 1;
	char err[64];

	(void)state;
	for (size_t n = 0; n <= len; n++) {
		char *copy = malloc(n ? n : 1);

		assert_non_null(copy);
		memcpy(copy, script, n);
		(void)evscript_run(copy, n, ignore, NULL, err, sizeof(err));
		for (unsigned int c = 0; n == len && c < 256 * len; c++) {
			copy[c / 256] = (char)c;
			(void)evscript_run(copy, n, ignore, NULL, err, sizeof(err));
			copy[c / 256] = script[c / 256];
		}
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_becomes_a_record),
		cmocka_unit_test(bookkeeping_is_that_of_the_kernel_side),
		cmocka_unit_test(a_failed_push_is_taken_back),
		cmocka_unit_test(threads_and_processes_come_and_go),
		cmocka_unit_test(losses_and_totals_add_up),
		cmocka_unit_test(anything_can_be_overridden),
		cmocka_unit_test(a_mistake_is_named_with_its_line),
		cmocka_unit_test(the_receivers_error_comes_back),
		cmocka_unit_test(no_bytes_do_harm),
	};

	return RUN(tests);
}
