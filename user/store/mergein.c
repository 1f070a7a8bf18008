// SPDX-License-Identifier: GPL-2.0-only
#include "store/mergein.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/decode.h"
#include "core/order.h"
#include "util/cleanup.h"

#define PID_MAX ((1u << WIRE_PID_BITS) - 1)

/* ---- The head ------------------------------------------------------------------------------ */

static struct mergein_source *source_of(struct mergein_head *h, uint32_t number)
{
	struct mergein_source *s;

	for (size_t i = 0; i < h->n_sources; i++)
		if (h->sources[i].number == number)
			return &h->sources[i];
	s = realloc(h->sources, (h->n_sources + 1) * sizeof(*s));
	if (!s)
		return NULL;
	h->sources = s;
	s = &h->sources[h->n_sources++];
	*s = (struct mergein_source){.number = number};
	return s;
}

static void take_text(char at[MERGEIN_TEXT], const struct event *ev)
{
	size_t n =
		strnlen(ev->msg, ev->w->msg_len < MERGEIN_TEXT ? ev->w->msg_len : MERGEIN_TEXT - 1);

	memcpy(at, ev->msg, n);
	at[n] = '\0';
}

static void take_fact(struct mergein_source *s, const struct event *ev)
{
	char shift[MERGEIN_TEXT];

	switch (ev->w->arg1) {
	case FACT_CAPTURE_ID:
		take_text(s->capture_id, ev);
		break;
	case FACT_BOOT_ID:
		take_text(s->boot_id, ev);
		break;
	case FACT_HOST:
		take_text(s->host, ev);
		break;
	case FACT_SHIFT:
		take_text(shift, ev);
		s->unshifted = !strcmp(shift, "0");
		break;
	default:
		break;
	}
}

static void take_clock(struct clock_triple *c, bool *has, const struct event *ev)
{
	if (*has)
		return;
	*has = true;
	c->mono_ns = ev->w->time_ns;
	c->real_ns = ev->w->arg0;
	memcpy(&c->boot_ns, ev->msg, sizeof(c->boot_ns));
}

/* Returns 1 to go on, 0 when the records begin, -ENOMEM. */
static int take_head(struct mergein_head *h, const struct event *ev)
{
	uint32_t tgid = ev->w->tgid, number = h->merged ? wire_source(tgid) : 0;
	struct mergein_source *s;

	if (decode_is_kernel(ev->w))
		return 0;
	if ((h->merged && !number) || (ev->w->kind != WIRE_FACT && ev->w->kind != WIRE_CLOCK)) {
		if (ev->w->kind == WIRE_CLOCK)
			take_clock(&h->first, &h->has_clock, ev);
		return 1;
	}
	if (ev->w->kind == WIRE_FACT && tgid != wire_tgid(number, 0))
		return 1; /* of a process */
	s = source_of(h, number);
	if (!s)
		return -ENOMEM;
	if (ev->w->kind == WIRE_FACT)
		take_fact(s, ev);
	else
		take_clock(&s->first, &s->has_clock, ev);
	if (!h->merged && ev->w->kind == WIRE_CLOCK)
		take_clock(&h->first, &h->has_clock, ev);
	return 1;
}

static int read_head(struct capread *r, struct mergein_head *h)
{
	int ret = 1;

	h->merged = capread_is_merged(r);
	while (ret == 1) {
		struct event ev;
		struct wire w;
		const void *rec;
		size_t sz;

		ret = capread_next(r, &rec, &sz);
		if (ret == 1 && !decode(rec, sz, &w, &ev))
			ret = take_head(h, &ev);
	}
	return ret;
}

/* Recordings of before there was an id are told apart by their clocks, which never repeat. */
static void make_id(struct mergein_source *s)
{
	if (*s->capture_id)
		snprintf(s->id, sizeof(s->id), "%s", s->capture_id);
	else
		snprintf(s->id, sizeof(s->id), "%s %llu %llu", s->host,
			 (unsigned long long)s->first.mono_ns,
			 (unsigned long long)s->first.real_ns);
}

int mergein_head(const char *path, struct mergein_head *out)
{
	struct mergein_head h = {0};
	struct capread *r;
	int err = capread_open(path, &r);

	if (err)
		return err;
	err = read_head(r, &h);
	capread_close(r);
	if (!err && !h.n_sources && !source_of(&h, h.merged))
		err = -ENOMEM;
	if (!err && h.n_sources > WIRE_SOURCES_MAX)
		err = -E2BIG;
	for (size_t i = 0; i < h.n_sources; i++)
		make_id(&h.sources[i]);
	if (err)
		mergein_head_free(&h);
	else
		*out = h;
	return err;
}

