// SPDX-License-Identifier: GPL-2.0-only
#include "core/spans.h"

#include <stdlib.h>

#include "core/entry.h"

static struct span span_of(const struct proc *p, const struct open *o, enum span_kind kind)
{
	return (struct span){
		.id = o->id,
		.parent = o->parent,
		.start_ns = o->start_ns,
		.pid = p->tgid,
		.start_tid = o->start_tid,
		.end_tid = o->start_tid,
		.depth = o->depth,
		.seq = o->seq,
		.category = o->category,
		.payload = o->payload,
		.ret = o->ret,
		.has_ret = o->has_ret,
		.name = o->text ? o->text->bytes : "",
		.name_len = o->text ? o->text->len : 0,
		.unreadable = o->text && o->text->unreadable,
		.cut = o->text && o->text->cut,
		.domain = kind == SPAN_MARKER_EX ? "default" : NULL,
		.kind = kind,
	};
}

static void emit(struct range *r, struct proc *p, const struct span *sp)
{
	names_use(r, p, sp->category);
	if (!r->err)
		range_fail(r, r->next.span(r->next.ctx, sp));
}

void span_mark(struct range *r, struct proc *p, const struct open *o, enum span_kind kind)
{
	struct span sp = span_of(p, o, kind);

	sp.status = o->uncertain ? SPAN_UNCERTAIN : SPAN_COMPLETE;
	sp.end_ns = o->start_ns;
	sp.has_end = true;
	emit(r, p, &sp);
}

static void give_end(struct span *sp, enum span_status status, uint64_t end_ns)
{
	sp->status = status;
	sp->has_end = status != SPAN_UNCERTAIN && status != SPAN_OPEN;
	if (sp->has_end)
		sp->end_ns = end_ns > sp->start_ns ? end_ns : sp->start_ns;
}

void span_close(struct range *r, struct proc *p, const struct open *o, enum span_kind kind,
		enum span_status status, bool proven, uint64_t end_ns, uint32_t end_tid)
{
	struct span sp = span_of(p, o, kind);

	give_end(&sp, proven && !o->uncertain ? status : SPAN_UNCERTAIN, end_ns);
	if (sp.status == SPAN_COMPLETE)
		sp.end_tid = end_tid;
	emit(r, p, &sp);
}

void span_force(struct range *r, struct proc *p, const struct open *o, enum span_kind kind,
		const struct forced_end *end, bool proven)
{
	struct span sp = span_of(p, o, kind);

	give_end(&sp, proven && !o->uncertain ? end->status : SPAN_UNCERTAIN, end->time_ns);
	emit(r, p, &sp);
}

/* ---- Threads ------------------------------------------------------------------------------ */

static const struct forced_end ended_unseen = {.status = SPAN_UNCERTAIN};

static void end_top(struct range *r, struct thread *t, const struct forced_end *end, bool proven)
{
	struct open o;

	if (stack_drop_unknown(&t->stack, UINT32_MAX))
		return;
	stack_pop(&t->stack, 0, &o);
	r->n_open--;
	span_force(r, t->proc, &o, SPAN_PUSH_POP, end, proven);
	text_put(o.text);
}

void stack_sync(struct range *r, struct thread *t, uint32_t min_depth, uint32_t depth)
{
	struct stack *s = &t->stack;

	if (min_depth > depth)
		min_depth = depth;
	while (s->depth > min_depth && min_depth < UINT16_MAX)
		if (!stack_drop_unknown(s, s->depth - min_depth))
			end_top(r, t, &ended_unseen, false);
	if (s->depth < depth)
		range_fail(r, stack_push_unknown(s, LEVEL_LOST, 0, depth - s->depth));
}

void flight_leave(struct thread *t)
{
	struct pending *f = &t->pending;
	struct proc *p = t->proc;

	*(f->prev ? &f->prev->pending.next : &p->flight_first) = f->next;
	*(f->next ? &f->next->pending.prev : &p->flight_last) = f->prev;
	if (p->flight_first)
		return;
	map_free(&p->closed);
	map_free(&p->closed_last);
}

void stop_alone(struct range *r, struct proc *p, uint8_t func)
{
	if (p->limited) {
		p->limited--;
		return;
	}
	counts_add(r->counts, p->dropped ? TALLY_LOST_START : TALLY_ORPHAN, func);
}

void waiters_settle(struct range *r, struct proc *p)
{
	uint64_t oldest = p->flight_first ? p->flight_first->pending.no : UINT64_MAX;

	while (p->wait_first && p->wait_first->upto < oldest) {
		struct waiter *w = p->wait_first;

		p->wait_first = w->next;
		if (!w->next)
			p->wait_end = &p->wait_first;
		p->n_wait--;
		if (!w->doubtful)
			stop_alone(r, p, w->func);
		free(w);
	}
}

static void start_force(struct range *r, struct thread *t, const struct forced_end *end,
			bool proven)
{
	struct pending *f = &t->pending;
	struct proc *p = t->proc;

	flight_leave(t);
	if (f->stamp) {
		span_force(r, p, &f->o, SPAN_START_END, end, proven);
		/* It may have taken over any open id; of a lost return the gap tells as much. */
		if (end->status != SPAN_OPEN && f->o.gap == gap_now(p))
			p->id_doubt++;
	}
	waiters_settle(r, p);
}

/* Was its return lost, for all that is known? At the end of the trace no later gap tells. */
static bool return_lost(const struct range *r, const struct thread *t, const struct forced_end *end)
{
	const struct func_counts *f = &r->counts->funcs[t->pending.func];

	if (t->pending.o.gap != gap_now(t->proc))
		return true;
	return end->status == SPAN_OPEN && (f->returns || f->total.lost_returns);
}

void pending_force(struct range *r, struct thread *t, const struct forced_end *end, bool proven)
{
	struct pending *f = &t->pending;
	const struct entry *e = entry_get(f->func);

	if (!f->active)
		return;
	f->active = false;
	if (e->op == OP_START) {
		start_force(r, t, end, proven);
	} else if (e->op == OP_MARK || e->op == OP_MARK_EX) {
		f->o.uncertain |= return_lost(r, t, end);
		span_mark(r, t->proc, &f->o, e->op == OP_MARK ? SPAN_MARKER : SPAN_MARKER_EX);
	}
	text_put(f->o.text);
	f->o.text = NULL;
	text_put(f->undo.text);
	f->undo.text = NULL;
}

void thread_end(struct range *r, struct thread *t, const struct forced_end *end, bool proven)
{
	struct forced_end e = *end;

	/* An end before the last call is an error elsewhere; durations stay positive. */
	if (e.time_ns < t->last_ns)
		e.time_ns = t->last_ns;
	pending_force(r, t, &e, t->pending.o.gap == gap_now(t->proc));
	while (t->stack.depth)
		end_top(r, t, &e, proven);
}

/* ---- Processes ---------------------------------------------------------------------------- */

void proc_end(struct range *r, struct proc *p, const struct forced_end *end)
{
	while (p->threads) {
		struct thread *t = p->threads;

		thread_end(r, t, end, t->gap == gap_now(p));
		thread_drop(r, t);
	}
	while (p->open_first) {
		struct open_range *o = p->open_first;

		if (!o->lost)
			span_force(r, p, &o->o, SPAN_START_END, end, o->o.gap == gap_now(p));
		open_drop(r, p, o);
	}
}
