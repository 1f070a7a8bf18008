// SPDX-License-Identifier: GPL-2.0-only
#include "core/range.h"

#include <errno.h>
#include <stdlib.h>

#include "core/calls.h"
#include "core/entry.h"
#include "core/spans.h"
#include "core/state.h"

static const struct forced_end unknown_end = {.status = SPAN_UNCERTAIN};

int range_new(const struct range_config *cfg, const struct range_next *next, struct counts *counts,
	      uint64_t *last_id, struct range **out)
{
	struct range *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->cfg = *cfg;
	r->next = *next;
	r->counts = counts;
	r->last_id = last_id;
	*out = r;
	return 0;
}

void range_configure(struct range *r, const struct range_config *cfg)
{
	r->cfg = *cfg;
}

void range_free(struct range *r)
{
	if (!r)
		return;
	while (r->first)
		proc_drop(r, r->first);
	map_free(&r->procs);
	map_free(&r->threads);
	free(r);
}

static void note_gap(struct proc *p, const struct event *ev)
{
	if (ev->w->gap > p->lost)
		p->lost = ev->w->gap;
}

/* Ends the process and forgets it. */
static void proc_forget(struct range *r, struct proc *p, const struct forced_end *end)
{
	const struct tally t = {
		.kind = TALLY_NULL_STAMP,
		.pid = p->tgid,
		.count = p->null_stamps,
	};

	if (end == &unknown_end)
		p->doubt++; /* the record of its end was lost, others may be as well */
	proc_end(r, p, end);
	if (t.count && !r->err)
		range_fail(r, r->next.tally(r->next.ctx, &t));
	proc_drop(r, p);
}

/* ---- Calls -------------------------------------------------------------------------------- */

/* Does the record say nothing about the thread's stack? */
static bool is_blind(const struct event *ev)
{
	return ev->late || ev->w->flags & WIRE_F_NO_STATE;
}

/*
 * Numbers start again at 1 in a new thread with the id of one whose end was not seen. A return
 * record has the number of its call.
 */
static bool is_new_thread(const struct thread *t, const struct event *ev)
{
	uint32_t seq = ev->w->seq;

	if (is_blind(ev) || !seq || seq > t->seq)
		return false;
	if (seq == t->seq && ev->w->kind == WIRE_RETURN)
		return false;
	return !(t->seq > UINT32_MAX - (1u << 24) && seq < 1u << 24);
}

/* A new main thread is a new process: its id is free only when all threads have gone. */
static struct thread *thread_anew(struct range *r, struct thread *t)
{
	uint32_t tgid = t->tgid, tid = t->tid;

	if (tgid == tid) {
		proc_forget(r, t->proc, &unknown_end);
	} else {
		thread_end(r, t, &unknown_end, false);
		thread_drop(r, t);
	}
	return thread_get(r, tgid, tid, true);
}

/* May it have made calls without state of which every record was lost? */
static bool has_lost_past(const struct thread *t, const struct event *ev)
{
	bool first = !t->seq && ev->w->seq;

	return first && ev->w->flags & WIRE_F_LATE_STATE && (ev->w->gap || t->proc->dropped);
}

/* Is it the next record of its thread? */
static bool is_next(const struct thread *t, const struct event *ev)
{
	return ev->w->seq == t->seq + (ev->w->kind == WIRE_CALL);
}

/*
 * Copies of the library take turns in it: the kernel side's depth is of all together, and a pop
 * that finds nothing in its copy lowers it too. So only what is paired here counts, and where a
 * record is missing, or the copy of a level is not known, nothing is known to be open.
 */
static void note_mixed(struct range *r, struct thread *t, const struct event *ev)
{
	bool begins = !t->mixed && ev->w->flags & WIRE_F_MIXED;
	bool unknown =
		begins && (t->stack.real != t->stack.depth || t->stack.depth != ev->w->depth);

	t->mixed |= begins;
	if (!t->mixed || (!unknown && gap_of(t, ev) == t->gap && is_next(t, ev)))
		return;
	t->headless = true;
	stack_sync(r, t, 0, 0);
}

static struct thread *thread_of(struct range *r, const struct event *ev)
{
	struct thread *t = thread_get(r, ev->w->tgid, ev->w->tid, true);

	if (t)
		note_gap(t->proc, ev);
	if (t && is_new_thread(t, ev))
		t = thread_anew(r, t);
	if (!t) {
		counts_add(r->counts, TALLY_LIMIT, ev->w->func);
		return NULL;
	}
	note_gap(t->proc, ev);
	t->stateless |= (ev->w->flags & WIRE_F_NO_STATE) || has_lost_past(t, ev);
	note_mixed(r, t, ev);
	return t;
}

/* A state that came late, when others had made room, knows nothing of what was pushed before. */
static bool is_unproven(const struct thread *t, const struct event *ev)
{
	return is_blind(ev) || t->stateless;
}

static bool knows_depth(const struct thread *t, const struct event *ev)
{
	return !is_unproven(t, ev) && !t->mixed;
}

static void seen(struct thread *t, const struct event *ev)
{
	if (!is_blind(ev))
		t->seq = ev->w->seq;
	t->gap = gap_at(t->proc, ev->w->gap);
	/* What was set before a late record may have been set anew by it, and the reverse. */
	if (ev->late)
		t->proc->doubt++;
}

/* A late record belongs somewhere in the past: the levels on the stack prove nothing now. */
static void distrust_stack(struct thread *t)
{
	for (uint32_t i = 0; i < t->stack.n; i++)
		t->stack.levels[i].o.uncertain = true;
}

