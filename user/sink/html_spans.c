// SPDX-License-Identifier: GPL-2.0-only
#include "sink/html_spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/escape.h"
#include "sink/html_text.h"
#include "util/cleanup.h"

#define NEVER UINT64_MAX

enum strip_kind { STRIP_MARKS, STRIP_NESTED, STRIP_LANES };

/* Bits of details.which. */
enum {
	HAS_END_TID = 1,
	HAS_CATEGORY = 2,
	HAS_PAYLOAD = 4,
	HAS_RET = 8,
	HAS_DOMAIN = 16,
	IS_UNREADABLE = 32,
	IS_CUT = 64,
	HAS_DEPTH = 128, /* known after the layout, so not in struct details */
};

struct details {
	uint64_t payload;
	uint32_t end_tid, category, category_name, domain;
	int32_t ret, payload_type;
	uint8_t which, payload_len;
};

struct kept {
	uint64_t start_ns, end_ns; /* has_end, else the start, or NEVER while open */
	uint64_t id;
	uint32_t thread, name, depth;
	uint32_t details; /* number + 1, 0 = none */
	uint8_t kind, status;
	uint8_t strip, row; /* known after the layout */
	bool has_end;
};

struct html_spans {
	struct kept *v;
	size_t n, cap, max;
	struct details *details;
	size_t n_details, details_cap;
	uint32_t *order; /* of v, after the layout */
	uint64_t floor;	 /* what ranks lower is left out */
	struct html_left_out left_out;
};

int html_spans_new(size_t max, struct html_spans **out)
{
	struct html_spans *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->max = max;
	*out = s;
	return 0;
}

void html_spans_free(struct html_spans *s)
{
	if (!s)
		return;
	free(s->v);
	free(s->details);
	free(s->order);
	free(s);
}

/* ---- What is left out ---------------------------------------------------------------------- */

/* A damaged capture can have ends before their begins. */
static uint64_t end_of(const struct span *sp)
{
	if (!sp->has_end)
		return sp->status == SPAN_OPEN ? NEVER : sp->start_ns;
	return sp->end_ns > sp->start_ns ? sp->end_ns : sp->start_ns;
}

/* The highest are kept: what is not complete, then what is long. */
static uint64_t rank_of(uint8_t status, uint64_t start_ns, uint64_t end_ns)
{
	return status == SPAN_COMPLETE ? end_ns - start_ns : NEVER;
}

static uint64_t rank_of_kept(const struct kept *k)
{
	return rank_of(k->status, k->start_ns, k->end_ns);
}

static void leave_out(struct html_spans *s, uint64_t rank)
{
	s->left_out.count++;
	if (rank == NEVER)
		s->left_out.incomplete++;
	else if (rank > s->left_out.longest_ns)
		s->left_out.longest_ns = rank;
}

