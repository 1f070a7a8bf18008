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

#include "core/entry.h"
#include "sink/escape.h"
#include "sink/ids.h"
#include "sink/sink.h"
#include "util/cleanup.h"

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

struct text {
	uint64_t key;
	char *s;
	size_t len;
};

struct events {
	struct sink sink;
	struct out *out;
	bool json;
	bool first; /* no field of this row is written yet */
	struct ids threads, procs, categories;
	struct tally *tallies;
	size_t tally_count, tally_cap;
};

static int events_open(const char *path, const struct sink_opts *opts, bool json, struct sink **out)
{
	struct events *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->json = json;
	e->first = true;
	e->first = true;
	e->threads = IDS_OF(struct thread);
	e->procs = IDS_OF(struct text);
	e->categories = IDS_OF(struct text);
	err = out_file(path, opts->overwrite, &e->out);
	if (err)
		free(e);
	else
		*out = &e->sink;
	return err;
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
	if (!e->json)
		out_str(e->out, "kind\tname\tstart_ns\tend_ns\tduration_ns\tpid\tprocess\t"
				"start_tid\tend_tid\tdepth\tparent\tstatus\tcategory\t"
				"category_name\tpayload\tret\tcount\n");
	return out_error(e->out);
}

static int keep_text(struct ids *m, uint64_t key, const char *s, size_t len)
{
	struct text *t = ids_get(m, key);
	char *copy = malloc(len + 1);

	if (!t || !copy) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, s, len);
	free(t->s);
	t->s = copy;
	t->len = len;
	return 0;
}

static int events_process(struct sink *s, const struct process *p)
{
	struct events *e = (struct events *)s;

	return *p->name ? keep_text(&e->procs, p->pid, p->name, strlen(p->name)) : 0;
}

static int events_category(struct sink *s, const struct label *l)
{
	struct events *e = (struct events *)s;

	return keep_text(&e->categories, IDS_KEY(l->pid, l->id), l->text, l->len);
}

/* Begins a field: all that tells the two formats apart is here and in the functions below. */
static void field(struct events *e, const char *key)
{
	struct out *o = e->out;

	if (!e->json) {
		if (!e->first)
			out_char(o, '\t');
	} else {
		out_str(o, e->first ? "{\"" : ",\"");
		out_str(o, key);
		out_write(o, "\":", 2);
	}
	e->first = false;
}

static void end_row(struct events *e)
{
	if (e->json)
		out_char(e->out, '}');
	out_char(e->out, '\n');
	e->first = true;
}

static void field_null(struct events *e, const char *key)
{
	field(e, key);
	if (e->json)
		out_str(e->out, "null");
}

static void field_u64(struct events *e, const char *key, uint64_t v)
{
	field(e, key);
	out_u64(e->out, v);
}

static void field_i64(struct events *e, const char *key, int64_t v)
{
	char *p;

	field(e, key);
	p = out_room(e->out);
	out_advance(e->out, (size_t)(put_i64(p, v) - p));
}

static void field_text(struct events *e, const char *key, const char *s, size_t n)
{
	field(e, key);
	if (e->json)
		out_json(e->out, s, n);
	else
		out_tsv(e->out, s, n);
}

/* One of our own words, which need no escape. */
static void field_word(struct events *e, const char *key, const char *s)
{
	field(e, key);
	if (e->json)
		out_char(e->out, '"');
	out_str(e->out, s);
	if (e->json)
		out_char(e->out, '"');
}

static void field_found(struct events *e, const char *key, const struct text *t)
{
	if (t)
		field_text(e, key, t->s, t->len);
	else
		field_null(e, key);
}

/* A range that its thread or process ended has a bound, but no duration. */
static bool has_duration(const struct span *sp)
{
	if (sp->kind == SPAN_MARKER || sp->kind == SPAN_MARKER_EX)
		return sp->has_end;
	return sp->has_end && (sp->status == SPAN_COMPLETE || sp->status == SPAN_SUPERSEDED);
}

static void field_times(struct events *e, const struct span *sp)
{
	field_u64(e, "start_ns", sp->start_ns);
	if (sp->has_end)
		field_u64(e, "end_ns", sp->end_ns);
	else
		field_null(e, "end_ns");
	if (has_duration(sp))
		field_u64(e, "duration_ns", sp->end_ns - sp->start_ns);
	else
		field_null(e, "duration_ns");
}

