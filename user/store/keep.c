// SPDX-License-Identifier: GPL-2.0-only
#include "store/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct keep_fact {
	uint32_t tgid, tid, key;
	uint16_t sz;
	char *rec; /* owned */
};

static uint64_t fact_key(const struct wire *w)
{
	return (uint64_t)(w->tid ? w->tid : w->tgid) << 32 | w->arg1;
}

static int note_fact(struct keep *k, const struct wire *w, const void *rec)
{
	uint64_t at = map_get(&k->at, fact_key(w));
	char *copy = malloc(w->len);
	struct keep_fact *f;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, rec, w->len);
	if (!at && k->n == k->cap) {
		size_t cap = k->cap ? 2 * k->cap : 64;

		f = realloc(k->facts, cap * sizeof(*f));
		if (f) {
			k->facts = f;
			k->cap = cap;
		}
	}
	if (!at && (k->n == k->cap || map_set(&k->at, fact_key(w), k->n + 1))) {
		free(copy);
		return -ENOMEM;
	}
	f = at ? &k->facts[at - 1] : &k->facts[k->n++];
	if (at)
		free(f->rec);
	*f = (struct keep_fact){w->tgid, w->tid, w->arg1, w->len, copy};
	return 0;
}

static void forget_process(struct keep *k, uint32_t tgid)
{
	for (size_t i = k->n; i-- > 0;) {
		struct keep_fact *f = &k->facts[i];

		if (f->tgid != tgid)
			continue;
		map_del(&k->at, (uint64_t)(f->tid ? f->tid : f->tgid) << 32 | f->key);
		free(f->rec);
		*f = k->facts[--k->n];
		if (i < k->n) /* replaces a value: needs no memory */
			map_set(&k->at, (uint64_t)(f->tid ? f->tid : f->tgid) << 32 | f->key,
				i + 1);
	}
}

int keep_note(struct keep *k, const void *rec)
{
	struct wire w;

	memcpy(&w, rec, sizeof(w));
	if (!k->first_ns || w.time_ns < k->first_ns)
		k->first_ns = w.time_ns;
	if (w.time_ns > k->last_ns)
		k->last_ns = w.time_ns;
	if (w.kind == WIRE_FACT)
		return note_fact(k, &w, rec);
	if (w.kind == WIRE_CLOCK && w.len <= sizeof(k->clock))
		memcpy(k->clock, rec, w.len);
	else if (w.kind == WIRE_CALL && w.func < PROBE_FUNCS)
		k->part.calls[w.func]++;
	else if (w.kind == WIRE_LOSS && w.func < PROBE_FUNCS && !(w.flags & WIRE_F_RETURNS))
		k->part.lost[w.func] += w.arg1;
	else if (w.kind == WIRE_EXIT && w.flags & WIRE_F_LAST)
		forget_process(k, w.tgid);
	return 0;
}

void keep_next_part(struct keep *k)
{
	k->older = k->before;
	for (size_t i = 0; i < PROBE_FUNCS; i++) {
		k->before.calls[i] += k->part.calls[i];
		k->before.lost[i] += k->part.lost[i];
	}
	memset(&k->part, 0, sizeof(k->part));
}

static int put_loss(const struct keep *k, unsigned int func,
		    int (*put)(void *ctx, const void *rec, size_t sz), void *ctx)
{
	uint64_t left = k->before.calls[func] + k->before.lost[func];
	int err = 0;

	while (left && !err) {
		struct wire w = {.kind = WIRE_LOSS, .len = sizeof(w), .func = (uint8_t)func};

		w.arg0 = k->first_ns;
		w.time_ns = k->last_ns;
		w.arg1 = left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
		left -= w.arg1;
		err = put(ctx, &w, sizeof(w));
	}
	return err;
}

int keep_begin(const struct keep *k, int (*put)(void *ctx, const void *rec, size_t sz), void *ctx)
{
	struct wire clock;
	int err = 0;

	memcpy(&clock, k->clock, sizeof(clock));
	if (clock.len)
		err = put(ctx, k->clock, clock.len);
	for (size_t i = 0; i < k->n && !err; i++)
		err = put(ctx, k->facts[i].rec, k->facts[i].sz);
	for (unsigned int i = 0; i < PROBE_FUNCS && !err; i++)
		err = put_loss(k, i, put, ctx);
	return err;
}

uint64_t keep_dropped(const struct keep *k, unsigned int func)
{
	return func < PROBE_FUNCS ? k->older.calls[func] : 0;
}

void keep_free(struct keep *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->facts[i].rec);
	free(k->facts);
	map_free(&k->at);
	*k = (struct keep){0};
}
