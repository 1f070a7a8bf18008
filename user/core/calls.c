// SPDX-License-Identifier: GPL-2.0-only
#include "core/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "core/spans.h"
#include "core/startstop.h"

/* The state of the stamp a call names; NULL when it was never set. */
static struct stamp *stamp_of(struct range *r, struct thread *t, uint64_t addr, bool create)
{
	return addr ? stamp_get(r, t->proc, addr, create) : &t->null;
}

/* ---- Beginning ---------------------------------------------------------------------------- */

/* What the stamp carries now. Set at another gap, a later setting may have been lost. */
void open_snapshot(struct range *r, struct thread *t, uint64_t addr, struct open *o)
{
	const struct stamp *s = stamp_of(r, t, addr, false);
	uint64_t base = s ? s->base_gap : t->proc->base_gap;

	if (!s && t->proc->stamps_full)
		o->uncertain = true;
	o->uncertain |= (s && s->text ? s->text_gap : base) != o->gap;
	if (s && s->has_category)
		base = s->category_gap;
	o->uncertain |= r->uses_category && base != o->gap;
	base = s ? s->base_gap : t->proc->base_gap;
	if (s && s->has_payload)
		base = s->payload_gap;
	o->uncertain |= r->uses_payload && base != o->gap;
	if (!s)
		return;
	o->text = text_get(s->text);
	o->category = s->category;
	o->payload = s->payload;
}

struct open open_begin(struct range *r, struct thread *t, const struct event *ev, bool blind)
{
	const struct open *top = stack_top(&t->stack);

	return (struct open){
		.id = ++*r->last_id,
		.parent = top ? top->id : 0,
		.start_ns = t->last_ns,
		.gap = gap_of(t, ev),
		.start_tid = t->tid,
		.depth = t->stack.depth,
		.seq = ev->w->seq,
		.uncertain = blind,
	};
}

static void await_return(struct thread *t, const struct event *ev)
{
	t->pending.active = true;
	t->pending.func = ev->w->func;
	t->pending.seq = ev->w->seq;
	t->pending.stamp = ev->w->arg0;
}

static void do_mark(struct range *r, struct thread *t, const struct event *ev, bool blind)
{
	struct open o = open_begin(r, t, ev, blind);

	open_snapshot(r, t, ev->w->arg0, &o);
	if (r->cfg.returns) {
		t->pending.o = o;
		return;
	}
	span_mark(r, t->proc, &o, SPAN_MARKER);
	text_put(o.text);
}

static struct text *text_of(struct range *r, const struct event *ev)
{
	const struct message m = decode_text(ev);
	struct text *text = text_new(m.bytes, m.len, m.unreadable, m.cut);

	if (!text)
		range_fail(r, -ENOMEM);
	return text;
}

static void count_message(struct range *r, const struct event *ev, const struct message *m)
{
	if (m->unreadable)
		counts_add(r->counts, TALLY_UNREADABLE, ev->w->func);
	if (m->cut)
		counts_add(r->counts, TALLY_CUT, ev->w->func);
}

static void do_mark_ex(struct range *r, struct thread *t, const struct event *ev, bool blind)
{
	const struct message m = decode_text(ev);
	struct open o = open_begin(r, t, ev, blind);

	count_message(r, ev, &m);
	o.text = text_of(r, ev);
	if (r->cfg.returns) {
		t->pending.o = o;
		return;
	}
	span_mark(r, t->proc, &o, SPAN_MARKER_EX);
	text_put(o.text);
}

/* Beyond a limit: told now, and its pop will find a level that stands for nothing. */
static void push_limited(struct range *r, struct thread *t, struct open *o, uint8_t func)
{
	o->uncertain = true;
	counts_add(r->counts, TALLY_LIMIT, func);
	span_close(r, t->proc, o, SPAN_PUSH_POP, SPAN_UNCERTAIN, false, 0, 0);
	text_put(o->text);
	range_fail(r, stack_push_unknown(&t->stack, LEVEL_LIMIT, o->copy, 1));
}

