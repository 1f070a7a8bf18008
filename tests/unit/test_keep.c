// SPDX-License-Identifier: GPL-2.0-only
/* What is repeated of dropped records. That it is enough: test_property. */
#include "harness/test.h"

#include <stdio.h>
#include <string.h>

#include "core/entry.h"
#include "store/keep.h"

#define RECS 64

struct out {
	struct {
		struct wire w;
		char text[32];
	} v[RECS];
	size_t n;
};

static int put(void *ctx, const void *rec, size_t sz)
{
	struct out *o = ctx;

	assert_true(o->n < RECS && sz <= sizeof(o->v[0]));
	memset(&o->v[o->n], 0, sizeof(o->v[0]));
	memcpy(&o->v[o->n++], rec, sz);
	return 0;
}

static void note(struct keep *k, struct wire w, const char *text)
{
	char buf[sizeof(w) + 64];

	w.time_ns = w.time_ns ?: k->last_ns + 1;
	w.msg_len = (__u16)strlen(text);
	w.len = (__u16)(sizeof(w) + w.msg_len);
	memcpy(buf, &w, sizeof(w));
	memcpy(buf + sizeof(w), text, w.msg_len);
	assert_ok(keep_note(k, buf));
}

static void note_fact(struct keep *k, uint32_t tgid, enum wire_fact fact, const char *text)
{
	note(k, (struct wire){.kind = WIRE_FACT, .tgid = tgid, .arg1 = fact}, text);
}

static __u8 func(const char *symbol)
{
	return entry_by_symbol(symbol)->func;
}

static void set_text(struct keep *k, uint32_t tgid, uint64_t stamp, const char *text)
{
	note(k,
	     (struct wire){.kind = WIRE_CALL,
			   .func = func("aclprofSetStampTraceMessage"),
			   .tgid = tgid,
			   .tid = tgid,
			   .arg0 = stamp},
	     text);
}

static struct out begin(struct keep *k)
{
	struct out o = {.n = 0};

	keep_next_part(k);
	assert_ok(keep_begin(k, put, &o));
	return o;
}

static size_t count(const struct out *o, uint8_t kind, uint32_t tgid)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		n += o->v[i].w.kind == kind && o->v[i].w.tgid == tgid;
	return n;
}

static size_t texts(const struct out *o, const char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++)
		n += !strcmp(o->v[i].text, text);
	return n;
}

static void every_option_is_a_fact_of_its_own(void **state)
{
	struct keep k = {.room = 1 << 20};
	struct out o;

	(void)state;
	note_fact(&k, 0, FACT_OPTION, "lifecycle=1");
	note_fact(&k, 0, FACT_OPTION, "returns=1");
	note_fact(&k, 0, FACT_OPTION, "returns=1");
	note_fact(&k, 0, FACT_HOST, "a=b");
	note_fact(&k, 0, FACT_HOST, "c=d");
	for (int part = 0; part < 3; part++) {
		o = begin(&k);
		assert_int_equal(o.n, 3);
		assert_int_equal(texts(&o, "lifecycle=1"), 1);
		assert_int_equal(texts(&o, "returns=1"), 1);
		assert_int_equal(texts(&o, "c=d"), 1);
	}
	keep_free(&k);
}

/* It says when tracing began, and all times follow it. */
static void the_first_clock_stays(void **state)
{
	struct keep k = {.room = 1 << 20};
	struct out o;

	(void)state;
	for (__u64 i = 1; i <= 3; i++) {
		note(&k, (struct wire){.kind = WIRE_CLOCK, .time_ns = i * 100, .arg0 = i},
		     "boottime");
		o = begin(&k);
		assert_int_equal(count(&o, WIRE_CLOCK, 0), 1);
		assert_true(o.v[0].w.kind == WIRE_CLOCK && o.v[0].w.arg0 == 1);
	}
	keep_free(&k);
}

