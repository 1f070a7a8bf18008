// SPDX-License-Identifier: GPL-2.0-only
#include "store/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "util/hash.h"

/* What a record is the last one of; within its process and kind by a key. */
enum kind {
	KEEP_FACT,
	KEEP_THREAD, /* its name */
	KEEP_TEXT,   /* set on a stamp, by its address */
	KEEP_CATEGORY,
	KEEP_PAYLOAD,
	KEEP_NULL_TEXT, /* set on the NULL stamp of a thread */
	KEEP_NULL_CATEGORY,
	KEEP_NULL_PAYLOAD,
	KEEP_PENDING, /* with --returns: a setting that may still fail, by thread */
	KEEP_NAME,    /* of a category */
	KEEP_OPEN,    /* return of a start, by range id */
	KEEP_FLIGHT,  /* a start that has not returned, by thread; not repeated */
	KEEP_EARLY,   /* a stop that may be of one of these, by range id; not repeated */
	KEEP_TAKEN,   /* what used a range id while starts were in flight; not repeated */
	KEEP_KINDS,
};

#define TO_NULL (KEEP_NULL_TEXT - KEEP_TEXT)

struct keep_item {
	struct keep_item *prev, *next; /* of its process, in order of appearance */
	uint64_t key;
	enum kind kind;
	bool undone; /* KEEP_PENDING: its stamp was created meanwhile */
	uint16_t sz, room;
	char rec[];
};

struct keep_proc {
	struct keep_proc *prev, *next;
	uint32_t tgid;
	uint32_t unknown; /* enum wire_dropped: it has, or may have, what is not kept */
	struct map maps[KEEP_KINDS];
	struct keep_item *first, *last;
};

/* ---- Processes and what is kept of them ---------------------------------------------------- */

static struct keep_proc *proc_of(struct keep *k, uint32_t tgid)
{
	if (!k->recent || k->recent->tgid != tgid)
		k->recent = map_get_ptr(&k->procs, tgid);
	return k->recent;
}

static struct keep_proc *proc_make(struct keep *k, uint32_t tgid)
{
	struct keep_proc *p = proc_of(k, tgid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p || map_set_ptr(&k->procs, tgid, p)) {
		free(p);
		return NULL;
	}
	p->tgid = tgid;
	p->prev = k->last;
	*(p->prev ? &p->prev->next : &k->first) = p;
	k->last = p;
	return k->recent = p;
}

static bool is_fact(enum kind kind)
{
	return kind == KEEP_FACT || kind == KEEP_THREAD;
}

/* Facts are few: some of a process, a name of each of its threads that live. */
static size_t cost(const struct keep_item *i)
{
	return is_fact(i->kind) ? 0 : sizeof(struct wire) + i->room;
}

static void item_drop(struct keep *k, struct keep_proc *p, struct keep_item *i)
{
	*(i->prev ? &i->prev->next : &p->first) = i->next;
	*(i->next ? &i->next->prev : &p->last) = i->prev;
	map_del(&p->maps[i->kind], i->key);
	k->used -= cost(i);
	free(i);
}

static void forget(struct keep *k, struct keep_proc *p, enum kind kind, uint64_t key)
{
	struct keep_item *i = p ? map_get_ptr(&p->maps[kind], key) : NULL;

	if (i)
		item_drop(k, p, i);
}

static struct wire record_of(const struct keep_item *i)
{
	struct wire w;

	memcpy(&w, i->rec, sizeof(w));
	return w;
}

/* Its program was replaced, or it is another process: only facts about it hold on. */
static void forget_state(struct keep *k, struct keep_proc *p)
{
	for (struct keep_item *i = p->first, *next; i; i = next) {
		next = i->next;
		if (i->kind != KEEP_FACT)
			item_drop(k, p, i);
	}
	p->unknown = 0;
}

static void proc_drop(struct keep *k, struct keep_proc *p)
{
	while (p->first)
		item_drop(k, p, p->first);
	for (size_t i = 0; i < KEEP_KINDS; i++)
		map_free(&p->maps[i]);
	*(p->prev ? &p->prev->next : &k->first) = p->next;
	*(p->next ? &p->next->prev : &k->last) = p->prev;
	map_del(&k->procs, p->tgid);
	k->recent = NULL;
	free(p);
}

