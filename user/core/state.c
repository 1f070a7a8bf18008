// SPDX-License-Identifier: GPL-2.0-only
#include "core/state.h"

#include <errno.h>
#include <stdlib.h>

#include "core/entry.h"

/* ---- Processes and threads ---------------------------------------------------------------- */

struct proc *proc_get(struct range *r, uint32_t tgid, bool create)
{
	struct proc *p;
	int err;

	if (r->recent && r->recent->tgid == tgid)
		return r->recent->proc;
	p = map_get_ptr(&r->procs, tgid);
	if (p || !create || r->procs.n >= PROCS_MAX)
		return p;
	p = calloc(1, sizeof(*p));
	err = p ? map_set_ptr(&r->procs, tgid, p) : -ENOMEM;
	if (err) {
		free(p);
		range_fail(r, err);
		return NULL;
	}
	p->tgid = tgid;
	p->wait_end = &p->wait_first;
	p->prev = r->last;
	if (r->last)
		r->last->next = p;
	else
		r->first = p;
	r->last = p;
	return p;
}

static struct thread *thread_new(struct range *r, struct proc *p, uint32_t tid)
{
	struct thread *t = calloc(1, sizeof(*t));
	int err = t ? map_set_ptr(&r->threads, (uint64_t)p->tgid << 32 | tid, t) : -ENOMEM;

	if (err) {
		free(t);
		range_fail(r, err);
		return NULL;
	}
	t->tgid = p->tgid;
	t->tid = tid;
	t->proc = p;
	t->null.base_gap = p->base_gap;
	t->prev = p->last_thread;
	if (p->last_thread)
		p->last_thread->next = t;
	else
		p->threads = t;
	p->last_thread = t;
	return t;
}

struct thread *thread_get(struct range *r, uint32_t tgid, uint32_t tid, bool create)
{
	struct thread *t = r->recent;
	struct proc *p;

	if (t && t->tgid == tgid && t->tid == tid)
		return t;
	t = map_get_ptr(&r->threads, (uint64_t)tgid << 32 | tid);
	if (!t && create && r->threads.n < THREADS_MAX) {
		p = proc_get(r, tgid, true);
		t = p ? thread_new(r, p, tid) : NULL;
	}
	if (t)
		r->recent = t;
	return t;
}

void thread_drop(struct range *r, struct thread *t)
{
	struct proc *p = t->proc;

	if (r->recent == t)
		r->recent = NULL;
	r->n_open -= t->stack.real;
	stack_free(&t->stack);
	text_put(t->null.text);
	text_put(t->pending.o.text);
	text_put(t->pending.undo.text);
	*(t->prev ? &t->prev->next : &p->threads) = t->next;
	*(t->next ? &t->next->prev : &p->last_thread) = t->prev;
	map_del(&r->threads, (uint64_t)t->tgid << 32 | t->tid);
	free(t);
}

void proc_drop(struct range *r, struct proc *p)
{
	while (p->threads)
		thread_drop(r, p->threads);
	while (p->open_first)
		open_drop(r, p, p->open_first);
	while (p->wait_first) {
		struct waiter *w = p->wait_first;

		p->wait_first = w->next;
		free(w);
	}
	stamps_free(r, p);
	names_free(r, p);
	map_free(&p->opens);
	map_free(&p->closed);
	map_free(&p->closed_last);
	*(p->prev ? &p->prev->next : &r->first) = p->next;
	*(p->next ? &p->next->prev : &r->last) = p->prev;
	map_del(&r->procs, p->tgid);
	free(p);
}

/* ---- Stamps ------------------------------------------------------------------------------- */

struct stamp *stamp_get(struct range *r, struct proc *p, uint64_t addr, bool create)
{
	struct stamp *s = map_get_ptr(&p->stamps, addr);
	int err;

	if (s || !create)
		return s;
	if (p->stamps.n >= STAMPS_MAX || r->n_stamps >= ALL_STAMPS_MAX) {
		p->stamps_full = true;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	err = s ? map_set_ptr(&p->stamps, addr, s) : -ENOMEM;
	if (err) {
		free(s);
		range_fail(r, err);
		return NULL;
	}
	s->base_gap = p->base_gap;
	r->n_stamps++;
	return s;
}

void stamp_clear(struct stamp *s, uint64_t base_gap)
{
	uint32_t version = s->version;

	text_put(s->text);
	*s = (struct stamp){.base_gap = base_gap, .version = version + 1};
}

void stamp_copy(struct stamp *dst, const struct stamp *src)
{
	*dst = *src;
	text_get(dst->text);
}

void stamps_free(struct range *r, struct proc *p)
{
	uint64_t key, val;
	size_t pos = 0;

	while (map_next(&p->stamps, &pos, &key, &val)) {
		struct stamp *s = (struct stamp *)(uintptr_t)val;

		text_put(s->text);
		free(s);
	}
	r->n_stamps -= p->stamps.n;
	map_free(&p->stamps);
	p->stamps_full = false;
}

/* A child counts its losses anew, from 0: what was proven in the parent is set at 0 there. */
static uint64_t fork_gap(uint64_t set_at, uint64_t gap)
{
	return set_at == gap ? 0 : GAP_UNKNOWN;
}

void stamp_inherit(struct stamp *dst, const struct stamp *src, uint64_t gap)
{
	text_put(dst->text);
	stamp_copy(dst, src);
	dst->base_gap = fork_gap(src->base_gap, gap);
	dst->text_gap = fork_gap(src->text_gap, gap);
	dst->category_gap = fork_gap(src->category_gap, gap);
	dst->payload_gap = fork_gap(src->payload_gap, gap);
}

void stamps_fork(struct range *r, const struct proc *parent, struct proc *child, uint64_t gap)
{
	uint64_t key, val;
	size_t pos = 0;

	child->base_gap = fork_gap(parent->base_gap, gap);
	child->stamps_full = parent->stamps_full;
	/* All or none: in which order they come is not known. */
	if (r->n_stamps + parent->stamps.n > ALL_STAMPS_MAX || !may_copy(r, parent->stamps.n)) {
		child->stamps_full = true;
		return;
	}
	while (map_next(&parent->stamps, &pos, &key, &val)) {
		struct stamp *s = stamp_get(r, child, key, true);

		if (!s)
			return;
		stamp_inherit(s, (const struct stamp *)(uintptr_t)val, gap);
	}
}

/* ---- Open start/end ranges ---------------------------------------------------------------- */

struct open_range *open_find(const struct proc *p, uint64_t id)
{
	return map_get_ptr(&p->opens, id);
}

struct open_range *open_add(struct range *r, struct proc *p, uint64_t id, const struct open *o)
{
	struct open_range *n = malloc(sizeof(*n));
	int err = n ? map_set_ptr(&p->opens, id, n) : -ENOMEM;

	if (err) {
		free(n);
		text_put(o->text);
		range_fail(r, err);
		return NULL;
	}
	*n = (struct open_range){.o = *o, .id = id, .prev = p->open_last};
	*(n->prev ? &n->prev->next : &p->open_first) = n;
	p->open_last = n;
	r->n_open++;
	return n;
}

void open_drop(struct range *r, struct proc *p, struct open_range *o)
{
	*(o->prev ? &o->prev->next : &p->open_first) = o->next;
	*(o->next ? &o->next->prev : &p->open_last) = o->prev;
	map_del(&p->opens, o->id);
	text_put(o->o.text);
	free(o);
	r->n_open--;
}