static void the_last_setting_of_each_stamp(void **state)
{
	struct keep k = {.room = 1 << 20};
	const __u8 msg = func("aclprofSetStampTraceMessage");
	struct out o;

	(void)state;
	set_text(&k, 7, 1, "old");
	set_text(&k, 7, 1, "a longer one");
	set_text(&k, 7, 2, "two");
	set_text(&k, 8, 1, "other");
	set_text(&k, 7, 0, "null");
	set_text(&k, 7, 7, "seven");
	/* Came later, but was earlier. */
	note(&k,
	     (struct wire){
		     .kind = WIRE_CALL, .time_ns = 1, .func = msg, .tgid = 7, .tid = 9, .arg0 = 2},
	     "late");
	o = begin(&k);
	assert_int_equal(count(&o, WIRE_CALL, 7), 4);
	assert_int_equal(texts(&o, "a longer one"), 1);
	assert_int_equal(texts(&o, "two"), 1);
	assert_int_equal(texts(&o, "null") + texts(&o, "seven") + texts(&o, "other"), 3);
	/* Seven calls, of which five are there again. */
	assert_int_equal(count(&o, WIRE_LOSS, 0), 1);
	assert_int_equal(o.v[o.n - 1].w.arg1, 2);
	assert_int_equal(keep_dropped(&k, msg), 0);
	o = begin(&k);
	assert_int_equal(keep_dropped(&k, msg), 2);
	assert_int_equal(count(&o, WIRE_DROPPED, 7), 0);
	keep_free(&k);
}

static void what_ended_is_forgotten(void **state)
{
	struct keep k = {.room = 1 << 20};
	struct out o;

	(void)state;
	for (uint32_t pid = 1; pid <= 20000; pid++) {
		note_fact(&k, pid, FACT_NAME, "name");
		note_fact(&k, pid, FACT_EXE, "exe");
		set_text(&k, pid, 1, "text");
		if (pid > 3)
			note(&k,
			     (struct wire){.kind = WIRE_EXIT,
					   .tgid = pid,
					   .tid = pid,
					   .flags = WIRE_F_LAST},
			     "");
	}
	note(&k, (struct wire){.kind = WIRE_EXEC, .tgid = 2, .tid = 2}, "new");
	note(&k, (struct wire){.kind = WIRE_EXIT, .tgid = 3, .tid = 4}, "");
	o = begin(&k);
	assert_int_equal(count(&o, WIRE_FACT, 1) + count(&o, WIRE_CALL, 1), 3);
	assert_int_equal(count(&o, WIRE_FACT, 2) + count(&o, WIRE_CALL, 2), 2);
	assert_int_equal(count(&o, WIRE_FACT, 3) + count(&o, WIRE_CALL, 3), 3);
	assert_int_equal(o.n, 9);
	keep_free(&k);
}

static void name_thread(struct keep *k, uint32_t tgid, uint32_t tid, const char *name)
{
	note(k,
	     (struct wire){.kind = WIRE_FACT, .tgid = tgid, .tid = tid, .arg1 = FACT_THREAD_NAME},
	     name);
}

static void end_thread(struct keep *k, uint32_t tgid, uint32_t tid)
{
	note(k, (struct wire){.kind = WIRE_EXIT, .tgid = tgid, .tid = tid}, "");
}

