// SPDX-License-Identifier: GPL-2.0-only
/* What surrounds the spans: begin and end, clocks, facts, order of telling, errors, any bytes. */
#include "harness/expect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/evscript.h"
#include "wire.h"

static const struct pipeline_config plain;

static void everything_is_told_in_epoch_time(void **state)
{
	(void)state;
	expect_what(REC_SPANS | REC_META | REC_TALLIES, plain,
		    "100 - clock real=1000100 boot=7\n"
		    "110 - fact host \"box\"\n"
		    "110 - fact version \"1.2\"\n"
		    "120 7 push stamp=1\n"
		    "130 7 pop\n"
		    "140 7 push stamp=1\n"
		    "150 - loss push count=1 from=135\n"
		    "200 - clock real=9999999 boot=8\n",
		    "begin host=box version=1.2 first=100/1000100/7 last=0/0/0\n"
		    "loss aclprofPush 1 1000135..1000150\n"
		    "push/pop \"\" 1000120..1000130 7/7 complete\n"
		    "push/pop \"\" 1000140.. 7/7 open\n"
		    "end host=box version=1.2 first=100/1000100/7 last=200/9999999/8 complete\n");
}

static void the_epoch_may_lie_before_the_clock(void **state)
{
	(void)state;
	/* realtime below monotonic: the sum is what counts. */
	expect("100 - clock real=50\n120 7 mark stamp=1\n", "marker \"\" 70 7/7 complete\n");
	/* No clock at all. */
	expect("120 7 mark stamp=1\n", "marker \"\" 120 7/7 complete\n");
}

/* What only the totals know of was lost at some time of the trace: not before it. */
static void a_loss_of_unknown_time_is_in_the_trace(void **state)
{
	(void)state;
	expect("100 - clock real=1000100 boot=7\n"
	       "120 7 mark stamp=1\n"
	       "150 7 mark stamp=1\n"
	       "160 - count mark calls=3 lost=1 lost_returns=2\n"
	       "200 - clock real=9999999 boot=8\n",
	       "marker \"\" 1000120 7/7 complete\n"
	       "marker \"\" 1000150 7/7 complete\n"
	       "loss aclprofMark 1 1000100..1000200\n"
	       "lost_return aclprofMark 2 1000100..1000200\n");
	expect("120 7 mark stamp=1\n160 - count mark calls=2 lost=1\n",
	       "marker \"\" 120 7/7 complete\n"
	       "loss aclprofMark 1 120..120\n");
}

static void an_empty_trace_has_a_begin_and_an_end(void **state)
{
	(void)state;
	expect_what(~0u, plain, "",
		    "begin host= version= first=0/0/0 last=0/0/0\n"
		    "end host= version= first=0/0/0 last=0/0/0 complete\n");
}

static void processes_are_told_before_what_they_did(void **state)
{
	(void)state;
	expect_what(REC_SPANS | REC_TRACKS, plain,
		    "10 7 fact name \"py\\0thon\"\n"
		    "10 7 fact cmdline \"python\\0-c\\0x y\\0\"\n"
		    "10 7 fact exe \"/usr/bin/python\"\n"
		    "10 7 fact nspid \"3\"\n"
		    "10 7 fact rank \"5\"\n"
		    "10 7/8 fact thread \"worker\"\n"
		    "20 7 mark stamp=1\n"
		    "30 7 mark stamp=1\n"
		    "40 7 fact rank \"6\"\n"
		    "41 7 fact rank \"6\"\n"
		    "50 7 mark stamp=1\n"
		    "60 7 fact rank \"-6\"\n"
		    "60 7 fact nspid \"4294967296\"\n",
		    "process 7 nspid=3 ppid=0 rank=5 \"py\" cmdline=\"python -c x y\" "
		    "exe=\"/usr/bin/python\"\n"
		    "thread 7/8 \"worker\"\n"
		    "marker \"\" 20 7/7 complete\n"
		    "marker \"\" 30 7/7 complete\n"
		    "process 7 nspid=3 ppid=0 rank=6 \"py\" cmdline=\"python -c x y\" "
		    "exe=\"/usr/bin/python\"\n"
		    "marker \"\" 50 7/7 complete\n"
		    "process 7 nspid=3 ppid=0 rank=-1 \"py\" cmdline=\"python -c x y\" "
		    "exe=\"/usr/bin/python\"\n");
}