static struct keep_item *item_new(struct keep *k, struct keep_proc *p, const struct wire *w,
				  enum kind kind, uint64_t key)
{
	struct keep_item *i = malloc(sizeof(*i) + w->len);

	if (!i)
		return NULL;
	*i = (struct keep_item){.key = key, .kind = kind, .room = w->len, .prev = p->last};
	if (map_set_ptr(&p->maps[kind], key, i)) {
		free(i);
		return NULL;
	}
	*(i->prev ? &i->prev->next : &p->first) = i;
	p->last = i;
	k->used += cost(i);
	return i;
}

/* The record takes the place of the one before it of that kind and key. */
static int keep_last(struct keep *k, enum kind kind, uint64_t key, const struct wire *w,
		     const void *rec)
{
	struct keep_proc *p = proc_make(k, w->tgid);
	struct keep_item *i;

	if (!p)
		return -ENOMEM;
	i = map_get_ptr(&p->maps[kind], key);
	if (i && record_of(i).time_ns > w->time_ns) /* of another CPU, and older */
		return 0;
	if (i && i->room < w->len) {
		item_drop(k, p, i);
		i = NULL;
	}
	if (!i && !is_fact(kind) && k->used + sizeof(*w) + w->len > k->room) {
		p->unknown |= kind >= KEEP_OPEN ? DROPPED_RANGES : DROPPED_STAMPS;
		return 0;
	}
	i = i ?: item_new(k, p, w, kind, key);
	if (!i)
		return -ENOMEM;
	memcpy(i->rec, rec, w->len);
	i->sz = w->len;
	i->undone = false;
	return 0;
}

/* ---- Records ------------------------------------------------------------------------------- */

/* More than there can be at a time are of threads whose exits were lost. */
static int note_thread(struct keep *k, const struct wire *w, const void *rec)
{
	const struct keep_proc *p = proc_of(k, w->tgid);

	if (p && p->maps[KEEP_THREAD].n >= PROBE_MAX_THREADS &&
	    !map_get_ptr(&p->maps[KEEP_THREAD], w->tid))
		return 0;
	return keep_last(k, KEEP_THREAD, w->tid, w, rec);
}

static int note_fact(struct keep *k, const struct event *ev)
{
	uint64_t key = (uint64_t)ev->w->tid << 32 | ev->w->arg1;
	const char *eq = memchr(ev->msg, '=', ev->w->msg_len);

	if (ev->w->arg1 == FACT_THREAD_NAME)
		return note_thread(k, ev->w, ev->msg - sizeof(*ev->w));
	/* Options have a key each, before the '='. */
	if (ev->w->arg1 == FACT_OPTION && eq)
		key = hash_bytes(key, ev->msg, (size_t)(eq - ev->msg));
	k->lifecycle |= decode_is_option(ev, "lifecycle=1");
	k->returns |= decode_is_option(ev, "returns=1");
	return keep_last(k, KEEP_FACT, key, ev->w, ev->msg - sizeof(*ev->w));
}

static int keep_setting(struct keep *k, const struct wire *w, const void *rec)
{
	const enum op op = entry_get(w->func)->op;
	enum kind kind = op == OP_MESSAGE    ? KEEP_TEXT
			 : op == OP_CATEGORY ? KEEP_CATEGORY
					     : KEEP_PAYLOAD;

	return w->arg0 ? keep_last(k, kind, w->arg0, w, rec)
		       : keep_last(k, kind + TO_NULL, w->tid, w, rec);
}

/* The setting that waited for its return holds, unless it failed. */
static int settle(struct keep *k, uint32_t tgid, uint32_t tid, bool failed)
{
	struct keep_proc *p = proc_of(k, tgid);
	struct keep_item *i = p ? map_get_ptr(&p->maps[KEEP_PENDING], tid) : NULL;
	struct wire w;
	int err = 0;

	if (!i)
		return 0;
	w = record_of(i);
	if (!i->undone && (!failed || !w.arg0))
		err = keep_setting(k, &w, i->rec);
	item_drop(k, p, i);
	return err;
}