/* A thread's name survives as long as it lives; it takes nothing of the room. */
static void names_of_threads_that_live(void **state)
{
	struct keep k = {.room = 0};
	struct out o;

	(void)state;
	note_fact(&k, 7, FACT_NAME, "seven");
	name_thread(&k, 7, 7, "main");
	name_thread(&k, 7, 8, "loader");
	name_thread(&k, 9, 8, "of another process");
	for (uint32_t tid = 100; tid < 20000; tid++) {
		name_thread(&k, 7, tid, "short-lived");
		end_thread(&k, 7, tid);
	}
	for (int part = 0; part < 3; part++) {
		o = begin(&k);
		assert_int_equal(o.n, 4);
		for (size_t i = 0; i < o.n; i++)
			assert_int_equal(o.v[i].w.kind, WIRE_FACT);
		assert_int_equal(texts(&o, "main") + texts(&o, "loader"), 2);
	}
	end_thread(&k, 7, 8);
	name_thread(&k, 7, 8, "its number, again");
	o = begin(&k);
	assert_int_equal(o.n, 4);
	assert_int_equal(texts(&o, "loader"), 0);
	assert_int_equal(texts(&o, "its number, again"), 1);
	/* The threads of the old program are gone, without a word where one of them ran it. */
	note(&k, (struct wire){.kind = WIRE_EXEC, .tgid = 7, .tid = 7}, "new");
	o = begin(&k);
	assert_int_equal(count(&o, WIRE_FACT, 7), 1);
	assert_int_equal(texts(&o, "seven"), 1);
	assert_int_equal(count(&o, WIRE_FACT, 9), 1);
	keep_free(&k);
}

static int count_records(void *ctx, const void *rec, size_t sz)
{
	size_t *n = ctx;

	(void)rec;
	(void)sz;
	++*n;
	return 0;
}

/* Exits can be lost: no more names than there can be threads at a time. */
static void names_of_threads_are_bounded(void **state)
{
	struct keep k = {.room = 1 << 20};
	size_t n = 0;

	(void)state;
	for (uint32_t tid = 1; tid < 3 * PROBE_MAX_THREADS; tid++)
		name_thread(&k, 7, tid, "its exit was lost");
	keep_next_part(&k);
	assert_ok(keep_begin(&k, count_records, &n));
	assert_int_equal(n, PROBE_MAX_THREADS);
	keep_free(&k);
}

/* What is known to be missing is told: too much for the room, or inherited. */
static void what_is_not_kept_is_unknown(void **state)
{
	struct keep k = {.room = 4 * (2 * sizeof(struct wire) + 8)};
	struct out o;

	(void)state;
	note_fact(&k, 7, FACT_NAME, "seven");
	for (uint64_t stamp = 1; stamp < 20; stamp++)
		set_text(&k, 7, stamp, "12345678");
	o = begin(&k);
	assert_int_equal(count(&o, WIRE_CALL, 7), 4);
	assert_int_equal(count(&o, WIRE_DROPPED, 7), 1);
	assert_int_equal(o.v[0].w.kind, WIRE_FACT); /* where readers look for them */
	assert_int_equal(o.v[1].w.arg1, DROPPED_STAMPS);
	note(&k, (struct wire){.kind = WIRE_EXEC, .tgid = 7, .tid = 7}, "new");
	assert_int_equal(k.used, 0);
	note(&k, (struct wire){.kind = WIRE_FORK, .tgid = 7, .tid = 7, .arg0 = 8}, "kid");
	set_text(&k, 7, 1, "one");
	note(&k, (struct wire){.kind = WIRE_FORK, .tgid = 7, .tid = 7, .arg0 = 9}, "kid");
	note(&k, (struct wire){.kind = WIRE_FORK, .tgid = 9, .tid = 9, .arg0 = 10}, "kid");
	o = begin(&k);
	assert_int_equal(count(&o, WIRE_DROPPED, 7) + count(&o, WIRE_DROPPED, 8), 0);
	assert_int_equal(count(&o, WIRE_DROPPED, 9), 1);
	assert_int_equal(count(&o, WIRE_DROPPED, 10), 1);
	keep_free(&k);
}

