// SPDX-License-Identifier: GPL-2.0-only
#include "core/startstop.h"

#include <errno.h>
#include <stdlib.h>

#include "core/calls.h"
#include "core/spans.h"

void start_enter(struct range *r, struct thread *t, const struct event *ev, bool blind)
{
	struct pending *f = &t->pending;
	struct proc *p = t->proc;

	f->o = open_begin(r, t, ev, blind);
	open_snapshot(r, t, ev->w->arg0, &f->o);
	f->no = ++p->flight_no;
	f->id_doubt = p->id_doubt;
	f->prev = p->flight_last;
	f->next = NULL;
	*(f->prev ? &f->prev->pending.next : &p->flight_first) = t;
	p->flight_last = t;
}

/*
 * A range ends that began after a start still in flight. Should that one return the same id, it
 * began before this range and was superseded by it. So the first and the last such start of an id
 * are remembered, as start + 1.
 */
static void remember_closed(struct range *r, struct proc *p, const struct open_range *o)
{
	uint64_t at = o->o.start_ns + 1, first = map_get(&p->closed, o->id);
	uint64_t last = map_get(&p->closed_last, o->id);

	if (!p->flight_first || p->flight_first->pending.o.start_ns >= o->o.start_ns)
		return;
	if (last <= p->flight_first->pending.o.start_ns + 1)
		first = 0; /* older than all that is in flight now */
	if (!at || (!first && p->closed.n >= OPEN_IDS_MAX)) {
		p->id_doubt++;
		return;
	}
	if (!first || at < first)
		range_fail(r, map_set(&p->closed, o->id, at));
	if (at > last)
		range_fail(r, map_set(&p->closed_last, o->id, at));
}

static bool same_ids(const struct open *a, uint32_t doubt, uint64_t gap, uint32_t doubt_then)
{
	return a->gap == gap && doubt == doubt_then;
}

static void stop_wait(struct range *r, struct thread *t, const struct event *ev, bool blind,
		      bool doubtful)
{
	struct proc *p = t->proc;
	struct waiter *w = malloc(sizeof(*w));

	if (!w) {
		range_fail(r, -ENOMEM);
		return;
	}
	*w = (struct waiter){
		.upto = p->flight_no,
		.time_ns = t->last_ns,
		.gap = gap_of(t, ev),
		.id = decode_range_id(ev->w),
		.tid = t->tid,
		.id_doubt = p->id_doubt,
		.func = ev->w->func,
		.uncertain = blind,
		.doubtful = doubtful,
	};
	*p->wait_end = w;
	p->wait_end = &w->next;
	p->n_wait++;
}

/* A stop found an open id. */
static void stop_open(struct range *r, struct thread *t, const struct event *ev, bool blind,
		      struct open_range *o)
{
	struct proc *p = t->proc;
	/* Of an uncertain one it is not known whether it was open still. */
	bool proven = same_ids(&o->o, o->id_doubt, gap_of(t, ev), p->id_doubt) && !blind &&
		      !o->o.uncertain;

	if (o->lost)
		counts_add(r->counts, TALLY_LOST_START, ev->w->func);
	else
		span_close(r, p, &o->o, SPAN_START_END, SPAN_COMPLETE, proven, t->last_ns, t->tid);
	remember_closed(r, p, o);
	open_drop(r, p, o);
	if (proven || !p->flight_first)
		return;
	if (p->n_wait < WAITERS_MAX)
		stop_wait(r, t, ev, blind, true);
	else
		p->id_doubt++;
}

void stop_enter(struct range *r, struct thread *t, const struct event *ev, bool blind)
{
	struct proc *p = t->proc;
	struct open_range *o = open_find(p, decode_range_id(ev->w));

	if (o)
		stop_open(r, t, ev, blind, o);
	else if (p->flight_first && p->n_wait < WAITERS_MAX)
		stop_wait(r, t, ev, blind, false);
	else
		stop_alone(r, p, ev->w->func);
}

/*
 * The first stop that waits for id, was called while start number no was in flight, and not after
 * the id had gone to a later start.
 */
static struct waiter *waiter_take(struct proc *p, uint64_t id, uint64_t no, uint64_t until)
{
	for (struct waiter **at = &p->wait_first; *at; at = &(*at)->next) {
		struct waiter *w = *at;

		if (w->id != id || w->upto < no || w->time_ns > until)
			continue;
		*at = w->next;
		if (!w->next)
			p->wait_end = at;
		p->n_wait--;
		return w;
	}
	return NULL;
}

/* A range of the same id that began after a start, though that start returned later. */
struct successor {
	uint64_t start_ns; /* UINT64_MAX = none known */
	bool proven;
};