static void children_come_from_their_parents(void **state)
{
	(void)state;
	expect_what(REC_SPANS | REC_TRACKS, plain,
		    "10 7 fact name \"sh\"\n"
		    "11 7 fact cmdline \"sh\"\n"
		    "12 7 fact exe \"/bin/sh\"\n"
		    "13 7 category_name number=1 \"c\"\n"
		    "14 7 category stamp=1 number=1\n"
		    "20 7 fork child=9 \"sh\"\n"
		    "25 9 mark stamp=1\n"
		    "30 9 exec \"prog\"\n"
		    "31 9 fact exe \"/bin/prog\"\n"
		    "35 9 mark stamp=1\n"
		    "40 9 exit last\n"
		    "50 9 mark stamp=1\n",
		    "process 7 nspid=0 ppid=0 rank=-1 \"sh\" cmdline=\"sh\" exe=\"/bin/sh\"\n"
		    "category 7/1 \"c\"\n"
		    "process 9 nspid=0 ppid=7 rank=-1 \"sh\" cmdline=\"sh\" exe=\"/bin/sh\"\n"
		    "category 9/1 \"c\"\n"
		    "marker \"\" 25 9/9 complete category=1\n"
		    "process 9 nspid=0 ppid=7 rank=-1 \"prog\" cmdline=\"\" exe=\"/bin/prog\"\n"
		    "marker \"\" 35 9/9 complete\n"
		    "process 9 nspid=0 ppid=0 rank=-1 \"\" cmdline=\"\" exe=\"\"\n"
		    "marker \"\" 50 9/9 complete\n");
}

static void what_ended_keeps_the_name_it_had(void **state)
{
	(void)state;
	expect_what(REC_SPANS | REC_TRACKS, plain,
		    "10 7 fact name \"old\"\n"
		    "20 7 push stamp=1\n"
		    "30 7 exec \"new\"\n"
		    "40 7 exit last\n",
		    "process 7 nspid=0 ppid=0 rank=-1 \"old\" cmdline=\"\" exe=\"\"\n"
		    "push/pop \"\" 20..30 7/7 unfinished\n"
		    "process 7 nspid=0 ppid=0 rank=-1 \"new\" cmdline=\"\" exe=\"\"\n");
}

static void processes_that_did_nothing_are_told_at_the_end(void **state)
{
	(void)state;
	expect_what(REC_TRACKS, plain,
		    "10 7 fact name \"sh\"\n20 8 fact name \"x\"\n30 8 exit last\n",
		    "process 8 nspid=0 ppid=0 rank=-1 \"x\" cmdline=\"\" exe=\"\"\n"
		    "process 7 nspid=0 ppid=0 rank=-1 \"sh\" cmdline=\"\" exe=\"\"\n");
}

static void facts_in_the_capture_come_with_begin(void **state)
{
	(void)state;
	/* Facts about processes wait for their turn, so those about the capture are known. */
	expect_what(REC_META | REC_TRACKS, plain,
		    "10 7 fact name \"a\"\n10 7/7 fact thread \"t\"\n20 - fact host \"h\"\n"
		    "30 - watermark\n",
		    "begin host=h version= first=0/0/0 last=0/0/0\n"
		    "process 7 nspid=0 ppid=0 rank=-1 \"a\" cmdline=\"\" exe=\"\"\n"
		    "thread 7/7 \"t\"\n"
		    "end host=h version= first=0/0/0 last=0/0/0 complete\n");
}

