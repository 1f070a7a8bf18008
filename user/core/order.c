// SPDX-License-Identifier: GPL-2.0-only
#include "core/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/* Sorted by insertion up to here, by merging above. */
#define CHUNK 32
/* With more records waiting than this, few new ones do not pay for a merge. */
#define LAZY_ABOVE 65536

void order_init(struct order *o, const struct order_next *next)
{
	*o = (struct order){.next = *next};
}

static const struct wire *rec_of(const struct order *o, const struct order_key *k)
{
	return (const struct wire *)(o->bytes + k->at);
}

static int emit_key(struct order *o, const struct order_key *k)
{
	const struct wire *w = rec_of(o, k);
	struct event ev = {.w = w, .msg = (const char *)(w + 1)};

	o->dead += (w->len + 7u) & ~7u;
	return o->next.event(o->next.ctx, &ev);
}

/* ---- Sorting: stable by time -------------------------------------------------------------- */

static void insertion_sort(struct order_key *k, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct order_key x = k[i];
		size_t j = i;

		for (; j && k[j - 1].time_ns > x.time_ns; j--)
			k[j] = k[j - 1];
		k[j] = x;
	}
}

/* First of n sorted keys that is younger than ns (or as young, with or_equal). */
static size_t first_above(const struct order_key *k, size_t n, uint64_t ns, bool or_equal)
{
	size_t lo = 0;

	while (lo < n) {
		size_t mid = lo + (n - lo) / 2;

		if (k[mid].time_ns > ns || (or_equal && k[mid].time_ns == ns))
			n = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Merges the sorted k[0, mid) and k[mid, n). Touches only the part where they overlap. */
static void merge(struct order_key *k, size_t mid, size_t n, struct order_key *scratch)
{
	size_t from, to, left, i = 0, j = mid, out;

	if (!mid || mid == n || k[mid - 1].time_ns <= k[mid].time_ns)
		return;
	from = first_above(k, mid, k[mid].time_ns, false);
	to = mid + first_above(k + mid, n - mid, k[mid - 1].time_ns, true);
	left = mid - from;
	memcpy(scratch, k + from, left * sizeof(*k));
	for (out = from; i < left; out++)
		k[out] = j < to && k[j].time_ns < scratch[i].time_ns ? k[j++] : scratch[i++];
}

static void merge_sort(struct order_key *k, size_t n, struct order_key *scratch)
{
	for (size_t i = 0; i < n; i += CHUNK)
		insertion_sort(k + i, n - i < CHUNK ? n - i : CHUNK);
	for (size_t w = CHUNK; w < n; w *= 2)
		for (size_t i = 0; i + w < n; i += 2 * w)
			merge(k + i, w, n - i < 2 * w ? n - i : 2 * w, scratch);
}

/* ---- Equal times: the records of one thread by their sequence number ---------------------- */

struct tie {
	uint64_t thread;
	uint64_t seq; /* a call comes before its return, which has the same number */
	uint32_t pos;
};

static uint64_t seq_of(const struct wire *w)
{
	return (uint64_t)w->seq << 1 | (w->kind != WIRE_CALL);
}

/* A record without a number keeps its place: it is a thread of its own. */
static struct tie tie_of(const struct order *o, const struct order_key *k, size_t pos)
{
	const struct wire *w = rec_of(o, k);

	if (!w->seq)
		return (struct tie){.thread = pos, .pos = (uint32_t)pos};
	return (struct tie){(uint64_t)w->tgid << 32 | w->tid, seq_of(w), (uint32_t)pos};
}

static int by_thread_pos(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (!x->seq != !y->seq)
		return !x->seq ? -1 : 1;
	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

static int by_thread_seq(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	if (x->thread != y->thread || x->seq == y->seq || !x->seq || !y->seq)
		return by_thread_pos(a, b);
	return x->seq < y->seq ? -1 : 1;
}

/* Each place keeps its thread; the threads' records fill their places in order of number. */
static int settle_ties(struct order *o, struct order_key *k, size_t n)
{
	struct tie *places = malloc(2 * n * sizeof(*places));
	struct order_key *old = malloc(n * sizeof(*old));
	struct tie *order;

	if (!places || !old) {
		free(places);
		free(old);
		return -ENOMEM;
	}
	order = places + n;
	memcpy(old, k, n * sizeof(*old));
	for (size_t i = 0; i < n; i++)
		places[i] = order[i] = tie_of(o, &k[i], i);
	qsort(places, n, sizeof(*places), by_thread_pos);
	qsort(order, n, sizeof(*order), by_thread_seq);
	for (size_t i = 0; i < n; i++)
		k[places[i].pos] = old[order[i].pos];
	free(places);
	free(old);
	return 0;
}

/* ---- The stage ---------------------------------------------------------------------------- */

/* Is there nothing to settle? Only answered for short runs. */
static bool in_sequence(const struct order *o, const struct order_key *k, size_t n)
{
	if (n > 8)
		return false;
	for (size_t i = 1; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			const struct wire *a = rec_of(o, &k[j]), *b = rec_of(o, &k[i]);

			if (a->tid == b->tid && seq_of(a) > seq_of(b))
				return false;
		}
	return true;
}

static int emit_run(struct order *o, size_t n)
{
	size_t end = o->head + n;
	int err;

	if (n > 1 && !in_sequence(o, o->keys + o->head, n)) {
		err = settle_ties(o, o->keys + o->head, n);
		if (err)
			return err;
	}
	while (o->head < end) {
		err = emit_key(o, &o->keys[o->head++]);
		if (err)
			return err;
	}
	return 0;
}

/* The first n waiting keys, which are in order of time. */
static int emit_first(struct order *o, size_t n)
{
	size_t end = o->head + n;

	while (o->head < end) {
		size_t run = 1;
		int err;

		while (o->head + run < end &&
		       o->keys[o->head + run].time_ns == o->keys[o->head].time_ns)
			run++;
		err = emit_run(o, run);
		if (err)
			return err;
	}
	return 0;
}

static int sort_waiting(struct order *o)
{
	size_t fresh = o->n - o->sorted;

	if (!fresh)
		return 0;
	if (o->scratch_cap < o->n) {
		struct order_key *s = realloc(o->scratch, o->cap * sizeof(*s));

		if (!s)
			return -ENOMEM;
		o->scratch = s;
		o->scratch_cap = o->cap;
	}
	merge_sort(o->keys + o->sorted, fresh, o->scratch);
	merge(o->keys + o->head, o->sorted - o->head, o->n - o->head, o->scratch);
	o->sorted = o->n;
	return 0;
}

/* Gives the room of emitted records back once they are the larger part. */
static int compact(struct order *o)
{
	char *bytes;
	size_t used = 0;

	if (o->head == o->n) {
		o->head = o->sorted = o->n = o->used = o->dead = 0;
		return 0;
	}
	if (o->dead < o->used / 2)
		return 0;
	bytes = malloc(o->room);
	if (!bytes)
		return -ENOMEM;
	for (size_t i = o->head; i < o->n; i++) {
		const struct wire *w = rec_of(o, &o->keys[i]);

		memcpy(bytes + used, w, w->len);
		o->keys[i].at = used;
		used += (w->len + 7u) & ~7u;
	}
	memmove(o->keys, o->keys + o->head, (o->n - o->head) * sizeof(*o->keys));
	free(o->bytes);
	o->bytes = bytes;
	o->used = used;
	o->dead = 0;
	o->n -= o->head;
	o->sorted -= o->head;
	o->head = 0;
	return 0;
}

int order_watermark(struct order *o, uint64_t ns)
{
	size_t waiting = o->sorted - o->head;
	int err;

	if (ns <= o->watermark)
		return 0;
	/* As if it had not come: nothing is late before younger ones have been handed on. */
	if (waiting > LAZY_ABOVE && o->n > o->sorted && o->n - o->sorted < waiting / 64)
		return 0;
	o->watermark = ns;
	if (o->head == o->n)
		return 0;
	err = sort_waiting(o);
	if (err)
		return err;
	err = emit_first(o, first_above(o->keys + o->head, o->n - o->head, ns, true));
	if (err)
		return err;
	return compact(o);
}

int order_flush(struct order *o)
{
	int err = sort_waiting(o);

	if (err)
		return err;
	err = emit_first(o, o->n - o->head);
	if (err)
		return err;
	return compact(o);
}

/* No watermark for too long: memory is bounded, so the older half is declared final. */
static int force(struct order *o)
{
	int err = sort_waiting(o);

	if (err)
		return err;
	o->watermark = o->keys[o->head + (o->n - o->head) / 2].time_ns;
	err = emit_first(o, (o->n - o->head) / 2 + 1);
	if (err)
		return err;
	return compact(o);
}

static int make_room(struct order *o, size_t sz)
{
	if (grow_table(o->keys, o->n, o->cap, 1024))
		return -ENOMEM;
	if (o->used + sz > o->room) {
		size_t room = o->room ? o->room * 2 : 1u << 17;
		char *bytes = realloc(o->bytes, room);

		if (!bytes)
			return -ENOMEM;
		o->bytes = bytes;
		o->room = room;
	}
	return 0;
}

int order_push(struct order *o, const struct event *ev)
{
	const struct wire *w = ev->w;
	size_t sz = (w->len + 7u) & ~7u;
	int err;

	if (w->time_ns < o->watermark) {
		struct event now = *ev;

		now.late = decode_is_kernel(w);
		o->late += now.late;
		return o->next.event(o->next.ctx, &now);
	}
	err = make_room(o, sz);
	if (err)
		return err;
	memcpy(o->bytes + o->used, w, sizeof(*w));
	memcpy(o->bytes + o->used + sizeof(*w), ev->msg, w->msg_len);
	if (o->sorted == o->n && (o->n == o->head || o->keys[o->n - 1].time_ns <= w->time_ns))
		o->sorted++;
	o->keys[o->n++] = (struct order_key){w->time_ns, o->used};
	o->used += sz;
	return o->used - o->dead > ORDER_MAX_BYTES ? force(o) : 0;
}

void order_free(struct order *o)
{
	free(o->keys);
	free(o->scratch);
	free(o->bytes);
	*o = (struct order){0};
}
