// SPDX-License-Identifier: GPL-2.0-only
#include "harness/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_PROCS 3
#define N_THREADS 3
#define N_STAMPS 4 /* 0 is the NULL stamp; a stamp's number is its range id */
#define N_DEPTH 6
#define N_COPIES 2

enum {
	F_CREATE,
	F_MESSAGE,
	F_MARK,
	F_PUSH,
	F_POP,
	F_START,
	F_STOP,
	F_DESTROY,
	F_MARK_EX,
	F_CATEGORY
};

/* What a stamp carries. */
struct text {
	char name[8];
	uint32_t category;
	int rec, category_rec;
};

struct thread {
	bool alive;
	uint32_t tid;
	int stack[N_DEPTH], depth;
	unsigned int copies[N_DEPTH]; /* of the library, of the levels */
	struct text null;
	int call;	    /* function it is in, -1 = none */
	unsigned int stamp; /* of that call */
	int truth;	    /* what that call made, -1 = nothing */
	int32_t ret;	    /* what it will return */
	uint32_t id;	    /* of range_start */
	unsigned int copy;  /* of the library that it calls */
	bool superseding;   /* range_start: the id was open at its entry */
};

struct proc {
	bool alive;
	uint32_t pid, parent;
	bool exit_lost; /* the last record of its predecessor was lost */
	struct thread threads[N_THREADS];
	struct text stamps[N_STAMPS];
	int open[N_COPIES][N_STAMPS]; /* id -> truth, -1 = not open */
};

struct gen {
	struct world *w;
	const struct world_opts *opts;
	uint64_t random;
	struct proc procs[N_PROCS];
	unsigned int names, burst;
	int last; /* thread of the last record, to keep equal times within one */
	int err;
};

uint64_t world_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static unsigned int below(struct gen *g, unsigned int n)
{
	return (unsigned int)(world_random(&g->random) % n);
}

/* ---- Memory -------------------------------------------------------------------------------- */

static struct world_rec *new_rec(struct gen *g)
{
	struct world *w = g->w;
	struct world_rec *recs;

	if (w->n_recs == w->room_recs) {
		w->room_recs = w->room_recs ? 2 * w->room_recs : 256;
		recs = realloc(w->recs, (size_t)w->room_recs * sizeof(*recs));
		if (!recs) {
			g->err = -ENOMEM;
			return NULL;
		}
		w->recs = recs;
	}
	w->recs[w->n_recs] = (struct world_rec){0};
	return &w->recs[w->n_recs++];
}

static int new_truth(struct gen *g)
{
	struct world *w = g->w;
	struct truth *truths;

	if (w->n_truths == w->room_truths) {
		w->room_truths = w->room_truths ? 2 * w->room_truths : 64;
		truths = realloc(w->truths, (size_t)w->room_truths * sizeof(*truths));
		if (!truths) {
			g->err = -ENOMEM;
			return -1;
		}
		w->truths = truths;
	}
	w->truths[w->n_truths] = (struct truth){
		.parent = -1, .open_rec = -1, .close_rec = -1, .ret_rec = -1, .text_rec = -1};
	return w->n_truths++;
}

/* ---- Records ------------------------------------------------------------------------------- */

/* Drops come in bursts, as those of a full ring do. */
static bool dropped(struct gen *g)
{
	if (g->burst) {
		g->burst--;
		return true;
	}
	if (!g->opts->drop || below(g, 1000) * 3 >= g->opts->drop)
		return false;
	g->burst = below(g, 5);
	return true;
}

/* Records of one thread may have equal times, but a return comes after its call. */
static void tick(struct gen *g, uint32_t tid, bool strict)
{
	g->w->now += (int)tid != g->last || strict ? 1 + below(g, 5) : below(g, 3);
	g->last = strict ? -1 : (int)tid;
}

