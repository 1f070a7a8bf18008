// SPDX-License-Identifier: GPL-2.0-only
#include "live/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/entry.h"
#include "util/clock.h"
#include "util/str.h"

#define MS 1000000ull
#define CLOCK_EVERY (1000 * MS)
#define LOSS_EVERY (100 * MS)
#define SETTLE_ROUNDS 200
#define SLOW (50 * MS) /* that processes may be looked at in one drain */

struct recorder {
	struct recorder_config cfg;
	struct recorder_stats stats;
	struct func_count seen[PROBE_FUNCS]; /* counters at the last look */
	uint64_t delivered[PROBE_FUNCS];     /* call records received */
	uint64_t unwanted[PROBE_FUNCS];	     /* of these, not kept */
	uint64_t last_clock, last_loss;
	const struct wire *cause; /* the record that is being handled, NULL = none */
	struct str pending;	  /* records from before there was a capture */
	bool unflushed;
	bool held; /* records since the last watermark may wait for one */
};

int recorder_new(const struct recorder_config *cfg, struct recorder **out)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->cfg = *cfg;
	r->last_loss = clock_mono_ns();
	*out = r;
	return 0;
}

int recorder_set_capture(struct recorder *r, struct capwrite *capture)
{
	const char *p = str_get(&r->pending);
	size_t left = r->pending.len;
	int err = r->pending.err;

	r->cfg.capture = capture;
	while (left && !err) {
		uint16_t len;

		memcpy(&len, p + offsetof(struct wire, len), sizeof(len));
		err = capwrite_record(capture, p, len);
		p += len;
		left -= len;
	}
	str_free(&r->pending);
	return err;
}

void recorder_free(struct recorder *r)
{
	if (r)
		str_free(&r->pending);
	free(r);
}

static int keep(struct recorder *r, const void *rec, size_t sz)
{
	int err = r->cfg.tap ? r->cfg.tap(r->cfg.tap_ctx, rec, sz) : 0;

	r->unflushed = true;
	if (err)
		return err;
	if (!r->cfg.capture) {
		if (!r->cfg.tap)
			str_add(&r->pending, rec, sz);
		return r->pending.err;
	}
	return capwrite_record(r->cfg.capture, rec, sz);
}

/* Writes a record of user space's own: w with len and msg_len filled in here. */
static int put(struct recorder *r, struct wire w, const void *msg, size_t len)
{
	char buf[sizeof(w) + 4096];

	if (len > sizeof(buf) - sizeof(w))
		len = sizeof(buf) - sizeof(w);
	w.msg_len = (uint16_t)len;
	w.len = (uint16_t)(sizeof(w) + len);
	memcpy(buf, &w, sizeof(w));
	if (len)
		memcpy(buf + sizeof(w), msg, len);
	return keep(r, buf, w.len);
}

int recorder_clock(struct recorder *r)
{
	/* The monotonic reading in the middle: half the width of the three is the error. */
	uint64_t boot = clock_ns(CLOCK_BOOTTIME);
	struct wire w = {.kind = WIRE_CLOCK, .time_ns = clock_mono_ns()};

	w.arg0 = clock_ns(CLOCK_REALTIME);
	r->last_clock = w.time_ns;
	return put(r, w, &boot, sizeof(boot));
}

/*
 * A fact holds since the record that led to it: readers sort by time, and the call that made a
 * process join, or all that it did until acltap woke up, would come before it. No watermark can be
 * newer: that of the drain which takes the record is written after it. A fork or exec itself begins
 * with what its parent or program had, so what is read of the process comes behind it. That may be
 * the next program's already; then its exec follows, and it is told again.
 */
static uint64_t fact_time(const struct recorder *r)
{
	const struct wire *w = r->cause;

	if (!w)
		return clock_mono_ns();
	return w->time_ns + (w->kind == WIRE_FORK || w->kind == WIRE_EXEC);
}

int recorder_fact(struct recorder *r, uint32_t tgid, uint32_t tid, enum wire_fact fact,
		  const void *text, size_t len)
{
	struct wire w = {.kind = WIRE_FACT, .time_ns = fact_time(r), .tgid = tgid, .tid = tid};

	w.arg1 = fact;
	return put(r, w, text, len);
}