/* No start is in flight any more that what came before its return could be of. */
static void forget_early(struct keep *k, struct keep_proc *p)
{
	struct keep_item *next;

	if (!p->maps[KEEP_EARLY].n && !p->maps[KEEP_TAKEN].n)
		return;
	for (struct keep_item *i = p->first; i; i = next) {
		next = i->next;
		if (i->kind == KEEP_EARLY || i->kind == KEEP_TAKEN)
			item_drop(k, p, i);
	}
}

/*
 * A start that is in flight may return that id as well: whether what was open then, or was ended,
 * is its range only the reconstruction can tell.
 */
static int note_taken(struct keep *k, const struct wire *w, const void *rec, uint64_t id)
{
	const struct keep_proc *p = proc_of(k, w->tgid);

	return p && p->maps[KEEP_FLIGHT].n ? keep_last(k, KEEP_TAKEN, id, w, rec) : 0;
}

static void land(struct keep *k, struct keep_proc *p, uint32_t tid)
{
	forget(k, p, KEEP_FLIGHT, tid);
	if (p && !p->maps[KEEP_FLIGHT].n)
		forget_early(k, p);
}

static int note_stop(struct keep *k, const struct wire *w, const void *rec)
{
	uint64_t id = decode_range_id(w);
	struct keep_proc *p = proc_of(k, w->tgid);
	struct keep_item *open = p ? map_get_ptr(&p->maps[KEEP_OPEN], id) : NULL;

	if (!open)
		return p && p->maps[KEEP_FLIGHT].n ? keep_last(k, KEEP_EARLY, id, w, rec) : 0;
	item_drop(k, p, open);
	return note_taken(k, w, rec, id);
}

/* A range has begun, unless it was stopped before its start returned. */
static int note_start(struct keep *k, const struct wire *w, const void *rec)
{
	uint64_t id = decode_range_id(w);
	struct keep_proc *p = proc_of(k, w->tgid);
	struct keep_item *start = p ? map_get_ptr(&p->maps[KEEP_FLIGHT], w->tid) : NULL;
	struct keep_item *stop = p ? map_get_ptr(&p->maps[KEEP_EARLY], id) : NULL;
	struct keep_item *taken = p ? map_get_ptr(&p->maps[KEEP_TAKEN], id) : NULL;
	int err;
	bool failed = (int32_t)w->arg0 || w->flags & WIRE_F_NO_ID;
	bool ended =
		!failed && start && stop && record_of(stop).time_ns >= record_of(start).time_ns;

	if (!failed && start && taken && record_of(taken).time_ns >= record_of(start).time_ns)
		p->unknown |= DROPPED_RANGES;
	if (ended)
		item_drop(k, p, stop);
	land(k, p, w->tid);
	err = failed ? 0 : note_taken(k, w, rec, id);
	return err || failed || ended ? err : keep_last(k, KEEP_OPEN, id, w, rec);
}

static int note_call(struct keep *k, const struct wire *w, const void *rec)
{
	const struct entry *e = entry_get(w->func);
	int err = k->returns ? settle(k, w->tgid, w->tid, false) : 0;

	land(k, proc_of(k, w->tgid), w->tid);
	if (w->func < PROBE_FUNCS)
		k->part.calls[w->func]++;
	if (err || !e)
		return err;
	switch (e->op) {
	case OP_MESSAGE:
	case OP_CATEGORY:
	case OP_PAYLOAD:
		return k->returns ? keep_last(k, KEEP_PENDING, w->tid, w, rec)
				  : keep_setting(k, w, rec);
	case OP_CATEGORY_NAME:
		return keep_last(k, KEEP_NAME, w->arg0, w, rec);
	case OP_START:
		return keep_last(k, KEEP_FLIGHT, w->tid, w, rec);
	case OP_STOP:
		return note_stop(k, w, rec);
	default:
		return 0;
	}
}