/* A begun range is repeated as its return, so that its stop is no orphan; in flight: unknown. */
static void begun_ranges(void **state)
{
	const __u8 start = func("aclprofRangeStart"), stop = func("aclprofRangeStop");
	const struct wire call = {.kind = WIRE_CALL, .func = start, .tgid = 7, .tid = 7, .arg0 = 1};
	const struct wire ret = {.kind = WIRE_RETURN, .func = start, .tgid = 7, .tid = 7};
	struct keep k = {.room = 1 << 20};
	struct wire w = ret;
	struct out o;

	(void)state;
	for (w.arg1 = 1; w.arg1 <= 3; w.arg1++) {
		note(&k, call, "");
		note(&k, w, "");
	}
	w.arg0 = 1; /* failed */
	note(&k, call, "");
	note(&k, w, "");
	note(&k, (struct wire){.kind = WIRE_CALL, .func = stop, .tgid = 7, .tid = 8, .arg0 = 2},
	     "");
	o = begin(&k);
	assert_int_equal(count(&o, WIRE_RETURN, 7), 2);
	assert_int_equal(count(&o, WIRE_DROPPED, 7), 0);
	note(&k, call, "");
	o = begin(&k);
	assert_int_equal(count(&o, WIRE_RETURN, 7), 2);
	assert_int_equal(count(&o, WIRE_DROPPED, 7), 1);
	assert_int_equal(o.v[0].w.arg1, DROPPED_RANGES);
	keep_free(&k);
}

static void note_created(struct keep *k, uint64_t stamp, uint64_t time_ns)
{
	note(k,
	     (struct wire){.kind = WIRE_RETURN,
			   .time_ns = time_ns,
			   .func = func("aclprofCreateStamp"),
			   .tgid = 7,
			   .tid = 8,
			   .arg0 = stamp},
	     "");
}

static void note_set(struct keep *k, int64_t failed)
{
	note(k,
	     (struct wire){.kind = WIRE_RETURN,
			   .func = func("aclprofSetStampTraceMessage"),
			   .tgid = 7,
			   .tid = 7,
			   .arg0 = (uint64_t)failed},
	     "");
}

/* What is set when another thread creates the stamp is gone, whatever arrives first. */
static void a_created_stamp_carries_nothing(void **state)
{
	struct keep k = {.room = 1 << 20, .lifecycle = true, .returns = true};
	struct out o;

	(void)state;
	set_text(&k, 7, 1, "before");
	note_set(&k, 0);
	note_created(&k, 1, 0);
	set_text(&k, 7, 2, "in flight");
	note_created(&k, 2, 0);
	note_set(&k, 0);
	set_text(&k, 7, 3, "after");
	note_set(&k, 0);
	note_created(&k, 3, 1);
	set_text(&k, 7, 4, "failed");
	note_set(&k, -1);
	set_text(&k, 7, 5, "not returned");
	note_created(&k, 5, 1);
	o = begin(&k);
	assert_int_equal(texts(&o, "after") + texts(&o, "not returned"), 2);
	assert_int_equal(count(&o, WIRE_CALL, 7), 2);
	set_text(&k, 7, 6, "at the cut");
	note_created(&k, 6, 0);
	o = begin(&k);
	assert_int_equal(texts(&o, "at the cut"), 0);
	assert_int_equal(texts(&o, "after") + texts(&o, "not returned"), 2);
	keep_free(&k);
}

/* Of both kinds that a record of loss tells, and when it was. */
static void losses_keep_their_window(void **state)
{
	struct keep k = {.room = 1 << 20};
	struct out o;

	(void)state;
	note_fact(&k, 7, FACT_NAME, "p");
	note(&k,
	     (struct wire){.kind = WIRE_LOSS,
			   .time_ns = 900,
			   .func = func("aclprofPop"),
			   .flags = WIRE_F_RETURNS,
			   .arg1 = 5},
	     "");
	for (int part = 0; part < 2; part++) {
		o = begin(&k);
		assert_int_equal(count(&o, WIRE_LOSS, 0), 1);
		for (size_t i = 0; i < o.n; i++) {
			const struct wire *w = &o.v[i].w;

			if (w->kind != WIRE_LOSS)
				continue;
			assert_int_equal(w->func, func("aclprofPop"));
			assert_int_equal(w->flags, WIRE_F_RETURNS);
			assert_int_equal(w->arg1, 5);
			assert_int_equal(w->arg0, 1);
			assert_int_equal(w->time_ns, 900);
		}
	}
	keep_free(&k);
}