void mergein_head_free(struct mergein_head *h)
{
	free(h->sources);
	*h = (struct mergein_head){0};
}

/* ---- Records: the queue -------------------------------------------------------------------- */

struct entry {
	uint64_t key;
	uint32_t sz;
	uint32_t late;
};

struct mergein {
	struct mergein_config cfg;
	struct capread *r;
	struct order order;
	char *bytes; /* entries with their records, padded to 8 */
	size_t head, used, room;
	uint64_t key; /* of the last entry */
	uint64_t last_clock;
	bool merged, ended;
	bool told; /* how it ended */
};

static int enqueue(struct mergein *in, const void *head, const void *msg, size_t len, bool late)
{
	const struct entry e = {in->key, (uint32_t)(sizeof(struct wire) + len), late};
	size_t need = sizeof(e) + ((e.sz + 7u) & ~7u);

	if (in->used + need > in->room) {
		size_t room = 2 * (in->used + need);
		char *bytes = realloc(in->bytes, room);

		if (!bytes)
			return -ENOMEM;
		in->bytes = bytes;
		in->room = room;
	}
	memcpy(in->bytes + in->used, &e, sizeof(e));
	memcpy(in->bytes + in->used + sizeof(e), head, sizeof(struct wire));
	if (len)
		memcpy(in->bytes + in->used + sizeof(e) + sizeof(struct wire), msg, len);
	in->used += need;
	return 0;
}

static void advance(struct mergein *in, uint64_t ns)
{
	if (ns > in->key)
		in->key = ns;
}

static int on_ordered(void *ctx, const struct event *ev)
{
	struct mergein *in = ctx;

	if (!ev->late)
		advance(in, ev->w->time_ns);
	return enqueue(in, ev->w, ev->msg, ev->w->msg_len, ev->late);
}

/* ---- Records: what becomes of them --------------------------------------------------------- */

static uint64_t shifted(const struct mergein *in, uint64_t ns)
{
	int64_t shift = in->cfg.shift_ns;

	if (shift < 0)
		return ns > -(uint64_t)shift ? ns - -(uint64_t)shift : 0;
	return ns > INT64_MAX - (uint64_t)shift ? INT64_MAX : ns + (uint64_t)shift;
}

/* The number that a source has in the merged capture; given when it is first seen. */
static int number_of(struct mergein *in, uint32_t source, uint32_t *number)
{
	uint32_t *n = &in->cfg.numbers[source];

	if (!*n && *in->cfg.used >= WIRE_SOURCES_MAX)
		return -E2BIG;
	if (!*n)
		*n = ++*in->cfg.used;
	*number = *n;
	return 0;
}

/* Merged once more: what was added before counts too. */
static int fact(struct mergein *in, struct wire w, const struct event *ev)
{
	char text[24], old[MERGEIN_TEXT];
	int64_t shift;
	int n;

	if (w.arg1 != FACT_SHIFT)
		return enqueue(in, &w, ev->msg, w.msg_len, false);
	take_text(old, ev);
	shift = (int64_t)((uint64_t)strtoll(old, NULL, 10) + (uint64_t)in->cfg.shift_ns);
	n = snprintf(text, sizeof(text), "%lld", (long long)shift);
	w.msg_len = (uint16_t)n;
	w.len = (uint16_t)(sizeof(w) + w.msg_len);
	return enqueue(in, &w, text, w.msg_len, false);
}

static int order_record(struct mergein *in, const struct wire *w, const struct event *ev)
{
	const struct event moved = {.w = w, .msg = ev->msg};
	int err = order_push(&in->order, &moved);

	advance(in, in->order.watermark); /* without one for too long it goes on by itself */
	return err;
}

/* w: with the PID and the time of the merged capture. */
static int take_record(struct mergein *in, struct wire w, const struct event *ev)
{
	int err;

	switch (w.kind) {
	case WIRE_WATERMARK:
		err = order_watermark(&in->order, w.time_ns);
		advance(in, in->order.watermark);
		return err;
	case WIRE_CLOCK:
		in->last_clock = w.time_ns;
		return enqueue(in, &w, ev->msg, w.msg_len, false);
	case WIRE_LOSS:
		w.arg0 = shifted(in, w.arg0);
		return enqueue(in, &w, ev->msg, w.msg_len, false);
	case WIRE_COUNT:
		return enqueue(in, &w, ev->msg, w.msg_len, false);
	case WIRE_FACT:
		if (!wire_pid(w.tgid))
			return fact(in, w, ev);
		return order_record(in, &w, ev);
	default:
		return order_record(in, &w, ev);
	}
}