static void do_call(struct range *r, const struct event *ev)
{
	struct thread *t = thread_of(r, ev);

	if (!t)
		return;
	if (ev->late)
		distrust_stack(t);
	if (knows_depth(t, ev))
		stack_sync(r, t, ev->w->min_depth, ev->w->depth);
	pending_force(r, t, &unknown_end, false);
	if (ev->w->time_ns > t->last_ns)
		t->last_ns = ev->w->time_ns;
	call_enter(r, t, ev, is_unproven(t, ev));
	seen(t, ev);
}

static void do_return(struct range *r, const struct event *ev)
{
	struct thread *t = thread_of(r, ev);

	if (!t)
		return;
	/* With another number than the last call's, that of this call was lost. */
	if (knows_depth(t, ev) && ev->w->seq != t->seq)
		stack_sync(r, t, ev->w->min_depth, ev->w->depth);
	if (t->pending.active && t->pending.seq != ev->w->seq && !is_blind(ev))
		pending_force(r, t, &unknown_end, false);
	call_return(r, t, ev);
	seen(t, ev);
}

/* ---- Processes ---------------------------------------------------------------------------- */

static void inherit(struct range *r, struct proc *p, struct proc *child, const struct event *ev)
{
	struct thread *t = thread_get(r, ev->w->tgid, ev->w->tid, false), *ct;
	uint64_t gap = gap_at(p, ev->w->gap);

	stamps_fork(r, p, child, gap);
	if (t && t->null.version) {
		ct = thread_get(r, child->tgid, child->tgid, true);
		if (ct)
			stamp_inherit(&ct->null, &t->null, gap);
	}
	names_fork(r, p, child);
}

int range_replaced(struct range *r, uint32_t tgid)
{
	struct proc *p = proc_get(r, tgid, false);

	if (p && !r->err)
		proc_forget(r, p, &unknown_end);
	return r->err;
}

static void do_fork(struct range *r, const struct event *ev)
{
	struct proc *p = proc_get(r, ev->w->tgid, ev->w->gap), *child;

	if (range_replaced(r, (uint32_t)ev->w->arg0) || !p)
		return;
	note_gap(p, ev);
	child = proc_get(r, (uint32_t)ev->w->arg0, true);
	if (child)
		inherit(r, p, child, ev);
}

/* What the record of an end says about the stack of its own thread, if anything. */
static bool end_is_proven(struct range *r, struct thread *t, const struct event *ev)
{
	t->mixed |= !!(ev->w->flags & WIRE_F_MIXED);
	if (!knows_depth(t, ev) || !ev->w->seq || ev->w->seq < t->seq)
		return t->gap == gap_now(t->proc);
	stack_sync(r, t, ev->w->min_depth, ev->w->depth);
	return true;
}

static void do_thread_exit(struct range *r, const struct event *ev)
{
	const struct forced_end end = {SPAN_UNFINISHED, ev->w->time_ns};
	struct thread *t = thread_get(r, ev->w->tgid, ev->w->tid, false);

	if (!t)
		return;
	thread_end(r, t, &end, end_is_proven(r, t, ev));
	thread_drop(r, t);
}

static void do_exec(struct range *r, struct proc *p, const struct event *ev)
{
	const struct forced_end end = {SPAN_UNFINISHED, ev->w->time_ns};

	do_thread_exit(r, ev);
	proc_end(r, p, &end);
	stamps_free(r, p);
	names_free(r, p);
	p->base_gap = gap_now(p);
	p->limited = 0;
	p->dropped = false;
}

static void do_exit(struct range *r, struct proc *p, const struct event *ev)
{
	const struct forced_end end = {SPAN_UNFINISHED, ev->w->time_ns};

	do_thread_exit(r, ev);
	if (ev->w->flags & WIRE_F_LAST)
		proc_forget(r, p, &end);
}

/* What is not set from here on may have been set before. */
static void do_dropped(struct range *r, const struct event *ev)
{
	struct proc *p = proc_get(r, ev->w->tgid, true);

	if (!p)
		return;
	if (ev->w->arg1 & DROPPED_STAMPS)
		p->base_gap = GAP_UNKNOWN;
	if (ev->w->arg1 & DROPPED_RANGES)
		p->dropped = true;
}

int range_push(struct range *r, const struct event *ev)
{
	struct proc *p;

	if (r->err)
		return r->err;
	r->records++;
	switch (ev->w->kind) {
	case WIRE_CALL:
		do_call(r, ev);
		break;
	case WIRE_RETURN:
		do_return(r, ev);
		break;
	case WIRE_FORK:
		do_fork(r, ev);
		break;
	case WIRE_DROPPED:
		do_dropped(r, ev);
		break;
	case WIRE_EXEC:
	case WIRE_EXIT:
		/* Without a record before, a gap is all there is to know of a process. */
		p = proc_get(r, ev->w->tgid, ev->w->kind == WIRE_EXEC && ev->w->gap);
		if (!p)
			break;
		note_gap(p, ev);
		if (ev->w->kind == WIRE_EXEC)
			do_exec(r, p, ev);
		else
			do_exit(r, p, ev);
		break;
	default:
		break;
	}
	return r->err;
}

void range_lost(struct range *r, uint8_t func)
{
	const struct entry *e = entry_get(func);

	if (e && e->op == OP_CATEGORY)
		r->uses_category = true;
	if (e && e->op == OP_PAYLOAD)
		r->uses_payload = true;
}

int range_finish(struct range *r)
{
	const struct forced_end end = {.status = SPAN_OPEN};

	for (struct proc *p = r->first; p; p = p->next)
		proc_end(r, p, &end);
	while (r->first)
		proc_forget(r, r->first, &end);
	return r->err;
}
