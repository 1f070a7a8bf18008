// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spans come in order of their end, which is nearly the order of their start: the sort in memory
 * is a merge sort that skips what is in order already, and merging takes most spans from the run
 * it took the last one from.
 */
#include "sink/sort.h"

#include <errno.h>
#include <string.h>

#include "sink/pack.h"
#include "util/cleanup.h"
#include "util/grow.h"
#include "util/privs.h"
#include "util/readall.h"
#include "util/safepath.h"

#define READ_BUFFER (256u << 10) /* of a run while merging; holds the largest record */

/* A record, in memory and in runs: its packed size, 4 bytes, and the packed span. */
#define SIZE_FIELD sizeof(uint32_t)

/* An index entry: decides most comparisons without touching the record. */
struct entry {
	uint64_t start_ns;
	uint32_t offset; /* of the record */
	uint32_t depth;
};

struct run {
	uint64_t offset, end; /* in the scratch file */
};

struct reader {
	unsigned char *buf;   /* READ_BUFFER bytes */
	size_t pos, len;      /* the current record begins at pos */
	uint64_t offset, end; /* what is not read yet */
	size_t size;	      /* of the current record, 0 at the end of the run */
	struct span span;     /* the current one */
	uint64_t tag;
};

struct sorter {
	int err;
	char *beside;
	bool as_owner;	      /* whose rights create files there, see privs.h */
	unsigned char *arena; /* records */
	size_t arena_len, arena_cap;
	struct entry *index; /* half as many again behind it, for sorting */
	size_t count, index_cap;
	bool in_order; /* the index is sorted already */
	int fd;	       /* runs, -1 = none yet */
	uint64_t file_len;
	struct run *runs;
	size_t run_count, run_cap;
	size_t fan_in; /* runs merged at a time */
};

int sort_new(const char *beside, size_t budget, struct sorter **out)
{
	struct sorter *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->fd = -1;
	s->in_order = true;
	/* A third for the index, with its extra half: then 42 bytes for a record. */
	s->index_cap = budget / 3 / (sizeof(struct entry) * 3 / 2);
	if (s->index_cap < 1024)
		s->index_cap = 1024;
	s->arena_cap = budget / 3 * 2 < READ_BUFFER ? READ_BUFFER : budget / 3 * 2;
	s->fan_in = budget / READ_BUFFER < 2 ? 2 : budget / READ_BUFFER;
	s->as_owner = privs_is_owner();
	s->beside = strdup(beside ? beside : "-");
	s->arena = malloc(s->arena_cap);
	s->index = malloc(s->index_cap * 3 / 2 * sizeof(*s->index));
	if (!s->beside || !s->arena || !s->index) {
		sort_free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

void sort_free(struct sorter *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s->runs);
	free(s->index);
	free(s->arena);
	free(s->beside);
	free(s);
}

static int compare_spans(const struct span *a, const struct span *b)
{
#define BY(field)                                                                                  \
	if (a->field != b->field)                                                                  \
	return a->field < b->field ? -1 : 1
	BY(start_ns);
	BY(depth);
	BY(pid);
	BY(start_tid);
	BY(seq);
	BY(id);
#undef BY
	return 0;
}

static uint32_t size_at(const unsigned char *record)
{
	uint32_t size;

	memcpy(&size, record, sizeof(size));
	return size;
}

/* Of two spans that begin at the same time. */
static bool in_order_slow(const struct sorter *s, const struct entry *a, const struct entry *b)
{
	const unsigned char *ra = s->arena + a->offset, *rb = s->arena + b->offset;
	struct span x, y;
	uint64_t tag;

	unpack_span(ra + SIZE_FIELD, size_at(ra), &x, &tag);
	unpack_span(rb + SIZE_FIELD, size_at(rb), &y, &tag);
	return compare_spans(&x, &y) <= 0;
}

static bool in_order(const struct sorter *s, const struct entry *a, const struct entry *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->depth != b->depth)
		return a->depth < b->depth;
	return in_order_slow(s, a, b);
}

/* Sorts v[0..n) with tmp of half the size. */
static void sort_entries(const struct sorter *s, struct entry *v, struct entry *tmp, size_t n)
{
	size_t half = n / 2, i = 0, j = half, k = 0;

	if (n < 2)
		return;
	sort_entries(s, v, tmp, half);
	sort_entries(s, v + half, tmp, n - half);
	if (in_order(s, &v[half - 1], &v[half]))
		return;
	/* What the left half has before the right one's first stays where it is. */
	while (in_order(s, &v[i], &v[half]))
		i++;
	memcpy(tmp, v + i, (half - i) * sizeof(*v));
	k = i;
	for (size_t t = 0, end = half - i; t < end;) {
		if (j < n && !in_order(s, &tmp[t], &v[j]))
			v[k++] = v[j++];
		else
			v[k++] = tmp[t++];
	}
}