/* A new stamp carries nothing, nor what was being set on it when it was created. */
static void note_created(struct keep *k, const struct wire *w)
{
	struct keep_proc *p = proc_of(k, w->tgid);
	uint64_t key, val;
	size_t pos = 0;

	if (!p)
		return;
	for (enum kind kind = KEEP_TEXT; kind <= KEEP_PAYLOAD; kind++) {
		struct keep_item *i = map_get_ptr(&p->maps[kind], w->arg0);

		if (i && record_of(i).time_ns <= w->time_ns)
			item_drop(k, p, i);
	}
	while (map_next(&p->maps[KEEP_PENDING], &pos, &key, &val)) {
		struct keep_item *i = (struct keep_item *)(uintptr_t)val;

		i->undone |= record_of(i).arg0 == w->arg0 && record_of(i).time_ns <= w->time_ns;
	}
}

static int note_return(struct keep *k, const struct wire *w, const void *rec)
{
	const struct entry *e = entry_get(w->func);

	if (!e)
		return 0;
	switch (e->op) {
	case OP_START:
		return note_start(k, w, rec);
	case OP_CREATE:
		if (w->arg0 && k->lifecycle)
			note_created(k, w);
		return 0;
	case OP_MESSAGE:
	case OP_CATEGORY:
	case OP_PAYLOAD:
		return settle(k, w->tgid, w->tid, w->arg0 != 0);
	default:
		return 0;
	}
}

static bool has_settings(const struct keep_proc *p)
{
	for (enum kind i = KEEP_TEXT; i <= KEEP_PENDING; i++)
		if (p->maps[i].n)
			return true;
	return false;
}

/* The child has its parent's memory: settings that are kept of the parent alone. */
static int note_fork(struct keep *k, const struct wire *w)
{
	struct keep_proc *p = proc_of(k, (uint32_t)w->arg0);
	bool unknown = w->gap;

	if (p)
		forget_state(k, p);
	p = proc_of(k, w->tgid);
	unknown |= p && (p->unknown & DROPPED_STAMPS || has_settings(p));
	if (!unknown)
		return 0;
	p = proc_make(k, (uint32_t)w->arg0);
	if (!p)
		return -ENOMEM;
	p->unknown = DROPPED_STAMPS;
	return 0;
}

static int note_exit(struct keep *k, const struct wire *w)
{
	struct keep_proc *p = proc_of(k, w->tgid);
	int err;

	if (!p)
		return 0;
	if (w->flags & WIRE_F_LAST) {
		proc_drop(k, p);
		return 0;
	}
	err = settle(k, w->tgid, w->tid, false);
	land(k, p, w->tid);
	forget(k, p, KEEP_THREAD, w->tid);
	for (enum kind i = KEEP_NULL_TEXT; i <= KEEP_NULL_PAYLOAD; i++)
		forget(k, p, i, w->tid);
	return err;
}

static struct wire clock_of(const struct keep *k)
{
	struct wire w;

	memcpy(&w, k->clock, sizeof(w));
	return w;
}

int keep_note(struct keep *k, const void *rec)
{
	struct event ev;
	struct wire w;

	memcpy(&w, rec, sizeof(w));
	ev = (struct event){.w = &w, .msg = (const char *)rec + sizeof(w)};
	if (!k->first_ns || w.time_ns < k->first_ns)
		k->first_ns = w.time_ns;
	if (w.time_ns > k->last_ns)
		k->last_ns = w.time_ns;
	switch (w.kind) {
	case WIRE_FACT:
		return note_fact(k, &ev);
	case WIRE_CALL:
		return note_call(k, &w, rec);
	case WIRE_RETURN:
		return note_return(k, &w, rec);
	case WIRE_FORK:
		return note_fork(k, &w);
	case WIRE_EXEC:
		if (proc_of(k, w.tgid))
			forget_state(k, proc_of(k, w.tgid));
		return 0;
	case WIRE_EXIT:
		return note_exit(k, &w);
	case WIRE_CLOCK:
		/* All times follow the first one: it says when tracing began. */
		if (!clock_of(k).len && w.len <= sizeof(k->clock))
			memcpy(k->clock, rec, w.len);
		return 0;
	case WIRE_LOSS:
		if (w.func < PROBE_FUNCS && w.flags & WIRE_F_RETURNS)
			k->part.returns[w.func] += w.arg1;
		else if (w.func < PROBE_FUNCS)
			k->part.lost[w.func] += w.arg1;
		return 0;
	default:
		return 0;
	}
}

