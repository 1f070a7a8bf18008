// SPDX-License-Identifier: GPL-2.0-only
#include "sink/event_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "sink/escape.h"
#include "sink/sink.h"

struct text {
	uint64_t key;
	char *s;
	size_t len;
};

void event_rows_init(struct event_rows *e, struct out *o, bool json)
{
	*e = (struct event_rows){
		.out = o, .json = json, .first = true, .sources = IDS_OF(struct text)};
	versions_init(&e->own);
	e->versions = &e->own;
}

void event_rows_free(struct event_rows *e)
{
	for (size_t i = 0; i < e->sources.count; i++)
		free(((struct text *)ids_at(&e->sources, i))->s);
	ids_free(&e->sources);
	versions_free(&e->own);
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

int event_rows_source(struct event_rows *e, const struct trace_source *src)
{
	return keep_text(&e->sources, src->number, src->host, strlen(src->host));
}

void event_rows_head(struct event_rows *e)
{
	if (!e->json)
		out_str(e->out, "kind\tname\tstart_ns\tend_ns\tduration_ns\tpid\tprocess\t"
				"start_tid\tend_tid\tdepth\tparent\tstatus\tcategory\t"
				"category_name\tpayload\tret\tcount\t"
				"rank\thost\thost_pid\n");
}

/* Begins a field: all that tells the two formats apart is here and in the functions below. */
static void field(struct event_rows *e, const char *key)
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

static void end_row(struct event_rows *e)
{
	if (e->json)
		out_char(e->out, '}');
	out_char(e->out, '\n');
	e->first = true;
}

static void field_null(struct event_rows *e, const char *key)
{
	field(e, key);
	if (e->json)
		out_str(e->out, "null");
}

static void field_u64(struct event_rows *e, const char *key, uint64_t v)
{
	field(e, key);
	out_u64(e->out, v);
}

static void field_i64(struct event_rows *e, const char *key, int64_t v)
{
	char *p;

	field(e, key);
	p = out_room(e->out);
	out_advance(e->out, (size_t)(put_i64(p, v) - p));
}

static void field_text(struct event_rows *e, const char *key, const char *s, size_t n)
{
	field(e, key);
	if (e->json)
		out_json(e->out, s, n);
	else
		out_tsv(e->out, s, n);
}

/* One of our own words, which need no escape. */
static void field_word(struct event_rows *e, const char *key, const char *s)
{
	field(e, key);
	if (e->json)
		out_char(e->out, '"');
	out_str(e->out, s);
	if (e->json)
		out_char(e->out, '"');
}

static void field_known(struct event_rows *e, const char *key, const char *s)
{
	if (s)
		field_text(e, key, s, strlen(s));
	else
		field_null(e, key);
}

/* Whose it is beside the PID: the last fields. proc may be NULL. */
static void field_owner(struct event_rows *e, const struct version *proc, const char *host)
{
	if (proc && proc->rank >= 0)
		field_i64(e, "rank", proc->rank);
	else
		field_null(e, "rank");
	field_known(e, "host", proc ? proc->host : host);
	if (proc)
		field_u64(e, "host_pid", proc->host_pid);
	else
		field_null(e, "host_pid");
}

/* A range that its thread or process ended has a bound, but no duration. */
static bool has_duration(const struct span *sp)
{
	if (sp->kind == SPAN_MARKER || sp->kind == SPAN_MARKER_EX)
		return sp->has_end;
	return sp->has_end && (sp->status == SPAN_COMPLETE || sp->status == SPAN_SUPERSEDED);
}

static void field_times(struct event_rows *e, const struct span *sp)
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

static void field_stamp(struct event_rows *e, const struct span *sp, uint64_t of)
{
	if (sink_span_domain(sp)) {
		field_null(e, "category");
		field_null(e, "category_name");
	} else {
		field_u64(e, "category", sp->category);
		field_known(e, "category_name", versions_category_name(e->versions, of));
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

void event_rows_span(struct event_rows *e, const struct span *sp, uint64_t of, uint64_t parent)
{
	const struct version *proc = versions_owner(e->versions, of);

	field_word(e, "kind", span_kind_name(sp->kind));
	field(e, "name");
	out_span_name(e->out, sp, e->json ? out_json : out_tsv);
	field_times(e, sp);
	field_u64(e, "pid", sp->pid);
	field_known(e, "process", proc ? proc->name : NULL);
	field_u64(e, "start_tid", sp->start_tid);
	field_u64(e, "end_tid", sp->end_tid);
	field_u64(e, "depth", sp->depth);
	if (parent == UINT64_MAX)
		field_null(e, "parent");
	else
		field_u64(e, "parent", parent);
	field_word(e, "status", span_status_name(sp->status));
	field_stamp(e, sp, of);
	if (!e->json)
		field_null(e, "count");
	field_owner(e, proc, NULL);
	end_row(e);
}

bool event_rows_shows(const struct tally *t)
{
	const struct entry *entry = entry_get(t->func);

	return t->kind != TALLY_CALL || (entry && entry->op == OP_COUNT);
}

static bool has_function(enum tally_kind kind)
{
	return kind != TALLY_LATE && kind != TALLY_BAD;
}

/* In .tsv all columns; in .ndjson what there is. */
static void write_owner(struct event_rows *e, const struct tally *t)
{
	const struct version *proc = t->pid ? versions_last(e->versions, t->pid) : NULL;
	const struct text *source = t->source ? ids_find(&e->sources, t->source) : NULL;
	char host[256] = "";

	if (source)
		memcpy(host, source->s, source->len < 255 ? source->len : 255);
	if (!e->json || proc || source)
		field_owner(e, proc, source ? host : NULL);
}

static void write_tally_json(struct event_rows *e, const struct tally *t)
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
	write_owner(e, t);
	end_row(e);
}

static void write_nulls(struct event_rows *e, int n)
{
	while (n-- > 0)
		field_null(e, "");
}

static void write_tally_tsv(struct event_rows *e, const struct tally *t)
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
	write_owner(e, t);
	end_row(e);
}

void event_rows_tally(struct event_rows *e, const struct tally *t)
{
	if (e->json)
		write_tally_json(e, t);
	else
		write_tally_tsv(e, t);
}

/* ---- As a consumer ------------------------------------------------------------------------- */

static int stream_process(void *ctx, const struct process *p)
{
	struct event_rows *e = ctx;
	struct process told = *p;

	return versions_process(&e->own, &told);
}

static int stream_category(void *ctx, const struct label *l)
{
	struct event_rows *e = ctx;

	return versions_category(&e->own, l);
}

static int stream_span(void *ctx, const struct span *sp)
{
	struct event_rows *e = ctx;

	event_rows_span(e, sp, versions_of(&e->own, sp), EVENT_ROWS_NO_PARENT);
	return out_error(e->out);
}

static int stream_tally(void *ctx, const struct tally *t)
{
	struct event_rows *e = ctx;

	if (event_rows_shows(t))
		event_rows_tally(e, t);
	return out_error(e->out);
}

struct consumer event_rows_stream(struct event_rows *e)
{
	return (struct consumer){.ctx = e,
				 .process = stream_process,
				 .category = stream_category,
				 .span = stream_span,
				 .tally = stream_tally};
}