/* Returns the index of the record. */
static int record(struct gen *g, const struct proc *p, uint32_t tid, struct wire w,
		  const char *text, bool may_drop)
{
	struct world_rec *r = new_rec(g);

	if (!r)
		return -1;
	tick(g, tid, w.kind != WIRE_CALL);
	r->w = w;
	r->w.time_ns = g->w->now;
	r->w.tgid = p->pid;
	r->w.tid = tid;
	r->w.msg_len = (__u16)strlen(text);
	r->w.len = (__u16)(sizeof(w) + r->w.msg_len);
	memcpy(r->text, text, r->w.msg_len);
	r->lost = dropped(g) && may_drop;
	if (r->lost && w.kind != WIRE_CALL && w.kind != WIRE_RETURN)
		g->w->processes_lost++;
	if (sim_record(&g->w->kernel, &r->w, r->lost))
		g->err = -ENOMEM;
	return g->w->n_recs - 1;
}

static const struct wire *rec_at(const struct gen *g, int i)
{
	return &g->w->recs[i].w;
}

/* ---- What calls do ------------------------------------------------------------------------- */

static struct text *text_of(struct proc *p, struct thread *t, unsigned int stamp)
{
	return stamp ? &p->stamps[stamp] : &t->null;
}

static int begin(struct gen *g, struct proc *p, struct thread *t, enum span_kind kind, int rec,
		 const struct text *text)
{
	int i = new_truth(g);
	struct truth *s;

	if (i < 0)
		return -1;
	s = &g->w->truths[i];
	s->kind = kind;
	s->status = SPAN_OPEN;
	s->start_ns = rec_at(g, rec)->time_ns;
	s->pid = p->pid;
	s->tid = s->end_tid = t->tid;
	s->seq = rec_at(g, rec)->seq;
	s->depth = (uint32_t)t->depth;
	s->parent = t->depth ? t->stack[t->depth - 1] : -1;
	s->exists = true;
	s->open_rec = rec;
	memcpy(s->name, text->name, sizeof(s->name));
	s->text_rec = text->rec;
	s->category = text->category;
	s->category_rec = text->category_rec;
	return i;
}

static void end(struct gen *g, int truth, enum span_status status, uint64_t end_ns, uint32_t tid,
		int rec)
{
	struct truth *s = &g->w->truths[truth];

	s->status = status;
	s->end_ns = end_ns;
	s->end_tid = tid;
	s->close_rec = rec;
}

static void set_name(struct gen *g, struct text *text, const char *name, int rec)
{
	(void)g;
	memset(text->name, 0, sizeof(text->name));
	memcpy(text->name, name, strlen(name));
	text->rec = rec;
}

static int flights(const struct proc *p, unsigned int copy, uint32_t id, bool *superseding)
{
	int n = 0;

	for (int i = 0; i < N_THREADS; i++) {
		const struct thread *t = &p->threads[i];

		if (!t->alive || t->call != F_START || t->ret || t->id != id || t->copy != copy)
			continue;
		n++;
		*superseding |= t->superseding;
	}
	return n;
}

/*
 * Nobody can say which of two starts in flight a stop would meet, or which of two came first to
 * supersede a third: such programs are not made.
 */
static bool id_is_clear(const struct proc *p, unsigned int copy, uint32_t id)
{
	bool superseding = false;
	int n = flights(p, copy, id, &superseding);

	return !n || (n == 1 && !superseding);
}

/* While a setting may yet fail, what its stamp carries is anybody's guess. */
static bool stamp_is_clear(const struct proc *p, unsigned int stamp)
{
	for (int i = 0; i < N_THREADS; i++) {
		const struct thread *t = &p->threads[i];

		if (t->alive && (t->call == F_MESSAGE || t->call == F_CATEGORY) &&
		    t->stamp == stamp && stamp)
			return false;
	}
	return true;
}

static void call_start(struct gen *g, struct proc *p, struct thread *t, unsigned int stamp, int rec)
{
	int old = p->open[t->copy][stamp];

	t->id = stamp;
	t->superseding = old >= 0;
	t->truth = begin(g, p, t, SPAN_START_END, rec, text_of(p, t, stamp));
	if (t->truth < 0)
		return;
	if (!stamp)
		t->ret = 100000;
	if (t->ret) {
		g->w->truths[t->truth].exists = false;
		return;
	}
	if (old >= 0)
		end(g, old, SPAN_SUPERSEDED, rec_at(g, rec)->time_ns, g->w->truths[old].tid, rec);
	p->open[t->copy][stamp] = t->truth;
}

