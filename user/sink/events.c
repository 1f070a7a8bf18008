// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything, one row a span or mark, sorted by start; then what is not an event. Two formats of
 * the same fields: .tsv with a header line, where an empty field is null, and .ndjson.
 *
 * parent is the number of a row, the first row (after the header) being 0. A row that is not an
 * event has its function, and in .tsv it stands in the column name; a loss has its time window
 * there in start_ns and end_ns, in .ndjson in from_ns and to_ns.
 */
#include <errno.h>
#include <string.h>

#include "sink/event_rows.h"
#include "sink/ids.h"
#include "sink/sink.h"
#include "util/cleanup.h"
#include "util/grow.h"

/* Beyond so many counts those that differ in their time window only are added up. */
#define TALLIES_MAX 65536
/* Rows of a thread that may still be parents; only equal start times make it more than depths. */
#define ANCESTORS_MAX 16384

struct ancestor {
	uint64_t id, row, start_ns;
	uint32_t depth;
};

struct thread {
	uint64_t key; /* pid, tid */
	struct ancestor *stack;
	size_t count, cap;
};

struct events {
	struct sink sink;
	struct out *out;
	struct event_rows rows;
	struct ids threads;
	struct tally *tallies;
	size_t tally_count, tally_cap;
};

static int events_open(const char *path, const struct sink_opts *opts, bool json, struct sink **out)
{
	struct events *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->threads = IDS_OF(struct thread);
	err = out_file(path, opts->overwrite, &e->out);
	if (err) {
		free(e);
		return err;
	}
	event_rows_init(&e->rows, e->out, json);
	*out = &e->sink;
	return 0;
}

static int tsv_open(const char *path, const struct sink_opts *opts, struct sink **out)
{
	return events_open(path, opts, false, out);
}

static int ndjson_open(const char *path, const struct sink_opts *opts, struct sink **out)
{
	return events_open(path, opts, true, out);
}

static int events_begin(struct sink *s, const struct trace_meta *meta)
{
	struct events *e = (struct events *)s;

	(void)meta;
	e->rows.versions = s->versions;
	event_rows_head(&e->rows);
	return out_error(e->out);
}

static int events_source(struct sink *s, const struct trace_source *src)
{
	struct events *e = (struct events *)s;

	return event_rows_source(&e->rows, src);
}

/* The row of the enclosing range, which comes before; EVENT_ROWS_NO_PARENT when there is none. */
static uint64_t parent_row(const struct thread *t, uint64_t id)
{
	for (size_t i = t->count; id && i-- > 0;)
		if (t->stack[i].id == id)
			return t->stack[i].row;
	return EVENT_ROWS_NO_PARENT;
}

/*
 * A push/pop range may be the parent of rows to come. Those of its thread that are as deep or
 * deeper have ended, but for children of the same start time that are sorted behind it.
 */
static int add_ancestor(struct thread *t, const struct span *sp, uint64_t row)
{
	while (t->count && t->stack[t->count - 1].depth >= sp->depth &&
	       t->stack[t->count - 1].start_ns < sp->start_ns)
		t->count--;
	if (t->count == ANCESTORS_MAX)
		memmove(t->stack, t->stack + 1, --t->count * sizeof(*t->stack));
	if (grow_table(t->stack, t->count, t->cap, 8))
		return -ENOMEM;
	t->stack[t->count++] = (struct ancestor){sp->id, row, sp->start_ns, sp->depth};
	return 0;
}

static int events_span(struct sink *s, const struct span *sp)
{
	struct events *e = (struct events *)s;
	struct thread *t = ids_get(&e->threads, IDS_KEY(sp->pid, sp->start_tid));
	uint64_t parent;

	if (!t)
		return -ENOMEM;
	parent = parent_row(t, sp->parent);
	event_rows_span(&e->rows, sp, s->of, parent);
	if (sp->kind == SPAN_PUSH_POP && add_ancestor(t, sp, s->rows))
		return -ENOMEM;
	s->rows++;
	return out_error(e->out);
}

static bool same_but_window(const struct tally *a, const struct tally *b)
{
	return a->kind == b->kind && a->func == b->func && a->pid == b->pid && a->ret == b->ret &&
	       a->source == b->source;
}

/* Room is used up: adds to a count of the same kind, whose window grows. */
static bool merge_tally(struct events *e, const struct tally *t)
{
	for (size_t i = 0; i < e->tally_count; i++) {
		struct tally *old = &e->tallies[i];

		if (!same_but_window(old, t))
			continue;
		old->count += t->count;
		if (t->from_ns < old->from_ns)
			old->from_ns = t->from_ns;
		if (t->to_ns > old->to_ns)
			old->to_ns = t->to_ns;
		return true;
	}
	return false;
}

/* Counts may come before the spans; they are written after them. */
static int events_tally(struct sink *s, const struct tally *t)
{
	struct events *e = (struct events *)s;

	if (!event_rows_shows(t))
		return 0;
	if (e->tally_count >= TALLIES_MAX && merge_tally(e, t))
		return 0;
	if (grow_table(e->tallies, e->tally_count, e->tally_cap, 16))
		return -ENOMEM;
	e->tallies[e->tally_count++] = *t;
	return 0;
}

static int events_end(struct sink *s, const struct trace_meta *meta)
{
	struct events *e = (struct events *)s;

	(void)meta;
	for (size_t i = 0; i < e->tally_count; i++)
		event_rows_tally(&e->rows, &e->tallies[i]);
	return out_close(take_ptr(e->out));
}

static void events_free(struct sink *s)
{
	struct events *e = (struct events *)s;

	for (size_t i = 0; i < e->threads.count; i++)
		free(((struct thread *)ids_at(&e->threads, i))->stack);
	ids_free(&e->threads);
	event_rows_free(&e->rows);
	free(e->tallies);
	out_discard(e->out);
	free(e);
}

#define EVENTS_OPS                                                                                 \
	.order = SINK_BY_START, .begin = events_begin, .span = events_span, .tally = events_tally, \
	.source = events_source, .end = events_end, .free = events_free

const struct sink_ops sink_tsv = {
	.name = "tsv",
	.suffix = ".tsv",
	.help = "all spans with their status, and all losses; awk, pandas",
	.open = tsv_open,
	EVENTS_OPS,
};

const struct sink_ops sink_ndjson = {
	.name = "ndjson",
	.suffix = ".ndjson",
	.help = "the same, one JSON object a line; jq, pandas",
	.open = ndjson_open,
	EVENTS_OPS,
};