static void count_call(struct recorder *r, const struct wire *w)
{
	const struct entry *e = entry_get(w->func);

	r->stats.calls++;
	if (w->func < PROBE_FUNCS)
		r->delivered[w->func]++;
	if (!e)
		return;
	if (e->op == OP_MARK || e->op == OP_MARK_EX)
		r->stats.marks++;
	if (e->op == OP_PUSH)
		r->stats.open++;
	if ((e->op == OP_POP && w->depth) || e->op == OP_STOP) {
		r->stats.ranges++;
		r->stats.open--;
	}
}

static void count_return(struct recorder *r, const struct wire *w)
{
	const struct entry *e = entry_get(w->func);

	if (e && e->op == OP_START && !(int32_t)w->arg0 && !(w->flags & WIRE_F_NO_ID))
		r->stats.open++;
	if (e && e->op == OP_CREATE && !w->arg0)
		r->stats.null_stamps++;
}

static bool wants(const struct recorder *r, const struct wire *w)
{
	return !r->cfg.wants || r->cfg.wants(r->cfg.ctx, w);
}

static int take_call(struct recorder *r, const struct wire *w)
{
	bool wanted = wants(r, w);

	if (!wanted && w->kind == WIRE_CALL && w->func < PROBE_FUNCS) {
		r->delivered[w->func]++;
		r->unwanted[w->func]++;
	}
	if (!wanted)
		return 0;
	if (w->kind == WIRE_CALL)
		count_call(r, w);
	else
		count_return(r, w);
	r->cfg.call(r->cfg.ctx, w);
	return keep(r, w, w->len);
}

/* A child, perhaps, of a fork that nobody saw: what its parent had set on stamps is not known. */
static int put_unknown_past(struct recorder *r, const struct wire *joined)
{
	struct wire w = {.kind = WIRE_DROPPED,
			 .time_ns = joined->time_ns,
			 .tgid = joined->tgid,
			 .arg1 = DROPPED_STAMPS};

	return put(r, w, NULL, 0);
}

static int take_life(struct recorder *r, const struct wire *w)
{
	bool wanted = wants(r, w);

	r->cfg.life(r->cfg.ctx, w, (const char *)(w + 1));
	if (w->kind == WIRE_JOINED && !r->cfg.bpf->follow && wants(r, w))
		return put_unknown_past(r, w);
	if (w->kind == WIRE_LOADED || w->kind == WIRE_JOINED)
		return 0;
	return wanted || wants(r, w) ? keep(r, w, w->len) : 0;
}

static int take_thread(struct recorder *r, const struct wire *w)
{
	const char *name = (const char *)(w + 1);
	size_t len = strnlen(name, w->msg_len);

	if (!len || !wants(r, w))
		return 0;
	return recorder_fact(r, w->tgid, w->tid, FACT_THREAD_NAME, name, len);
}

static int take(void *ctx, const void *rec, size_t sz)
{
	struct recorder *r = ctx;
	const struct wire *w = rec;
	int err;

	if (sz < sizeof(*w) || w->len > sz || w->len != sizeof(*w) + w->msg_len)
		return -EBADMSG; /* not ours: the ring and the programs are one build */
	r->cause = w;
	if (w->kind == WIRE_CALL || w->kind == WIRE_RETURN)
		err = take_call(r, w);
	else if (w->kind == WIRE_THREAD)
		err = take_thread(r, w);
	else /* where a process is looked at: signals are to be heard in between */
		err = take_life(r, w) ?: 1;
	r->cause = NULL;
	return err;
}

static long drain(struct recorder *r, uint64_t slow_ns)
{
	uint64_t watermark;
	long n = ring_drain(r->cfg.ring, take, r, slow_ns, &watermark);

	/*
	 * A record can be newer than the watermark of the drain that took it. So one more after the
	 * last, or it would wait for the next call, however long that takes.
	 */
	if (n >= 0 && watermark && (n || r->held)) {
		struct wire w = {.kind = WIRE_WATERMARK, .time_ns = watermark};
		int err = put(r, w, NULL, 0);

		if (err)
			return err;
	}
	if (n > 0 || watermark)
		r->held = n > 0;
	return n;
}