static void records_out_of_order_are_put_in_order(void **state)
{
	(void)state;
	expect("30 7/8 pop seq=2 depth=1 min_depth=1\n"
	       "20 7/8 push stamp=1 seq=1 depth=0 min_depth=0\n"
	       "40 - watermark\n",
	       "push/pop \"\" 20..30 7/8 complete\n");
}

static void what_cannot_be_decoded_is_counted(void **state)
{
	(void)state;
	expect("10 7 mark stamp=1\n"
	       "11 7 mark stamp=1 kind=99\n"
	       "12 7 mark stamp=1 func=200\n"
	       "13 7 mark stamp=1 msg_len=9\n"
	       "14 - raw \"\"\n"
	       "15 - raw \"rubbish\"\n"
	       "16 7 loaded\n",
	       "marker \"\" 10 7/7 complete\n"
	       "bad 5\n");
}

/* ---- Errors -------------------------------------------------------------------------------- */

struct failing {
	unsigned int calls, fail_at;
};

static int fail_some(struct failing *f)
{
	return ++f->calls == f->fail_at ? -ENOSPC : 0;
}

#define FAILING(name, type)                                                                        \
	static int name(void *ctx, const struct type *arg)                                         \
	{                                                                                          \
		(void)arg;                                                                         \
		return fail_some(ctx);                                                             \
	}
FAILING(fail_meta, trace_meta)
FAILING(fail_process, process)
FAILING(fail_label, label)
FAILING(fail_span, span)
FAILING(fail_tally, tally)

static int push(void *ctx, const void *rec, size_t sz)
{
	return pipeline_push(ctx, rec, sz);
}

static void the_first_error_of_the_consumer_stops_all(void **state)
{
	static const char script[] = "10 7/7 fact thread \"t\"\n"
				     "20 7 category_name number=1 \"c\"\n"
				     "30 7 push stamp=1\n40 7 pop\n50 7 pop\n"
				     "55 7 create ptr=0\n"
				     "60 - loss pop count=1 from=2\n"
				     "70 7 start stamp=1\n"
				     "80 - watermark\n"
				     "90 8 push stamp=1\n";
	unsigned int fail_at = 1;

	(void)state;
	for (;; fail_at++) {
		struct failing f = {.fail_at = fail_at};
		const struct consumer next = {.ctx = &f,
					      .begin = fail_meta,
					      .process = fail_process,
					      .thread = fail_label,
					      .category = fail_label,
					      .span = fail_span,
					      .tally = fail_tally,
					      .end = fail_meta};
		struct pipeline *p;
		char err[64];
		int ret;

		assert_ok(pipeline_new(&plain, &next, &p));
		ret = evscript_run(script, sizeof(script) - 1, push, p, err, sizeof(err));
		assert_string_equal(err, "");
		if (ret)
			assert_err(pipeline_push(p, "", 0), ENOSPC);
		ret = pipeline_finish(p, true);
		if (!ret) {
			pipeline_free(p);
			break;
		}
		assert_err(ret, ENOSPC);
		assert_int_equal(f.calls, fail_at); /* nobody is called after an error */
		pipeline_free(p);
	}
	assert_true(fail_at > 10);
}

static void a_consumer_need_not_take_everything(void **state)
{
	static const char script[] = "10 7/7 fact thread \"t\"\n"
				     "20 7 category_name number=1 \"c\"\n"
				     "30 7 push stamp=1\n40 7 pop\n50 7 pop\n";
	const struct consumer nothing = {0};
	struct pipeline *p;
	char err[64];

	(void)state;
	assert_ok(pipeline_new(&plain, &nothing, &p));
	assert_ok(evscript_run(script, sizeof(script) - 1, push, p, err, sizeof(err)));
	assert_ok(pipeline_finish(p, false));
	pipeline_free(p);
	pipeline_free(NULL);
}