static struct successor successor_of(const struct proc *p, const struct pending *f, uint64_t id)
{
	struct successor s = {.start_ns = UINT64_MAX};
	uint64_t first = map_get(&p->closed, id), last = map_get(&p->closed_last, id);
	uint64_t self = f->o.start_ns + 1;
	const struct open_range *o = open_find(p, id);

	if (self && first > self) {
		s.start_ns = first - 1;
		s.proven = f->o.gap == gap_now(p);
	} else if (self && last > self) {
		s.start_ns = last - 1; /* there may have been others before */
	} else if (o && o->o.start_ns > f->o.start_ns) {
		s.start_ns = o->o.start_ns;
		s.proven = !o->lost && f->o.gap == o->o.gap;
	}
	return s;
}

/* Beyond a limit: told now, and its stop will find nothing. */
static void start_limited(struct range *r, struct proc *p, struct pending *f)
{
	counts_add(r->counts, TALLY_LIMIT, f->func);
	p->limited++;
	span_close(r, p, &f->o, SPAN_START_END, SPAN_UNCERTAIN, false, 0, 0);
}

static void open_id(struct range *r, struct proc *p, struct pending *f, uint64_t id)
{
	struct open_range *old = open_find(p, id), *o;

	if (old) {
		bool proven = same_ids(&old->o, old->id_doubt, f->o.gap, f->id_doubt);

		if (!old->lost)
			span_close(r, p, &old->o, SPAN_START_END, SPAN_SUPERSEDED, proven,
				   f->o.start_ns, 0);
		remember_closed(r, p, old);
		open_drop(r, p, old);
	}
	if (p->opens.n >= OPEN_IDS_MAX || r->n_open >= OPEN_MAX) {
		start_limited(r, p, f);
		return;
	}
	o = open_add(r, p, id, &f->o);
	f->o.text = NULL;
	if (o)
		o->id_doubt = f->id_doubt;
}

/* The start takes effect at its entry, which lies in the past. */
static void take_effect(struct range *r, struct proc *p, struct pending *f, uint64_t id)
{
	const struct successor next = successor_of(p, f, id);
	struct waiter *w = waiter_take(p, id, f->no, next.start_ns);

	if (w && w->doubtful) {
		f->o.uncertain = true;
		free(w);
		w = NULL;
	}
	if (w) {
		bool proven = same_ids(&f->o, f->id_doubt, w->gap, w->id_doubt);

		span_close(r, p, &f->o, SPAN_START_END, SPAN_COMPLETE, proven && !w->uncertain,
			   w->time_ns, w->tid);
		free(w);
	} else if (next.start_ns != UINT64_MAX) {
		span_close(r, p, &f->o, SPAN_START_END, SPAN_SUPERSEDED, next.proven, next.start_ns,
			   0);
	} else {
		open_id(r, p, f, id);
	}
}

void start_return(struct range *r, struct thread *t, const struct event *ev)
{
	struct pending *f = &t->pending;
	bool failed = (int32_t)ev->w->arg0 != 0, no_id = ev->w->flags & WIRE_F_NO_ID;

	f->o.has_ret = r->cfg.returns;
	f->o.ret = (int32_t)ev->w->arg0;
	if (!failed && !no_id && f->stamp)
		take_effect(r, t->proc, f, decode_range_id(ev->w));
	else if (!failed && f->stamp)
		t->proc->id_doubt++; /* some range has begun, perhaps on an open id */
	if (!failed && no_id && f->stamp && ev->w->flags & WIRE_F_NO_STATE)
		start_limited(r, t->proc, f); /* no fault of the program's */
	flight_leave(t);
	waiters_settle(r, t->proc);
}

/* A start of which only the return got through: its id is taken, its range unknown. */
void start_return_alone(struct range *r, struct thread *t, const struct event *ev)
{
	struct proc *p = t->proc;
	uint64_t id = decode_range_id(ev->w);
	struct open_range *old = open_find(p, id), *o;
	/* In what was dropped it has begun, and may have ended already. */
	const struct open nothing = {.start_ns = p->dropped ? 0 : ev->w->time_ns,
				     .uncertain = p->dropped};

	if ((int32_t)ev->w->arg0 || ev->w->flags & WIRE_F_NO_ID)
		return;
	if (old) {
		if (!old->lost)
			span_close(r, p, &old->o, SPAN_START_END, SPAN_UNCERTAIN, false, 0, 0);
		open_drop(r, p, old);
	}
	if (p->opens.n >= OPEN_IDS_MAX || r->n_open >= OPEN_MAX)
		return;
	o = open_add(r, p, id, &nothing);
	if (o)
		o->lost = true;
}