bool html_spans_wants(struct html_spans *s, const struct span *sp)
{
	uint64_t rank = rank_of(sp->status, sp->start_ns, end_of(sp));

	if (rank >= s->floor)
		return true;
	leave_out(s, rank);
	return false;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void keep(struct html_spans *s, struct kept k)
{
	if (k.details) {
		s->details[s->n_details++] = s->details[k.details - 1];
		k.details = (uint32_t)s->n_details;
	}
	s->v[s->n++] = k;
}

/* Keeps the higher half. Of those that rank as the one in the middle the first. */
static int thin_out(struct html_spans *s)
{
	size_t n = s->n, higher = 0, equal;
	_free_ uint64_t *ranks = malloc(n * sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		ranks[i] = rank_of_kept(&s->v[i]);
	qsort(ranks, n, sizeof(*ranks), by_number);
	s->floor = ranks[n / 2];
	while (higher < n && ranks[n - 1 - higher] > s->floor)
		higher++;
	equal = n / 2 - higher;
	s->n = s->n_details = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t rank = rank_of_kept(&s->v[i]);

		if (rank > s->floor || (rank == s->floor && equal > 0)) {
			equal -= rank == s->floor;
			keep(s, s->v[i]);
		} else {
			leave_out(s, rank);
		}
	}
	return 0;
}

/* ---- Adding -------------------------------------------------------------------------------- */

static int grow(void **v, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap + *cap / 2 : 1024;
	void *p = realloc(*v, more * size);

	if (!p)
		return -ENOMEM;
	*v = p;
	*cap = more;
	return 0;
}

static struct details details_of(const struct span *sp, const struct html_refs *refs)
{
	struct details d = {0};

	if (sp->end_tid != sp->start_tid)
		d.which |= HAS_END_TID;
	if (sp->category || refs->category)
		d.which |= HAS_CATEGORY;
	if (sp->payload.len)
		d.which |= HAS_PAYLOAD;
	if (sp->has_ret)
		d.which |= HAS_RET;
	if (refs->domain)
		d.which |= HAS_DOMAIN;
	if (sp->unreadable)
		d.which |= IS_UNREADABLE;
	if (sp->cut)
		d.which |= IS_CUT;
	d.end_tid = sp->end_tid;
	d.category = sp->category;
	d.category_name = refs->category;
	d.domain = refs->domain;
	d.ret = sp->ret;
	d.payload = payload_value(&sp->payload);
	d.payload_type = sp->payload.type;
	d.payload_len = sp->payload.len;
	return d;
}

int html_spans_add(struct html_spans *s, const struct span *sp, const struct html_refs *refs)
{
	struct details d = details_of(sp, refs);
	int err = s->n == s->max ? thin_out(s) : 0;

	if (!err && s->n == s->cap)
		err = grow((void **)&s->v, &s->cap, sizeof(*s->v));
	if (!err && d.which && s->n_details == s->details_cap)
		err = grow((void **)&s->details, &s->details_cap, sizeof(d));
	if (err)
		return err;
	if (d.which)
		s->details[s->n_details++] = d;
	s->v[s->n++] = (struct kept){
		.start_ns = sp->start_ns,
		.end_ns = end_of(sp),
		.id = sp->id,
		.thread = refs->thread,
		.name = refs->name,
		.depth = sp->depth,
		.details = d.which ? (uint32_t)s->n_details : 0,
		.kind = sp->kind,
		.status = sp->status,
		.strip = sp->kind == SPAN_PUSH_POP    ? STRIP_NESTED
			 : sp->kind == SPAN_START_END ? STRIP_LANES
						      : STRIP_MARKS,
		.has_end = sp->has_end,
	};
	return 0;
}

size_t html_spans_count(const struct html_spans *s)
{
	return s->n;
}

struct html_left_out html_spans_left_out(const struct html_spans *s)
{
	return s->left_out;
}

void html_spans_extent(const struct html_spans *s, uint64_t *first_ns, uint64_t *last_ns)
{
	*first_ns = s->n ? NEVER : 0;
	*last_ns = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct kept *k = &s->v[i];
		uint64_t end = k->has_end ? k->end_ns : k->start_ns;

		if (k->start_ns < *first_ns)
			*first_ns = k->start_ns;
		if (end > *last_ns)
			*last_ns = end;
	}
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static int compare(uint64_t x, uint64_t y)
{
	return x < y ? -1 : x > y;
}

/* As they happened on each thread: what encloses before what is in it. */
static int by_start(const void *a, const void *b, void *v)
{
	const struct kept *x = (struct kept *)v + *(const uint32_t *)a;
	const struct kept *y = (struct kept *)v + *(const uint32_t *)b;

	return compare(x->thread, y->thread)	   ?: compare(x->strip, y->strip)
	       ?: compare(x->start_ns, y->start_ns) ?: compare(x->depth, y->depth)
	       ?: compare(x->id, y->id);
}

static int by_row(const void *a, const void *b, void *v)
{
	const struct kept *x = (struct kept *)v + *(const uint32_t *)a;
	const struct kept *y = (struct kept *)v + *(const uint32_t *)b;

	return compare(x->thread, y->thread)	   ?: compare(x->strip, y->strip)
	       ?: compare(x->row, y->row)	   ?: compare(x->start_ns, y->start_ns)
	       ?: compare(x->depth, y->depth)	   ?: compare(x->id, y->id);
}

/* The first row from the given one on that is free at the start; else the last. */
static uint8_t free_row(const uint64_t ends[HTML_ROWS], const struct kept *k)
{
	uint32_t row = k->strip == STRIP_NESTED ? k->depth : 0;

	while (row < HTML_ROWS - 1 && ends[row] > k->start_ns)
		row++;
	return (uint8_t)(row < HTML_ROWS - 1 ? row : HTML_ROWS - 1);
}

int html_spans_layout(struct html_spans *s)
{
	uint64_t ends[HTML_ROWS];
	const struct kept *before = NULL;

	s->order = malloc((s->n + 1) * sizeof(*s->order));
	if (!s->order)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++)
		s->order[i] = (uint32_t)i;
	qsort_r(s->order, s->n, sizeof(*s->order), by_start, s->v);
	for (size_t i = 0; i < s->n; i++) {
		struct kept *k = &s->v[s->order[i]];

		if (!before || before->thread != k->thread || before->strip != k->strip)
			memset(ends, 0, sizeof(ends));
		before = k;
		/* Marks take no time, so one row holds them all. */
		k->row = k->strip == STRIP_MARKS ? 0 : free_row(ends, k);
		if (k->end_ns > ends[k->row])
			ends[k->row] = k->end_ns;
	}
	qsort_r(s->order, s->n, sizeof(*s->order), by_row, s->v);
	return 0;
}