static void sort_index(struct sorter *s)
{
	if (!s->in_order)
		sort_entries(s, s->index, s->index + s->index_cap, s->count);
	s->in_order = true;
}

static int scratch_write(struct sorter *s, const void *p, size_t n)
{
	while (n && !s->err) {
		ssize_t done = pwrite(s->fd, p, n, (off_t)s->file_len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return s->err = done ? -errno : -EIO;
		p = (const char *)p + done;
		n -= (size_t)done;
		s->file_len += (uint64_t)done;
	}
	return s->err;
}

static int add_run(struct sorter *s, uint64_t offset)
{
	if (grow_table(s->runs, s->run_count, s->run_cap, 16))
		return s->err = -ENOMEM;
	s->runs[s->run_count++] = (struct run){offset, s->file_len};
	return 0;
}

/* Collects records for one write(2). */
struct batch {
	char buf[64u << 10];
	size_t len;
};

static int batch_flush(struct sorter *s, struct batch *b)
{
	size_t n = b->len;

	b->len = 0;
	return scratch_write(s, b->buf, n);
}

static int batch_add(struct sorter *s, struct batch *b, const unsigned char *record)
{
	size_t n = SIZE_FIELD + size_at(record);

	if (n > sizeof(b->buf) - b->len && batch_flush(s, b))
		return s->err;
	if (n > sizeof(b->buf))
		return scratch_write(s, record, n);
	memcpy(b->buf + b->len, record, n);
	b->len += n;
	return 0;
}

/* What is in memory becomes a run. */
static int spill(struct sorter *s)
{
	uint64_t offset;
	struct batch *b;

	if (s->err)
		return s->err;
	if (s->fd < 0) {
		bool was = privs_as_owner(s->as_owner);

		s->fd = safepath_scratch(s->beside);
		privs_as_owner(was);
		if (s->fd < 0)
			return s->err = s->fd;
	}
	b = malloc(sizeof(*b));
	if (!b)
		return s->err = -ENOMEM;
	b->len = 0;
	offset = s->file_len;
	sort_index(s);
	for (size_t i = 0; i < s->count && !s->err; i++)
		batch_add(s, b, s->arena + s->index[i].offset);
	batch_flush(s, b);
	free(b);
	s->arena_len = 0;
	s->count = 0;
	return s->err ? s->err : add_run(s, offset);
}

int sort_add(struct sorter *s, const struct span *sp, uint64_t tag)
{
	unsigned char *record;
	struct entry *e;
	uint32_t size;

	if (s->err)
		return s->err;
	if ((s->arena_cap - s->arena_len < SIZE_FIELD + PACK_MAX || s->count == s->index_cap) &&
	    spill(s))
		return s->err;
	record = s->arena + s->arena_len;
	size = (uint32_t)pack_span(sp, tag, record + SIZE_FIELD);
	memcpy(record, &size, sizeof(size));
	e = &s->index[s->count];
	*e = (struct entry){sp->start_ns, (uint32_t)s->arena_len, sp->depth};
	if (s->count && s->in_order)
		s->in_order = in_order(s, e - 1, e);
	s->arena_len += SIZE_FIELD + size;
	s->count++;
	return 0;
}

static int reader_fill(struct sorter *s, struct reader *rd)
{
	ssize_t got;
	size_t n;

	rd->len -= rd->pos;
	memmove(rd->buf, rd->buf + rd->pos, rd->len);
	rd->pos = 0;
	n = READ_BUFFER - rd->len;
	if (n > rd->end - rd->offset)
		n = (size_t)(rd->end - rd->offset);
	got = readall_at(s->fd, rd->buf + rd->len, n, rd->offset);
	if (got != (ssize_t)n)
		return s->err = got < 0 ? (int)got : -EIO;
	rd->len += n;
	rd->offset += n;
	return 0;
}

/* Makes the next record of the run current. */
static int reader_next(struct sorter *s, struct reader *rd)
{
	size_t left;

	rd->pos += rd->size;
	rd->size = 0;
	left = rd->len - rd->pos;
	if (left < SIZE_FIELD || left - SIZE_FIELD < size_at(rd->buf + rd->pos)) {
		if (reader_fill(s, rd))
			return s->err;
		if (!rd->len)
			return 0;
	}
	/* Nobody else can write to a file without a name; a failing disk can. */
	left = rd->len - rd->pos;
	if (left < SIZE_FIELD || left - SIZE_FIELD < size_at(rd->buf + rd->pos))
		return s->err = -EIO;
	rd->size = SIZE_FIELD + size_at(rd->buf + rd->pos);
	s->err = unpack_span(rd->buf + rd->pos + SIZE_FIELD, rd->size - SIZE_FIELD, &rd->span,
			     &rd->tag);
	return s->err;
}

static bool reader_before(const struct reader *a, const struct reader *b)
{
	return compare_spans(&a->span, &b->span) < 0;
}

static void sift_down(struct reader **heap, size_t n, size_t i)
{
	for (;;) {
		size_t least = i, l = 2 * i + 1, r = l + 1;
		struct reader *tmp = heap[i];

		if (l < n && reader_before(heap[l], heap[least]))
			least = l;
		if (r < n && reader_before(heap[r], heap[least]))
			least = r;
		if (least == i)
			return;
		heap[i] = heap[least];
		heap[least] = tmp;
		i = least;
	}
}

/* Gets the current record of a reader. */
typedef int (*record_sink)(void *ctx, const struct reader *rd);

static int merge_heap(struct sorter *s, struct reader **heap, size_t n, record_sink sink, void *ctx)
{
	for (size_t i = n / 2; i-- > 0;)
		sift_down(heap, n, i);
	while (n) {
		int err = sink(ctx, heap[0]);

		if (err)
			return err;
		if (reader_next(s, heap[0]))
			return s->err;
		if (!heap[0]->size)
			heap[0] = heap[--n];
		sift_down(heap, n, 0);
	}
	return 0;
}

/* Gives the records of n runs from first on, in order. */
static int merge_runs(struct sorter *s, size_t first, size_t n, record_sink sink, void *ctx)
{
	_free_ struct reader *readers = calloc(n, sizeof(*readers));
	_free_ struct reader **heap = calloc(n, sizeof(struct reader *));
	_free_ unsigned char *bufs = n ? malloc(n * READ_BUFFER) : NULL;
	size_t live = 0;

	if (!readers || !heap || !bufs)
		return s->err = -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct reader *rd = &readers[i];

		rd->buf = bufs + i * READ_BUFFER;
		rd->offset = s->runs[first + i].offset;
		rd->end = s->runs[first + i].end;
		if (reader_next(s, rd))
			return s->err;
		if (rd->size)
			heap[live++] = rd;
	}
	return merge_heap(s, heap, live, sink, ctx);
}