static void do_push(struct range *r, struct thread *t, const struct event *ev, bool blind)
{
	struct open o = open_begin(r, t, ev, blind);
	int err;

	o.copy = ev->w->arg1;
	open_snapshot(r, t, ev->w->arg0, &o);
	t->pending.level = 0;
	if (t->stack.real >= STACK_MAX || t->stack.depth >= UINT16_MAX || r->n_open >= OPEN_MAX) {
		push_limited(r, t, &o, ev->w->func);
		return;
	}
	err = stack_push(&t->stack, &o);
	if (err) {
		text_put(o.text);
		range_fail(r, err);
		return;
	}
	t->pending.level = o.id;
	r->n_open++;
}

static void do_pop(struct range *r, struct thread *t, const struct event *ev, bool blind)
{
	struct open o;
	bool lost;

	switch (stack_pop(&t->stack, ev->w->arg1, &o)) {
	case LEVEL_NONE:
		/* Without the thread's own depth a push may as well have been lost. */
		lost = t->headless || (blind && t->proc->lost);
		counts_add(r->counts, lost ? TALLY_LOST_START : TALLY_ORPHAN, ev->w->func);
		break;
	case LEVEL_LOST:
		counts_add(r->counts, TALLY_LOST_START, ev->w->func);
		break;
	case LEVEL_LIMIT:
		break;
	case LEVEL_REAL:
		r->n_open--;
		span_close(r, t->proc, &o, SPAN_PUSH_POP, SPAN_COMPLETE, !blind, t->last_ns,
			   t->tid);
		text_put(o.text);
		break;
	}
}

/* ---- Setting ------------------------------------------------------------------------------ */

static void set_text(struct range *r, struct stamp *s, const struct message *m)
{
	struct text *text;

	if (s->text && text_same(s->text, m->bytes, m->len, m->unreadable, m->cut))
		return;
	text = text_new(m->bytes, m->len, m->unreadable, m->cut);
	if (!text) {
		range_fail(r, -ENOMEM);
		return;
	}
	text_put(s->text);
	s->text = text;
}

static void set_payload(struct stamp *s, const struct event *ev)
{
	s->payload = (struct payload){.type = (int32_t)ev->w->arg1};
	s->payload.len = ev->w->msg_len < 8 ? (uint8_t)ev->w->msg_len : 8;
	memcpy(s->payload.bytes, ev->msg, s->payload.len);
	s->has_payload = true;
}

/* set_message, set_category, set_payload. */
static void do_set(struct range *r, struct thread *t, const struct event *ev, enum op op)
{
	struct stamp *s = stamp_of(r, t, ev->w->arg0, true);
	const struct message m = decode_text(ev);

	if (op == OP_MESSAGE)
		count_message(r, ev, &m);
	if (!s) {
		counts_add(r->counts, TALLY_LIMIT, ev->w->func);
		return;
	}
	if (r->cfg.returns && ev->w->arg0)
		stamp_copy(&t->pending.undo, s);
	t->pending.version = ++s->version;
	switch (op) {
	case OP_MESSAGE:
		set_text(r, s, &m);
		s->text_gap = gap_of(t, ev);
		break;
	case OP_CATEGORY:
		r->uses_category = true;
		s->category = ev->w->arg1;
		s->category_gap = gap_of(t, ev);
		s->has_category = true;
		break;
	default:
		r->uses_payload = true;
		if (ev->w->flags & WIRE_F_UNREADABLE)
			counts_add(r->counts, TALLY_UNREADABLE, ev->w->func);
		set_payload(s, ev);
		s->payload_gap = gap_of(t, ev);
	}
}

/* The setting failed: as before, unless it was set again meanwhile. */
static void undo_set(struct range *r, struct thread *t, enum op op)
{
	struct stamp *s = stamp_of(r, t, t->pending.stamp, false);
	const struct stamp *old = &t->pending.undo;

	if (!s || s->version != t->pending.version)
		return;
	switch (op) {
	case OP_MESSAGE:
		text_put(s->text);
		s->text = text_get(old->text);
		s->text_gap = old->text_gap;
		break;
	case OP_CATEGORY:
		s->category = old->category;
		s->category_gap = old->category_gap;
		s->has_category = old->has_category;
		break;
	default:
		s->payload = old->payload;
		s->payload_gap = old->payload_gap;
		s->has_payload = old->has_payload;
	}
}