/* ---- Writing ------------------------------------------------------------------------------- */

static bool same_strip(const struct kept *a, const struct kept *b)
{
	return a->thread == b->thread && a->strip == b->strip && a->row == b->row;
}

static size_t strip_end(const struct html_spans *s, size_t from)
{
	size_t to = from + 1;

	while (to < s->n && same_strip(&s->v[s->order[from]], &s->v[s->order[to]]))
		to++;
	return to;
}

/* Is it shown in another row than that of its depth? */
static bool has_depth(const struct kept *k)
{
	return k->strip == STRIP_NESTED && k->depth != k->row;
}

static void write_span(struct html_bytes *b, const struct kept *k, uint64_t since_ns)
{
	html_varint(b, k->start_ns - since_ns);
	html_varint(b, k->has_end ? k->end_ns - k->start_ns : 0);
	html_varint(b, k->name);
	html_varint(b, (uint64_t)k->status | (uint64_t)k->kind << 3 | (uint64_t)k->has_end << 5 |
			       (uint64_t)(k->details || has_depth(k)) << 6);
}

void html_spans_write(const struct html_spans *s, uint64_t zero_ns, struct out *o)
{
	struct html_bytes b = {.out = o};

	for (size_t i = 0; i < s->n;) {
		const struct kept *k = &s->v[s->order[i]];
		size_t end = strip_end(s, i);
		uint64_t since = zero_ns;

		html_varint(&b, k->thread);
		html_varint(&b, k->strip);
		html_varint(&b, k->row);
		html_varint(&b, end - i);
		for (; i < end; i++) {
			k = &s->v[s->order[i]];
			write_span(&b, k, since);
			since = k->start_ns;
		}
	}
	html_bytes_end(&b);
}

static void write_details(struct html_bytes *b, const struct details *d, const struct kept *k)
{
	html_varint(b, d->which | (has_depth(k) ? HAS_DEPTH : 0u));
	if (d->which & HAS_END_TID)
		html_varint(b, d->end_tid);
	if (d->which & HAS_CATEGORY) {
		html_varint(b, d->category);
		html_varint(b, d->category_name);
	}
	if (d->which & HAS_PAYLOAD) {
		html_signed(b, d->payload_type);
		html_varint(b, d->payload_len);
		html_varint(b, d->payload & UINT32_MAX);
		html_varint(b, d->payload >> 32);
	}
	if (d->which & HAS_RET)
		html_signed(b, d->ret);
	if (d->which & HAS_DOMAIN)
		html_varint(b, d->domain);
	if (has_depth(k))
		html_varint(b, k->depth);
}

void html_spans_write_details(const struct html_spans *s, struct out *o)
{
	const struct details none = {0};
	struct html_bytes b = {.out = o};

	for (size_t i = 0; i < s->n; i++) {
		const struct kept *k = &s->v[s->order[i]];

		if (k->details || has_depth(k))
			write_details(&b, k->details ? &s->details[k->details - 1] : &none, k);
	}
	html_bytes_end(&b);
}