struct to_run {
	struct sorter *s;
	struct batch *batch;
};

static int write_record(void *ctx, const struct reader *rd)
{
	struct to_run *t = ctx;

	return batch_add(t->s, t->batch, rd->buf + rd->pos);
}

/* Merges groups of runs into longer ones, appended to the file; the old ones are left behind. */
static int merge_pass(struct sorter *s)
{
	_free_ struct batch *b = malloc(sizeof(*b));
	size_t old = s->run_count;

	if (!b)
		return s->err = -ENOMEM;
	b->len = 0;
	for (size_t i = 0; i < old; i += s->fan_in) {
		size_t n = old - i < s->fan_in ? old - i : s->fan_in;
		uint64_t offset = s->file_len;
		struct to_run t = {s, b};

		if (merge_runs(s, i, n, write_record, &t) || batch_flush(s, b) ||
		    add_run(s, offset))
			return s->err;
	}
	s->run_count -= old;
	memmove(s->runs, s->runs + old, s->run_count * sizeof(*s->runs));
	return 0;
}

struct to_emit {
	int (*emit)(void *ctx, const struct span *sp, uint64_t tag);
	void *ctx;
};

static int emit_record(void *ctx, const struct reader *rd)
{
	struct to_emit *t = ctx;

	return t->emit(t->ctx, &rd->span, rd->tag);
}

int sort_drain(struct sorter *s, int (*emit)(void *ctx, const struct span *sp, uint64_t tag),
	       void *ctx)
{
	struct to_emit t = {emit, ctx};

	if (s->err)
		return s->err;
	if (!s->run_count) {
		sort_index(s);
		for (size_t i = 0; i < s->count && !s->err; i++) {
			const unsigned char *record = s->arena + s->index[i].offset;
			struct span sp;
			uint64_t tag;

			s->err = unpack_span(record + SIZE_FIELD, size_at(record), &sp, &tag);
			if (!s->err)
				s->err = emit(ctx, &sp, tag);
		}
		return s->err;
	}
	if (spill(s))
		return s->err;
	/* The memory is needed for reading now. */
	free(take_ptr(s->arena));
	free(take_ptr(s->index));
	while (s->run_count > s->fan_in)
		if (merge_pass(s))
			return s->err;
	if (!s->err)
		s->err = merge_runs(s, 0, s->run_count, emit_record, &t);
	return s->err;
}