/* ---- A new part ---------------------------------------------------------------------------- */

struct put {
	int (*put)(void *ctx, const void *rec, size_t sz);
	void *ctx;
	int err; /* sticky */
};

static void put(struct put *to, const void *rec, size_t sz)
{
	if (!to->err)
		to->err = to->put(to->ctx, rec, sz);
}

void keep_next_part(struct keep *k)
{
	k->older = k->before;
	for (size_t i = 0; i < PROBE_FUNCS; i++) {
		k->before.calls[i] += k->part.calls[i];
		k->before.lost[i] += k->part.lost[i];
		k->before.returns[i] += k->part.returns[i];
		k->before.again[i] = 0;
	}
	memset(&k->part, 0, sizeof(k->part));
}

static void put_loss(const struct keep *k, unsigned int func, uint64_t left, uint16_t flags,
		     struct put *to)
{
	while (left && !to->err) {
		struct wire w = {
			.kind = WIRE_LOSS, .len = sizeof(w), .func = (uint8_t)func, .flags = flags};

		w.arg0 = k->first_ns;
		w.time_ns = k->last_ns;
		w.arg1 = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
		left -= w.arg1;
		put(to, &w, sizeof(w));
	}
}

static void put_unknown(const struct keep *k, const struct keep_proc *p, struct put *to)
{
	struct wire w = {.kind = WIRE_DROPPED, .len = sizeof(w), .tgid = p->tgid};

	w.time_ns = k->first_ns; /* before all that is known of it */
	w.arg1 = p->unknown;
	/* A stop can come before its start's return tells of which range it is. */
	if (p->maps[KEEP_FLIGHT].n)
		w.arg1 |= DROPPED_RANGES;
	if (w.arg1)
		put(to, &w, sizeof(w));
}

static void put_items(struct keep *k, const struct keep_proc *p, bool facts, struct put *to)
{
	for (const struct keep_item *i = p->first; i; i = i->next) {
		const struct wire w = record_of(i);

		if (is_fact(i->kind) != facts || i->kind >= KEEP_FLIGHT || i->undone)
			continue;
		if (w.kind == WIRE_CALL) /* then func is one of the table */
			k->before.again[w.func]++;
		put(to, i->rec, i->sz);
	}
}

int keep_begin(struct keep *k, int (*fn)(void *ctx, const void *rec, size_t sz), void *ctx)
{
	struct put to = {.put = fn, .ctx = ctx};

	if (clock_of(k).len)
		put(&to, k->clock, clock_of(k).len);
	/* Facts first: that is where readers look for them, before the first call. */
	for (const struct keep_proc *p = k->first; p; p = p->next)
		put_items(k, p, true, &to);
	for (const struct keep_proc *p = k->first; p; p = p->next)
		put_unknown(k, p, &to);
	for (const struct keep_proc *p = k->first; p; p = p->next)
		put_items(k, p, false, &to);
	for (unsigned int i = 0; i < PROBE_FUNCS; i++) {
		put_loss(k, i, k->before.calls[i] - k->before.again[i] + k->before.lost[i], 0, &to);
		put_loss(k, i, k->before.returns[i], WIRE_F_RETURNS, &to);
	}
	return to.err;
}

uint64_t keep_dropped(const struct keep *k, unsigned int func)
{
	return func < PROBE_FUNCS ? k->older.calls[func] - k->older.again[func] : 0;
}

void keep_free(struct keep *k)
{
	while (k->first)
		proc_drop(k, k->first);
	map_free(&k->procs);
	*k = (struct keep){0};
}