static void do_category_name(struct range *r, struct thread *t, const struct event *ev)
{
	const struct message m = decode_text(ev);

	count_message(r, ev, &m);
	if (!m.unreadable || m.len)
		names_set(r, t->proc, (uint32_t)ev->w->arg0, &m);
}

/* ---- Returns ------------------------------------------------------------------------------ */

static void return_create(struct range *r, struct thread *t, const struct event *ev)
{
	struct stamp *s;

	if (!ev->w->arg0) {
		t->proc->null_stamps++;
		return;
	}
	if (!r->cfg.lifecycle)
		return;
	s = stamp_get(r, t->proc, ev->w->arg0, true);
	if (s)
		stamp_clear(s, gap_of(t, ev));
	else
		counts_add(r->counts, TALLY_LIMIT, ev->w->func);
}

static void return_mark(struct range *r, struct thread *t, int32_t ret, enum op op)
{
	struct open *o = &t->pending.o;

	if (ret && op == OP_MARK && t->pending.stamp)
		return;
	o->ret = ret;
	o->has_ret = true;
	span_mark(r, t->proc, o, op == OP_MARK ? SPAN_MARKER : SPAN_MARKER_EX);
}

static void return_push(struct range *r, struct thread *t, int32_t ret)
{
	struct open *top = stack_top(&t->stack), o;

	if (!ret || !t->pending.stamp) {
		if (top && top->id == t->pending.level) {
			top->ret = ret;
			top->has_ret = true;
		}
	} else if (!t->pending.level) {
		stack_drop_unknown(&t->stack, 1);
	} else if (top && top->id == t->pending.level) {
		stack_pop(&t->stack, top->copy, &o);
		text_put(o.text);
		r->n_open--;
	}
}

static void pending_done(struct thread *t)
{
	t->pending.active = false;
	text_put(t->pending.o.text);
	t->pending.o.text = NULL;
	text_put(t->pending.undo.text);
	t->pending.undo.text = NULL;
}

void call_return(struct range *r, struct thread *t, const struct event *ev)
{
	const enum op op = entry_get(ev->w->func)->op;
	const int32_t ret = (int32_t)ev->w->arg0;
	bool awaited = t->pending.active && t->pending.func == ev->w->func;

	if (op == OP_CREATE)
		return_create(r, t, ev);
	else if (op != OP_DESTROY && ret)
		range_fail(r, counts_failed(r->counts, ev->w->func, ret));
	if (op == OP_START && !awaited)
		start_return_alone(r, t, ev);
	if (!awaited)
		return;
	if (op == OP_START)
		start_return(r, t, ev);
	else if (op == OP_MARK || op == OP_MARK_EX)
		return_mark(r, t, ret, op);
	else if (op == OP_PUSH)
		return_push(r, t, ret);
	else if (ret && t->pending.stamp &&
		 (op == OP_MESSAGE || op == OP_CATEGORY || op == OP_PAYLOAD))
		undo_set(r, t, op);
	pending_done(t);
}

void call_enter(struct range *r, struct thread *t, const struct event *ev, bool blind)
{
	const enum op op = entry_get(ev->w->func)->op;

	if (r->cfg.returns || op == OP_START)
		await_return(t, ev);
	switch (op) {
	case OP_MARK:
		do_mark(r, t, ev, blind);
		break;
	case OP_MARK_EX:
		do_mark_ex(r, t, ev, blind);
		break;
	case OP_PUSH:
		do_push(r, t, ev, blind);
		break;
	case OP_POP:
		do_pop(r, t, ev, blind);
		break;
	case OP_START:
		start_enter(r, t, ev, blind);
		break;
	case OP_STOP:
		stop_enter(r, t, ev, blind);
		break;
	case OP_MESSAGE:
	case OP_CATEGORY:
	case OP_PAYLOAD:
		do_set(r, t, ev, op);
		break;
	case OP_CATEGORY_NAME:
		do_category_name(r, t, ev);
		break;
	case OP_CREATE:
	case OP_DESTROY:
	case OP_COUNT:
		break;
	}
}
