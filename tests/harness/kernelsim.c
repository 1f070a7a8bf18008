// SPDX-License-Identifier: GPL-2.0-only
#include "harness/kernelsim.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/entry.h"
#include "probe_config.h"

struct sim_thread {
	__u32 tgid, seq, depth, min;
	__u32 copy; /* of the last push or pop */
	bool mixed;
	__u64 pushed; /* stamp of the last push */
};

static struct sim_thread *sim_thread(struct kernelsim *k, const struct wire *w)
{
	__u64 key = (__u64)w->tgid << 32 | w->tid;
	struct sim_thread *t = map_get_ptr(&k->threads, key);

	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (t && map_set_ptr(&k->threads, key, t)) {
		free(t);
		return NULL;
	}
	if (t)
		t->tgid = w->tgid;
	return t;
}

static __u16 cap16(__u32 v)
{
	return v < UINT16_MAX ? (__u16)v : UINT16_MAX;
}

static void sim_effect(struct sim_thread *t, const struct wire *w)
{
	const struct entry *e = entry_get(w->func);

	if (!e)
		return;
	if (w->kind == WIRE_CALL && e->op == OP_PUSH) {
		t->depth++;
		t->pushed = w->arg0;
	} else if (w->kind == WIRE_CALL && e->op == OP_POP && t->depth) {
		t->depth--;
	}
}

/* Copies of the library take turns while something is open. */
static void sim_copy(struct sim_thread *t, const struct wire *w)
{
	const struct entry *e = entry_get(w->func);

	if (w->kind != WIRE_CALL || !e || (e->op != OP_PUSH && e->op != OP_POP))
		return;
	t->mixed |= t->depth && t->copy != w->arg1;
	t->copy = w->arg1;
}

/* A failed push with a stamp has not happened. */
static void sim_undo(struct sim_thread *t, const struct wire *w)
{
	const struct entry *e = entry_get(w->func);

	if (w->kind == WIRE_RETURN && e && e->op == OP_PUSH && (__s32)w->arg0 && t->pushed &&
	    t->depth)
		t->depth--;
	if (t->depth < t->min)
		t->min = t->depth;
}

static void sim_count(struct kernelsim *k, const struct wire *w, bool lost)
{
	bool call = w->kind == WIRE_CALL, probe = call || w->kind == WIRE_RETURN;
	struct sim_count *c = &k->funcs[probe ? w->func : PROBE_FUNC_LIFECYCLE];

	c->total.calls += call;
	if (!lost)
		return;
	if (c->total.lost == c->told_lost && c->total.lost_returns == c->told_returns)
		c->from_ns = w->time_ns;
	c->to_ns = w->time_ns;
	if (w->kind == WIRE_RETURN)
		c->total.lost_returns++;
	else
		c->total.lost++;
}

static void forget_threads(struct kernelsim *k, __u32 tgid)
{
	uint64_t key, val;
	size_t pos = 0;

	while (map_next(&k->threads, &pos, &key, &val)) {
		if ((__u32)(key >> 32) != tgid)
			continue;
		free((void *)(uintptr_t)val);
		map_del(&k->threads, key);
		pos = 0;
	}
}

static int sim_lifecycle(struct kernelsim *k, const struct wire *w, bool lost)
{
	__u64 key = (__u64)w->tgid << 32 | w->tid;

	switch (w->kind) {
	case WIRE_FORK:
		/* A child whose fork record is lost cannot be proven to start from scratch. */
		return map_set(&k->procs, (__u32)w->arg0, lost ? 2 : 1);
	case WIRE_EXEC:
		forget_threads(k, w->tgid);
		return 0;
	case WIRE_EXIT:
		free((void *)(uintptr_t)map_del(&k->threads, key));
		if (w->flags & WIRE_F_LAST) {
			forget_threads(k, w->tgid);
			map_del(&k->procs, w->tgid);
		}
		return 0;
	default:
		return 0;
	}
}

int sim_record(struct kernelsim *k, struct wire *w, bool lost)
{
	__u64 gap = map_get(&k->procs, w->tgid);
	struct sim_thread *t;

	if (!gap)
		gap = 1;
	w->gap = (__u32)(gap - 1);
	if (map_set(&k->procs, w->tgid, gap + lost))
		return -ENOMEM;
	sim_count(k, w, lost);
	if ((w->flags & WIRE_F_NO_STATE) || w->kind == WIRE_FORK || w->kind == WIRE_EXEC ||
	    w->kind == WIRE_LOADED)
		return sim_lifecycle(k, w, lost);
	t = sim_thread(k, w);
	if (!t)
		return -ENOMEM;
	sim_undo(t, w);
	t->seq += w->kind == WIRE_CALL;
	w->seq = t->seq;
	w->depth = cap16(t->depth);
	w->min_depth = cap16(t->min);
	sim_copy(t, w);
	w->flags |= t->mixed ? WIRE_F_MIXED : 0;
	sim_effect(t, w);
	if (w->kind == WIRE_CALL && (!lost || t->depth < t->min))
		t->min = t->depth;
	return sim_lifecycle(k, w, lost);
}

bool sim_loss(struct kernelsim *k, __u8 func, __u64 now_ns, struct wire *w)
{
	struct sim_count *c = &k->funcs[func];
	__u64 n = c->total.lost - c->told_lost;

	*w = (struct wire){.time_ns = now_ns, .kind = WIRE_LOSS, .func = func};
	w->arg0 = c->from_ns < now_ns ? c->from_ns : now_ns;
	if (n) {
		c->told_lost += n;
	} else {
		n = c->total.lost_returns - c->told_returns;
		c->told_returns += n;
		w->flags = WIRE_F_RETURNS;
	}
	w->arg1 = (__u32)n;
	return n;
}

void sim_free(struct kernelsim *k)
{
	uint64_t key, val;
	size_t pos = 0;

	while (map_next(&k->threads, &pos, &key, &val))
		free((void *)(uintptr_t)val);
	map_free(&k->threads);
	map_free(&k->procs);
}