/* Counted as unreadable by whoever reads the merged capture, as by a reader of this one. */
static int take_bad(struct mergein *in, const void *rec, size_t sz)
{
	struct wire w;

	memcpy(&w, rec, sizeof(w));
	w.kind = 0;
	return enqueue(in, &w, (const char *)rec + sizeof(w), sz - sizeof(w), false);
}

static int take(struct mergein *in, const void *rec, size_t sz)
{
	uint32_t source, number;
	struct event ev;
	struct wire w;
	int err;

	if (decode(rec, sz, &w, &ev))
		return take_bad(in, rec, sz);
	source = in->merged ? wire_source(w.tgid) : 0;
	if ((!in->merged && w.tgid > PID_MAX) || (w.kind == WIRE_FORK && w.arg0 > PID_MAX))
		return take_bad(in, rec, sz);
	/* What was said of the whole of it is not true of the whole to come. */
	if (in->merged && !source && w.kind != WIRE_WATERMARK) {
		if (w.kind == WIRE_CLOCK)
			in->last_clock = shifted(in, w.time_ns);
		return 0;
	}
	if (w.kind != WIRE_WATERMARK) {
		err = number_of(in, source, &number);
		if (err)
			return err;
		w.tgid = wire_tgid(number, wire_pid(w.tgid));
	}
	w.time_ns = shifted(in, w.time_ns);
	return take_record(in, w, &ev);
}

/* Readers of the merged capture must know it as well. */
static int tell_end(struct mergein *in)
{
	const char *how = capread_ended(in->r) == CAPREAD_DAMAGED ? "damaged" : "truncated";
	size_t n = strlen(how);

	in->told = true;
	if (capread_ended(in->r) == CAPREAD_COMPLETE)
		return 0;
	for (uint32_t i = 0; i <= WIRE_SOURCES_MAX; i++) {
		struct wire w = {.kind = WIRE_FACT, .arg1 = FACT_ENDED, .time_ns = in->key};
		int err;

		if (!in->cfg.numbers[i])
			continue;
		w.tgid = wire_tgid(in->cfg.numbers[i], 0);
		w.msg_len = (uint16_t)n;
		w.len = (uint16_t)(sizeof(w) + n);
		err = enqueue(in, &w, how, n, false);
		if (err)
			return err;
	}
	return 0;
}

/* Until there is a record to give out, or no more. */
static int fill(struct mergein *in)
{
	in->head = in->used = 0;
	while (!in->used && !in->told) {
		const void *rec;
		size_t sz;
		int ret = in->ended ? 0 : capread_next(in->r, &rec, &sz);

		if (ret == 1) {
			ret = take(in, rec, sz);
		} else if (!ret && !in->ended) {
			in->ended = true;
			ret = order_flush(&in->order);
		} else if (!ret) {
			ret = tell_end(in);
		}
		if (ret)
			return ret;
	}
	return 0;
}

int mergein_open(const char *path, const struct mergein_config *cfg, struct mergein **out)
{
	struct mergein *in = calloc(1, sizeof(*in));
	int err;

	if (!in)
		return -ENOMEM;
	in->cfg = *cfg;
	order_init(&in->order, &(struct order_next){in, on_ordered});
	err = capread_open(path, &in->r);
	if (err) {
		free(in);
		return err;
	}
	in->merged = capread_is_merged(in->r);
	*out = in;
	return 0;
}

void mergein_close(struct mergein *in)
{
	if (!in)
		return;
	capread_close(in->r);
	order_free(&in->order);
	free(in->bytes);
	free(in);
}

int mergein_next(struct mergein *in, struct mergein_record *out)
{
	struct entry e;

	if (in->head == in->used) {
		int err = fill(in);

		if (err)
			return err;
		if (!in->used)
			return 0;
	}
	memcpy(&e, in->bytes + in->head, sizeof(e));
	*out = (struct mergein_record){e.key, e.late, e.sz, in->bytes + in->head + sizeof(e)};
	in->head += sizeof(e) + ((e.sz + 7u) & ~7u);
	return 1;
}

enum capread_end mergein_ended(const struct mergein *in)
{
	return capread_ended(in->r);
}

uint64_t mergein_offset(const struct mergein *in)
{
	return capread_offset(in->r);
}

uint64_t mergein_size(const struct mergein *in)
{
	return capread_size(in->r);
}

uint64_t mergein_last_clock(const struct mergein *in)
{
	return in->last_clock;
}