long recorder_drain(struct recorder *r)
{
	return drain(r, SLOW);
}

bool recorder_is_behind(const struct recorder *r)
{
	return ring_is_behind(r->cfg.ring);
}

static int put_loss(struct recorder *r, unsigned int func, uint64_t count, uint64_t from,
		    uint64_t to, uint16_t flags)
{
	int err = 0;

	while (count && !err) {
		struct wire w = {.kind = WIRE_LOSS, .func = (uint8_t)func, .time_ns = to};

		w.arg0 = from;
		w.arg1 = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
		w.flags = flags;
		count -= w.arg1;
		err = put(r, w, NULL, 0);
	}
	return err;
}

static int look_at(struct recorder *r, unsigned int func, uint64_t now)
{
	struct func_count n, *seen = &r->seen[func];
	int err = bpf_counts(r->cfg.bpf, func, &n);

	if (err)
		return err;
	err = put_loss(r, func, n.lost - seen->lost, r->last_loss, now, 0);
	err = err
		      ?: put_loss(r, func, n.lost_returns - seen->lost_returns, r->last_loss, now,
				  WIRE_F_RETURNS);
	r->stats.lost += n.lost - seen->lost;
	*seen = n;
	return err;
}

static int look_for_loss(struct recorder *r)
{
	uint64_t now = clock_mono_ns();
	int err = 0;

	for (size_t i = 0; i < entry_count() && !err; i++)
		err = look_at(r, i, now);
	err = err ?: look_at(r, PROBE_FUNC_LIFECYCLE, now);
	r->last_loss = now;
	return err;
}

int recorder_tick(struct recorder *r)
{
	uint64_t now = clock_mono_ns();
	int err = 0;

	if (now - r->last_loss < LOSS_EVERY)
		return 0;
	err = look_for_loss(r);
	if (!err && now - r->last_clock >= CLOCK_EVERY && r->unflushed)
		err = recorder_clock(r);
	if (!err && r->unflushed) {
		err = r->cfg.capture ? capwrite_flush(r->cfg.capture) : 0;
		r->unflushed = false;
	}
	return err;
}

static uint64_t missing(const struct recorder *r, unsigned int func)
{
	const struct func_count *n = &r->seen[func];
	uint64_t known = r->delivered[func] + n->lost;

	return n->calls > known ? n->calls - known : 0;
}

/* Calls that passed the gate may still be on their way to the ring. */
static int settle(struct recorder *r)
{
	struct timespec ms = {.tv_nsec = MS};
	uint64_t left = 1;

	for (int i = 0; i < SETTLE_ROUNDS && left; i++) {
		long n = drain(r, 0);
		int err = n < 0 ? (int)n : look_for_loss(r);

		if (err)
			return err;
		left = 0;
		for (size_t f = 0; f < entry_count(); f++)
			left += missing(r, f);
		if (left)
			nanosleep(&ms, NULL);
	}
	return 0;
}

static int put_totals(struct recorder *r)
{
	uint64_t now = clock_mono_ns();
	int err = look_at(r, PROBE_FUNC_LIFECYCLE, now); /* of those that came meanwhile */

	for (size_t f = 0; f < entry_count() && !err; f++) {
		const struct func_count *n = &r->seen[f];
		uint64_t late = missing(r, f);
		struct wire_count total = {n->calls - r->unwanted[f], n->lost + late,
					   n->lost_returns};
		struct wire w = {.kind = WIRE_COUNT, .func = (uint8_t)f, .time_ns = now};

		r->stats.lost += late;
		err = put_loss(r, f, late, r->last_loss, now, 0);
		if (!err && n->calls + n->lost_returns)
			err = put(r, w, &total, sizeof(total));
	}
	return err;
}

int recorder_finish(struct recorder *r)
{
	int err = settle(r);
	long n;

	if (err)
		return err;
	n = drain(r, 0); /* lifecycle records that came meanwhile */
	err = n < 0 ? (int)n : put_totals(r);
	return err ?: recorder_clock(r);
}

struct recorder_stats recorder_stats(const struct recorder *r)
{
	return r->stats;
}