static void call_stop(struct gen *g, struct proc *p, const struct thread *t, unsigned int id,
		      int rec)
{
	int *open = &p->open[t->copy][id];

	if (*open < 0) {
		g->w->orphans[F_STOP]++;
		return;
	}
	end(g, *open, SPAN_COMPLETE, rec_at(g, rec)->time_ns, t->tid, rec);
	*open = -1;
}

static void call_pop(struct gen *g, struct thread *t, int rec)
{
	int at = t->depth - 1;

	while (at >= 0 && t->copies[at] != t->copy)
		at--;
	if (at < 0) {
		g->w->orphans[F_POP]++;
		return;
	}
	end(g, t->stack[at], SPAN_COMPLETE, rec_at(g, rec)->time_ns, t->tid, rec);
	for (int i = at + 1; i < t->depth; i++) {
		struct truth *above = &g->w->truths[t->stack[i]];

		above->depth--;
		if (above->parent == t->stack[at])
			above->parent = g->w->truths[t->stack[at]].parent;
	}
	for (t->depth--; at < t->depth; at++) {
		t->stack[at] = t->stack[at + 1];
		t->copies[at] = t->copies[at + 1];
	}
}

/* The effect of a call that does not fail (or fails on a NULL stamp). */
static void effect(struct gen *g, struct proc *p, struct thread *t, unsigned int stamp, int rec,
		   const char *name)
{
	struct text own = {.rec = rec, .category_rec = -1};

	switch (t->call) {
	case F_MESSAGE:
		set_name(g, text_of(p, t, stamp), name, rec);
		break;
	case F_CATEGORY:
		text_of(p, t, stamp)->category = rec_at(g, rec)->arg1;
		text_of(p, t, stamp)->category_rec = rec;
		break;
	case F_MARK_EX:
		set_name(g, &own, name, rec);
		t->truth = begin(g, p, t, SPAN_MARKER_EX, rec, &own);
		end(g, t->truth, SPAN_COMPLETE, rec_at(g, rec)->time_ns, t->tid, rec);
		break;
	case F_MARK:
		t->truth = begin(g, p, t, SPAN_MARKER, rec, text_of(p, t, stamp));
		end(g, t->truth, SPAN_COMPLETE, rec_at(g, rec)->time_ns, t->tid, rec);
		break;
	case F_PUSH:
		t->truth = begin(g, p, t, SPAN_PUSH_POP, rec, text_of(p, t, stamp));
		t->copies[t->depth] = t->copy;
		t->stack[t->depth++] = t->truth;
		break;
	case F_POP:
		call_pop(g, t, rec);
		break;
	}
}

static void enter(struct gen *g, struct proc *p, struct thread *t)
{
	static const uint8_t often[] = {F_MESSAGE, F_MESSAGE, F_MARK, F_PUSH,	 F_PUSH,
					F_PUSH,	   F_POP,     F_POP,  F_POP,	 F_START,
					F_START,   F_STOP,    F_STOP, F_MARK_EX, F_CATEGORY};
	unsigned int stamp = below(g, N_STAMPS);
	struct wire w = {.kind = WIRE_CALL, .arg0 = stamp};
	unsigned int copy = g->opts->copies ? below(g, N_COPIES) : 0;
	bool clear = stamp_is_clear(p, stamp), clear_id = id_is_clear(p, copy, stamp);
	char name[8] = "";
	int rec;

	t->call = often[below(g, sizeof(often))];
	t->stamp = stamp;
	t->copy = copy;
	if (t->call == F_CATEGORY && !g->opts->categories)
		t->call = F_MESSAGE;
	if ((t->call == F_PUSH && t->depth == N_DEPTH) || !clear)
		t->call = F_POP;
	if ((t->call == F_STOP || t->call == F_START) && !clear_id)
		t->call = F_POP;
	t->truth = -1;
	t->ret = below(g, 5) || !(g->opts->returns || t->call == F_START) ? 0 : -1;
	if (t->call == F_MESSAGE || t->call == F_MARK_EX)
		snprintf(name, sizeof(name), "n%x", ++g->names & 0xffff);
	w.func = (__u8)t->call;
	w.arg1 = t->call == F_CATEGORY ? ++g->names
		 : *name	       ? (__u32)strlen(name)
		 : g->opts->copies     ? copy + 1
				       : 0;
	rec = record(g, p, t->tid, w, name, true);
	if (rec < 0 || g->err)
		return;
	if (t->call == F_START)
		call_start(g, p, t, stamp, rec);
	else if (t->call == F_STOP)
		call_stop(g, p, t, stamp, rec);
	else if (!t->ret || !stamp || t->call == F_POP || t->call == F_MARK_EX)
		effect(g, p, t, stamp, rec, name);
	if (!g->opts->returns && t->call != F_START)
		t->call = -1;
}