/* A stop before the return of its start: nothing has begun. */
static void a_stop_can_come_before_the_return(void **state)
{
	const __u8 start = func("aclprofRangeStart"), stop = func("aclprofRangeStop");
	const struct wire call = {.kind = WIRE_CALL, .func = start, .tgid = 7, .tid = 7, .arg0 = 1};
	const struct wire end = {.kind = WIRE_CALL, .func = stop, .tgid = 7, .tid = 8, .arg0 = 3};
	struct wire ret = {.kind = WIRE_RETURN, .func = start, .tgid = 7, .tid = 7, .arg1 = 3};
	struct keep k = {.room = 1 << 20};
	struct out o;

	(void)state;
	note(&k, end, ""); /* of none: no start is in flight */
	note(&k, call, "");
	note(&k, ret, "");
	o = begin(&k);
	assert_int_equal(count(&o, WIRE_RETURN, 7), 1);
	note(&k, end, "");
	note(&k, call, "");
	note(&k, end, "");
	note(&k, ret, "");
	o = begin(&k);
	assert_int_equal(count(&o, WIRE_RETURN, 7), 0);
	note(&k, call, "");
	note(&k, end, ""); /* of another one: it is over when the start has returned */
	ret.arg1 = 4;
	note(&k, ret, "");
	note(&k, call, "");
	ret.arg1 = 3;
	note(&k, ret, "");
	o = begin(&k);
	assert_int_equal(count(&o, WIRE_RETURN, 7), 2);
	assert_int_equal(count(&o, WIRE_CALL, 7), 0);
	keep_free(&k);
}

/* Two starts at once return the same id: which range is open then is for the core to say. */
static void an_id_that_two_starts_return(void **state)
{
	const __u8 start = func("aclprofRangeStart"), stop = func("aclprofRangeStop");
	const struct wire first = {.kind = WIRE_CALL, .func = start, .tgid = 7, .tid = 7},
			  second = {.kind = WIRE_CALL, .func = start, .tgid = 7, .tid = 8},
			  end = {.kind = WIRE_CALL, .func = stop, .tgid = 7, .tid = 9, .arg0 = 3};
	struct wire ret1 = {.kind = WIRE_RETURN, .func = start, .tgid = 7, .tid = 7, .arg1 = 3},
		    ret2 = {.kind = WIRE_RETURN, .func = start, .tgid = 7, .tid = 8, .arg1 = 3};

	(void)state;
	for (int how = 0; how < 4; how++) {
		struct keep k = {.room = 1 << 20};
		struct out o;

		/* How 2: the ids differ; 3: of two copies of the library they do as well. */
		ret2.arg1 = how == 2 ? 4 : 3;
		ret2.arg0 = how == 3 ? 5ull << 32 : 0;
		note(&k, first, "");
		note(&k, second, "");
		note(&k, ret2, "");
		if (!how)
			note(&k, end, "");
		note(&k, ret1, "");
		o = begin(&k);
		assert_int_equal(count(&o, WIRE_DROPPED, 7), how < 2);
		keep_free(&k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_option_is_a_fact_of_its_own),
		cmocka_unit_test(the_first_clock_stays),
		cmocka_unit_test(the_last_setting_of_each_stamp),
		cmocka_unit_test(what_ended_is_forgotten),
		cmocka_unit_test(names_of_threads_that_live),
		cmocka_unit_test(names_of_threads_are_bounded),
		cmocka_unit_test(what_is_not_kept_is_unknown),
		cmocka_unit_test(begun_ranges),
		cmocka_unit_test(a_stop_can_come_before_the_return),
		cmocka_unit_test(an_id_that_two_starts_return),
		cmocka_unit_test(a_created_stamp_carries_nothing),
		cmocka_unit_test(losses_keep_their_window),
	};

	return RUN(tests);
}