/* The row of the enclosing range, which comes before; UINT64_MAX when there is none. */
static uint64_t parent_row(const struct thread *t, uint64_t id)
{
	for (size_t i = t->count; id && i-- > 0;)
		if (t->stack[i].id == id)
			return t->stack[i].row;
	return UINT64_MAX;
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
	if (t->count == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 8;
		struct ancestor *p = realloc(t->stack, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		t->stack = p;
		t->cap = cap;
	}
	t->stack[t->count++] = (struct ancestor){sp->id, row, sp->start_ns, sp->depth};
	return 0;
}

static void field_stamp(struct events *e, const struct span *sp)
{
	if (sink_span_domain(sp)) {
		field_null(e, "category");
		field_null(e, "category_name");
	} else {
		field_u64(e, "category", sp->category);
		field_found(e, "category_name",
			    ids_find(&e->categories, IDS_KEY(sp->pid, sp->category)));
	}
	if (sp->payload.len)
		field_u64(e, "payload", payload_value(&sp->payload));
	else
		field_null(e, "payload");
	if (sp->has_ret)
		field_i64(e, "ret", sp->ret);
	else
		field_null(e, "ret");
}

static int events_span(struct sink *s, const struct span *sp)
{
	struct events *e = (struct events *)s;
	struct thread *t = ids_get(&e->threads, IDS_KEY(sp->pid, sp->start_tid));
	uint64_t parent;

	if (!t)
		return -ENOMEM;
	parent = parent_row(t, sp->parent);
	field_word(e, "kind", span_kind_name(sp->kind));
	field(e, "name");
	out_span_name(e->out, sp, e->json ? out_json : out_tsv);
	field_times(e, sp);
	field_u64(e, "pid", sp->pid);
	field_found(e, "process", ids_find(&e->procs, sp->pid));
	field_u64(e, "start_tid", sp->start_tid);
	field_u64(e, "end_tid", sp->end_tid);
	field_u64(e, "depth", sp->depth);
	if (parent == UINT64_MAX)
		field_null(e, "parent");
	else
		field_u64(e, "parent", parent);
	field_word(e, "status", span_status_name(sp->status));
	field_stamp(e, sp);
	if (!e->json)
		field_null(e, "count");
	end_row(e);
	if (sp->kind == SPAN_PUSH_POP && add_ancestor(t, sp, s->rows))
		return -ENOMEM;
	s->rows++;
	return out_error(e->out);
}

static bool same_but_window(const struct tally *a, const struct tally *b)
{
	return a->kind == b->kind && a->func == b->func && a->pid == b->pid && a->ret == b->ret;
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
	const struct entry *entry = entry_get(t->func);

	/* Of calls only those that are no events. */
	if (t->kind == TALLY_CALL && (!entry || entry->op != OP_COUNT))
		return 0;
	if (e->tally_count >= TALLIES_MAX && merge_tally(e, t))
		return 0;
	if (e->tally_count == e->tally_cap) {
		size_t cap = e->tally_cap ? e->tally_cap * 2 : 16;
		struct tally *p = realloc(e->tallies, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		e->tallies = p;
		e->tally_cap = cap;
	}
	e->tallies[e->tally_count++] = *t;
	return 0;
}

static bool has_function(enum tally_kind kind)
{
	return kind != TALLY_LATE && kind != TALLY_BAD;
}

static void write_tally_json(struct events *e, const struct tally *t)
{
	field_word(e, "kind", tally_kind_name(t->kind));
	if (has_function(t->kind))
		field_word(e, "function", entry_name(t->func));
	if (t->pid)
		field_u64(e, "pid", t->pid);
	if (t->kind == TALLY_FAILED)
		field_i64(e, "ret", t->ret);
	field_u64(e, "count", t->count);
	if (t->to_ns) {
		field_u64(e, "from_ns", t->from_ns);
		field_u64(e, "to_ns", t->to_ns);
	}
	end_row(e);
}

static void write_nulls(struct events *e, int n)
{
	while (n-- > 0)
		field_null(e, "");
}

static void write_tally_tsv(struct events *e, const struct tally *t)
{
	field_word(e, "kind", tally_kind_name(t->kind));
	field_word(e, "name", has_function(t->kind) ? entry_name(t->func) : "");
	if (t->to_ns) {
		field_u64(e, "start_ns", t->from_ns);
		field_u64(e, "end_ns", t->to_ns);
		write_nulls(e, 1);
	} else {
		write_nulls(e, 3);
	}
	if (t->pid)
		field_u64(e, "pid", t->pid);
	else
		write_nulls(e, 1);
	write_nulls(e, 9); /* process ... payload */
	if (t->kind == TALLY_FAILED)
		field_i64(e, "ret", t->ret);
	else
		write_nulls(e, 1);
	field_u64(e, "count", t->count);
	end_row(e);
}

static int events_end(struct sink *s, const struct trace_meta *meta)
{
	struct events *e = (struct events *)s;

	(void)meta;
	for (size_t i = 0; i < e->tally_count; i++) {
		if (e->json)
			write_tally_json(e, &e->tallies[i]);
		else
			write_tally_tsv(e, &e->tallies[i]);
	}
	return out_close(take_ptr(e->out));
}

static void free_texts(struct ids *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(((struct text *)ids_at(m, i))->s);
	ids_free(m);
}

static void events_free(struct sink *s)
{
	struct events *e = (struct events *)s;

	for (size_t i = 0; i < e->threads.count; i++)
		free(((struct thread *)ids_at(&e->threads, i))->stack);
	ids_free(&e->threads);
	free_texts(&e->procs);
	free_texts(&e->categories);
	free(e->tallies);
	out_discard(e->out);
	free(e);
}

#define EVENTS_OPS                                                                                 \
	.order = SINK_BY_START, .begin = events_begin, .process = events_process,                  \
	.category = events_category, .span = events_span, .tally = events_tally,                   \
	.end = events_end, .free = events_free

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