static void leave(struct gen *g, struct proc *p, struct thread *t)
{
	struct wire w = {.kind = WIRE_RETURN, .func = (__u8)t->call};
	int rec;

	w.arg0 = (__u64)(__s64)t->ret;
	w.arg1 = t->call == F_START && !t->ret ? t->id : 77;
	if (t->call == F_START && g->opts->copies)
		w.arg0 = (__u32)w.arg0 | (__u64)(t->copy + 1) << 32;
	rec = record(g, p, t->tid, w, "", true);
	if (rec >= 0 && t->truth >= 0) {
		g->w->truths[t->truth].ret_rec = rec;
		g->w->truths[t->truth].ret = t->ret;
	}
	g->w->failed += t->ret != 0;
	t->call = -1;
}

static void create(struct gen *g, struct proc *p, struct thread *t)
{
	unsigned int stamp = below(g, N_STAMPS);
	struct wire w = {.kind = WIRE_RETURN, .func = F_CREATE, .arg0 = stamp};
	int rec = record(g, p, t->tid, w, "", true);

	if (!stamp)
		g->w->null_stamps++;
	else if (g->opts->lifecycle)
		p->stamps[stamp] = (struct text){.rec = rec, .category_rec = rec};
}

/* ---- Processes ------------------------------------------------------------------------------ */

static const struct text no_text = {.rec = -1, .category_rec = -1};

static void thread_begin(struct thread *t, uint32_t tid)
{
	*t = (struct thread){.alive = true, .tid = tid, .call = -1, .truth = -1, .null = no_text};
}

static void fresh(struct proc *p)
{
	for (int i = 0; i < N_STAMPS; i++) {
		p->stamps[i] = no_text;
		for (int c = 0; c < N_COPIES; c++)
			p->open[c][i] = -1;
	}
}

static bool idle(const struct proc *p)
{
	for (int i = 0; i < N_THREADS; i++)
		if (p->threads[i].alive && p->threads[i].call >= 0)
			return false;
	return true;
}

static void end_thread(struct gen *g, struct thread *t, int rec)
{
	while (t->depth)
		end(g, t->stack[--t->depth], SPAN_UNFINISHED, rec_at(g, rec)->time_ns, t->tid, -1);
	t->alive = false;
}

static int exit_thread(struct gen *g, struct proc *p, struct thread *t, bool last)
{
	struct wire w = {.kind = WIRE_EXIT, .flags = last ? WIRE_F_LAST : 0};
	int rec = record(g, p, t->tid, w, "", !g->opts->safe_processes);

	if (rec >= 0)
		end_thread(g, t, rec);
	return rec;
}

static void end_opens(struct gen *g, struct proc *p, int rec)
{
	for (int i = 0; i < N_COPIES * N_STAMPS; i++) {
		int *open = &p->open[i / N_STAMPS][i % N_STAMPS];

		if (*open >= 0)
			end(g, *open, SPAN_UNFINISHED, rec_at(g, rec)->time_ns,
			    g->w->truths[*open].tid, -1);
		*open = -1;
	}
}

