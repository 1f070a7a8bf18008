// SPDX-License-Identifier: GPL-2.0-only
#include "core/counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "probe_config.h"

void counts_time(struct counts *c, uint64_t time_ns)
{
	if (!c->first_ns || time_ns < c->first_ns)
		c->first_ns = time_ns;
	if (time_ns > c->last_ns)
		c->last_ns = time_ns;
}

void counts_add(struct counts *c, enum tally_kind kind, uint8_t func)
{
	c->funcs[func].by_kind[kind]++;
}

int counts_failed(struct counts *c, uint8_t func, int32_t ret)
{
	uint64_t key = (uint64_t)func << 32 | (uint32_t)ret;
	uint64_t n = map_get(&c->failed, key);

	if (!n && c->failed.n >= COUNT_RETS) {
		key = (uint64_t)func << 32;
		n = map_get(&c->failed, key);
	}
	return map_set(&c->failed, key, n + 1);
}

void counts_total(struct counts *c, const struct wire *w, const void *msg)
{
	memcpy(&c->funcs[w->func].total, msg, sizeof(struct wire_count));
	c->funcs[w->func].has_total = true;
	c->has_totals = true;
}

static int tell(const struct counts_next *next, const struct tally *t)
{
	return t->count ? next->tally(next->ctx, t) : 0;
}

static enum tally_kind kind_of_loss(uint8_t func)
{
	return func == PROBE_FUNC_LIFECYCLE ? TALLY_LOST_PROCESS : TALLY_LOSS;
}

int counts_loss(struct counts *c, const struct wire *w, const struct counts_next *next)
{
	bool returns = w->flags & WIRE_F_RETURNS;
	const struct tally t = {
		.kind = returns ? TALLY_LOST_RETURN : kind_of_loss(w->func),
		.func = w->func,
		.count = w->arg1,
		.from_ns = w->arg0 < w->time_ns ? w->arg0 : w->time_ns,
		.to_ns = w->time_ns,
	};

	if (returns)
		c->funcs[w->func].returns += w->arg1;
	else
		c->funcs[w->func].lost += w->arg1;
	return tell(next, &t);
}

/* Losses that the totals know of and no WIRE_LOSS told: the window is all of the trace. */
static int rest_of_losses(const struct counts *c, uint8_t func, const struct counts_next *next)
{
	const struct func_counts *f = &c->funcs[func];
	struct tally t = {.kind = kind_of_loss(func),
			  .func = func,
			  .from_ns = c->first_ns,
			  .to_ns = c->last_ns};
	int err;

	if (f->total.lost > f->lost)
		t.count = f->total.lost - f->lost;
	err = tell(next, &t);
	if (err)
		return err;
	t.kind = TALLY_LOST_RETURN;
	t.count = f->total.lost_returns > f->returns ? f->total.lost_returns - f->returns : 0;
	return tell(next, &t);
}

/* Functions that are only counted have no records to compare with. */
static uint64_t mismatch(const struct counts *c, uint8_t func)
{
	const struct func_counts *f = &c->funcs[func];
	const struct entry *e = entry_get(func);
	uint64_t seen = f->delivered + f->total.lost;

	if (!c->has_totals || !e || e->op == OP_COUNT)
		return 0;
	return seen > f->total.calls ? seen - f->total.calls : f->total.calls - seen;
}

static int finish_func(struct counts *c, uint8_t func, const struct counts_next *next)
{
	struct func_counts *f = &c->funcs[func];
	int err;

	if (f->has_total)
		f->by_kind[TALLY_CALL] = f->total.calls;
	else if (entry_get(func)) /* other rows have losses, but no calls */
		f->by_kind[TALLY_CALL] = f->delivered + f->lost;
	f->by_kind[TALLY_MISMATCH] = mismatch(c, func);
	err = rest_of_losses(c, func, next);
	for (int k = 0; k <= TALLY_MISMATCH && !err; k++) {
		const struct tally t = {.kind = k, .func = func, .count = f->by_kind[k]};

		err = tell(next, &t);
	}
	return err;
}

static int by_key(const void *a, const void *b)
{
	const struct map_slot *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static int finish_failed(const struct counts *c, const struct counts_next *next)
{
	struct map_slot *all = malloc((c->failed.n + 1) * sizeof(*all));
	size_t pos = 0, n = 0;
	int err = 0;

	if (!all)
		return -ENOMEM;
	while (map_next(&c->failed, &pos, &all[n].key, &all[n].val))
		n++;
	qsort(all, n, sizeof(*all), by_key);
	for (size_t i = 0; i < n && !err; i++) {
		const struct tally t = {
			.kind = TALLY_FAILED,
			.func = (uint8_t)(all[i].key >> 32),
			.ret = (int32_t)(uint32_t)all[i].key,
			.count = all[i].val,
		};

		err = tell(next, &t);
	}
	free(all);
	return err;
}

int counts_finish(struct counts *c, const struct counts_next *next)
{
	const struct tally late = {.kind = TALLY_LATE, .count = c->late};
	const struct tally bad = {.kind = TALLY_BAD, .count = c->bad};
	int err = 0;

	for (unsigned int func = 0; func < COUNT_FUNCS && !err; func++)
		err = finish_func(c, (uint8_t)func, next);
	if (!err)
		err = finish_failed(c, next);
	if (!err)
		err = tell(next, &late);
	return err ? err : tell(next, &bad);
}

void counts_free(struct counts *c)
{
	map_free(&c->failed);
}