/* ---- Any bytes ----------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 20;
}

static int check_span(void *ctx, const struct span *sp)
{
	uint64_t *n = ctx;

	++*n;
	assert_true(sp->name || !sp->name_len);
	assert_true(sp->name_len <= WIRE_MSG_MAX);
	assert_true(!memchr(sp->name, 0, sp->name_len));
	assert_true(sp->status != SPAN_COMPLETE || sp->has_end);
	return 0;
}

/* Few ids and near times, so that the garbage meets itself. */
static void garbage(struct wire *w, uint64_t *random)
{
	static const __u8 kinds[] = {1, 1, 1, 1, 1, 2, 2, 2, 3, 4, 5, 6, 16, 17, 18, 19, 20, 99};
	uint64_t r = next_random(random);

	*w = (struct wire){
		.time_ns = r & 1 ? next_random(random) % 5000 : next_random(random) << 20,
		.tgid = (r >> 1) % 4,
		.tid = (r >> 3) % 4,
		.kind = kinds[(r >> 5) % sizeof(kinds)],
		.func = (r >> 11) % 15,
		.seq = (r >> 15) % 8,
		.gap = (r >> 18) % 3,
		.depth = (__u16)(r & 1u << 20 ? r >> 21 & 3 : next_random(random)),
		.min_depth = (__u16)(r & 1u << 23 ? r >> 24 & 3 : next_random(random)),
		.arg0 = r & 1u << 26 ? r >> 27 & 7 : next_random(random) << 21,
		.arg1 = (__u32)(r & 1u << 30 ? r >> 31 & 7 : next_random(random)),
		.flags = (__u16)(r >> 34 & 63 & next_random(random)),
		.msg_len = (__u16)(next_random(random) % 40),
	};
	if (!(r >> 40 & 15))
		w->time_ns = UINT64_MAX - (r & 3);
	w->len = (__u16)(sizeof(*w) + w->msg_len - !(r >> 38 & 15));
}

static void hostile_records_do_no_harm(void **state)
{
	struct {
		struct wire w;
		char msg[64];
	} rec;
	uint64_t random = 7, spans = 0;

	(void)state;
	memset(rec.msg, 'x', sizeof(rec.msg));
	for (unsigned int round = 0; round < 300; round++) {
		const struct pipeline_config cfg = {.lifecycle = round & 1, .returns = round & 2};
		const struct consumer next = {.ctx = &spans, .span = check_span};
		struct pipeline *p;

		assert_ok(pipeline_new(&cfg, &next, &p));
		for (unsigned int i = 0; i < 600; i++) {
			garbage(&rec.w, &random);
			/* Without the mark at the end of time most rounds go on for long. */
			if (rec.w.kind == WIRE_WATERMARK && round & 4)
				rec.w.time_ns %= 5000;
			rec.msg[next_random(&random) % sizeof(rec.msg)] ^= 'x';
			assert_ok(pipeline_push(p, &rec,
						next_random(&random) % 3
							? sizeof(rec)
							: next_random(&random) % sizeof(rec)));
		}
		assert_ok(pipeline_finish(p, true));
		pipeline_free(p);
	}
	assert_true(spans > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_told_in_epoch_time),
		cmocka_unit_test(the_epoch_may_lie_before_the_clock),
		cmocka_unit_test(an_empty_trace_has_a_begin_and_an_end),
		cmocka_unit_test(processes_are_told_before_what_they_did),
		cmocka_unit_test(children_come_from_their_parents),
		cmocka_unit_test(what_ended_keeps_the_name_it_had),
		cmocka_unit_test(processes_that_did_nothing_are_told_at_the_end),
		cmocka_unit_test(facts_in_the_capture_come_with_begin),
		cmocka_unit_test(records_out_of_order_are_put_in_order),
		cmocka_unit_test(what_cannot_be_decoded_is_counted),
		cmocka_unit_test(a_loss_of_unknown_time_is_in_the_trace),
		cmocka_unit_test(the_first_error_of_the_consumer_stops_all),
		cmocka_unit_test(a_consumer_need_not_take_everything),
		cmocka_unit_test(hostile_records_do_no_harm),
	};

	return RUN(tests);
}