/* All threads but the main one, then that. */
static void exit_proc(struct gen *g, struct proc *p)
{
	int rec;

	for (int i = 1; i < N_THREADS; i++)
		if (p->threads[i].alive)
			exit_thread(g, p, &p->threads[i], false);
	rec = exit_thread(g, p, &p->threads[0], true);
	if (rec < 0)
		return;
	end_opens(g, p, rec);
	p->exit_lost = g->w->recs[rec].lost;
	p->alive = false;
}

static void exec_proc(struct gen *g, struct proc *p)
{
	struct wire w = {.kind = WIRE_EXEC};
	int rec;

	for (int i = 1; i < N_THREADS; i++)
		if (p->threads[i].alive)
			exit_thread(g, p, &p->threads[i], false);
	rec = record(g, p, p->pid, w, "new", !g->opts->safe_processes);
	if (rec < 0)
		return;
	end_thread(g, &p->threads[0], rec);
	end_opens(g, p, rec);
	fresh(p);
	thread_begin(&p->threads[0], p->pid);
}

/* The child's texts have no record in it: whether they are proven is for the core to say. */
static void fork_proc(struct gen *g, struct proc *p, const struct thread *t, struct proc *child)
{
	struct wire w = {.kind = WIRE_FORK, .arg0 = child->pid};
	bool may_drop = !child->exit_lost && !g->opts->safe_processes;
	int rec = record(g, p, t->tid, w, "kid", may_drop);

	if (rec < 0)
		return;
	fresh(child);
	for (int i = 0; i < N_STAMPS; i++) {
		child->stamps[i] = p->stamps[i];
		child->stamps[i].rec = child->stamps[i].category_rec = -1;
	}
	thread_begin(&child->threads[0], child->pid);
	child->threads[0].null = t->null;
	child->threads[0].null.rec = child->threads[0].null.category_rec = -1;
	child->alive = true;
}

static void other(struct gen *g, struct proc *p, struct thread *t)
{
	int i = 1 + (int)below(g, N_THREADS - 1);
	struct proc *child = &g->procs[below(g, N_PROCS)];

	switch (below(g, 8)) {
	case 0:
		if (!child->alive && (idle(p) || !g->opts->returns))
			fork_proc(g, p, t, child);
		break;
	case 1:
		if (idle(p) && !below(g, 3))
			exec_proc(g, p);
		break;
	case 2:
		if (idle(p) && !below(g, 3))
			exit_proc(g, p);
		break;
	case 3:
	case 4:
		if (t != &p->threads[0])
			exit_thread(g, p, t, false);
		break;
	case 5:
		create(g, p, t);
		break;
	default:
		if (!p->threads[i].alive)
			thread_begin(&p->threads[i], p->pid + (uint32_t)i);
	}
}

static void step(struct gen *g)
{
	struct proc *p = &g->procs[below(g, N_PROCS)];
	struct thread *t = &p->threads[below(g, N_THREADS)];

	if (!p->alive || !t->alive)
		return;
	if (t->call >= 0)
		leave(g, p, t);
	else if (below(g, 10))
		enter(g, p, t);
	else
		other(g, p, t);
}

int world_make(uint64_t seed, const struct world_opts *opts, struct world *out)
{
	struct gen g = {.w = out, .opts = opts, .random = seed};

	*out = (struct world){.now = 1000};
	for (int i = 0; i < N_PROCS; i++) {
		g.procs[i].pid = (uint32_t)(i + 1) * 10;
		fresh(&g.procs[i]);
	}
	g.procs[0].alive = true;
	for (unsigned int i = 0; i < N_THREADS; i++)
		thread_begin(&g.procs[0].threads[i], 10 + i);
	for (unsigned int i = 0; i < opts->steps && !g.err; i++)
		step(&g);
	for (int i = 0; i < N_PROCS * N_THREADS && !g.err; i++) {
		struct thread *t = &g.procs[i / N_THREADS].threads[i % N_THREADS];

		if (g.procs[i / N_THREADS].alive && t->alive && t->call >= 0)
			leave(&g, &g.procs[i / N_THREADS], t);
	}
	return g.err;
}

void world_free(struct world *w)
{
	free(w->truths);
	free(w->recs);
	sim_free(&w->kernel);
	*w = (struct world){0};
}
