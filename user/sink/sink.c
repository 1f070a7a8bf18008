// SPDX-License-Identifier: GPL-2.0-only
/* The table of formats, and the fan-out to several sinks. */
#include "sink/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink/sort.h"
#include "util/privs.h"

const struct sink_ops *const sink_table[] = {
	&sink_csv,	&sink_json, &sink_tsv, &sink_ndjson,
#ifdef HAVE_SQLITE
	&sink_db,
#endif
#ifdef HAVE_PROTOBUF_C
	&sink_perfetto,
#endif
	&sink_html,	&sink_null, NULL,
};

const struct sink_ops *sink_by_name(const char *name)
{
	for (const struct sink_ops *const *op = sink_table; *op; op++)
		if (!strcmp((*op)->name, name))
			return *op;
	return NULL;
}

const struct sink_ops *sink_by_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash : path, '.');

	for (const struct sink_ops *const *op = sink_table; dot && *op; op++)
		if (!strcmp((*op)->suffix, dot))
			return *op;
	return NULL;
}

const char *sink_not_built(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash : path, '.');

	(void)dot;
#ifndef HAVE_SQLITE
	if (dot && !strcmp(dot, ".db"))
		return "libsqlite3-dev";
#endif
#ifndef HAVE_PROTOBUF_C
	if (dot && !strcmp(dot, ".pftrace"))
		return "libprotobuf-c-dev and protobuf-c-compiler";
#endif
	return NULL;
}

void sink_process_name(const struct process *p, char buf[SINK_PROCESS_NAME_MAX])
{
	char rank[24] = "", pid[24] = "";
	const char *host = p->source && p->host ? p->host : "";
	const char *first, *second;

	if (p->rank >= 0)
		snprintf(rank, sizeof(rank), "rank %d", p->rank);
	else if (p->source && p->local_rank >= 0)
		snprintf(rank, sizeof(rank), "local rank %d", p->local_rank);
	if (p->source && p->host_pid != p->pid)
		snprintf(pid, sizeof(pid), "PID %u", p->host_pid);
	first = *rank && (*host || *pid) ? ", " : "";
	second = *host && *pid ? ", " : "";
	if (*rank || *host || *pid)
		snprintf(buf, SINK_PROCESS_NAME_MAX, "%.200s%s(%s%s%.200s%s%s)", p->name,
			 *p->name ? " " : "", rank, first, host, second, pid);
	else
		snprintf(buf, SINK_PROCESS_NAME_MAX, "%.511s", p->name);
}

struct fanout {
	struct sink **sinks;
	size_t count;
	struct sorter *sorter; /* NULL when no sink wants one */
	struct versions versions;
	bool as_owner; /* of whoever calls, from begin() on */
	int sort_err;
	uint64_t spans, drained;
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

int fanout_new(struct fanout **out)
{
	struct fanout *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	versions_init(&f->versions);
	*out = f;
	return 0;
}

static void sink_free(struct sink *s)
{
	bool was = privs_as_owner(s->as_owner);

	free(s->path);
	s->path = NULL;
	s->ops->free(s);
	privs_as_owner(was);
}

void fanout_free(struct fanout *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->count; i++)
		sink_free(f->sinks[i]);
	free(f->sinks);
	sort_free(f->sorter);
	versions_free(&f->versions);
	free(f);
}

int fanout_add(struct fanout *f, const struct sink_ops *ops, const char *path,
	       const struct sink_opts *opts)
{
	struct sink **p = realloc(f->sinks, (f->count + 1) * sizeof(struct sink *));
	struct sink *s;
	int err;

	if (!p)
		return -ENOMEM;
	f->sinks = p;
	if (ops->order == SINK_BY_START && !f->sorter) {
		err = sort_new(path, SORT_BUDGET, &f->sorter);
		if (err)
			return err;
	}
	err = ops->open(path, opts, &s);
	if (err)
		return err;
	s->ops = ops;
	s->versions = &f->versions;
	s->as_owner = privs_is_owner();
	s->path = strdup(path);
	if (!s->path) {
		sink_free(s);
		return -ENOMEM;
	}
	f->sinks[f->count++] = s;
	return 0;
}

/* Files can be opened by every call: slices, scratch files. */
static void enter(const struct fanout *f, const struct sink *s)
{
	if (s->as_owner != f->as_owner)
		privs_as_owner(s->as_owner);
}

static void leave(const struct fanout *f, const struct sink *s)
{
	if (s->as_owner != f->as_owner)
		privs_as_owner(f->as_owner);
}

/* Calls op of every sink that has it and did not fail before. */
#define FOR_ALL(f, op, ...)                                                                        \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < (f)->count; i_++) {                                       \
			struct sink *s_ = (f)->sinks[i_];                                          \
			enter(f, s_);                                                              \
			if (!s_->err && s_->ops->op)                                               \
				s_->err = s_->ops->op(s_, __VA_ARGS__);                            \
			leave(f, s_);                                                              \
		}                                                                                  \
	} while (0)

static int first_error(const struct fanout *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->sinks[i]->err)
			return f->sinks[i]->err;
	return 0;
}

static int fanout_begin(void *ctx, const struct trace_meta *meta)
{
	struct fanout *f = ctx;

	f->as_owner = privs_is_owner();
	FOR_ALL(f, begin, meta);
	return 0;
}

static int fanout_process(void *ctx, const struct process *p)
{
	struct fanout *f = ctx;
	struct process known = *p;
	int err = versions_process(&f->versions, &known);

	if (err)
		return err;
	FOR_ALL(f, process, &known);
	return 0;
}

static int fanout_thread(void *ctx, const struct label *l)
{
	struct fanout *f = ctx;

	FOR_ALL(f, thread, l);
	return 0;
}

static int fanout_category(void *ctx, const struct label *l)
{
	struct fanout *f = ctx;
	int err = versions_category(&f->versions, l);

	if (err)
		return err;
	FOR_ALL(f, category, l);
	return 0;
}

static int fanout_tally(void *ctx, const struct tally *t)
{
	struct fanout *f = ctx;

	FOR_ALL(f, tally, t);
	return 0;
}

static int fanout_source(void *ctx, const struct trace_source *src)
{
	struct fanout *f = ctx;

	FOR_ALL(f, source, src);
	return 0;
}

static void give_span(struct fanout *f, const struct span *sp, uint64_t of, enum sink_order order)
{
	for (size_t i = 0; i < f->count; i++) {
		struct sink *s = f->sinks[i];

		if (s->ops->order != order || s->err)
			continue;
		s->of = of;
		enter(f, s);
		s->err = s->ops->span(s, sp);
		leave(f, s);
	}
}

static int fanout_span(void *ctx, const struct span *sp)
{
	struct fanout *f = ctx;
	uint64_t of = versions_of(&f->versions, sp);

	f->spans++;
	give_span(f, sp, of, SINK_BY_END);
	if (f->sorter && !f->sort_err)
		f->sort_err = sort_add(f->sorter, sp, of);
	return 0;
}

static int fanout_hidden(void *ctx, const struct span *sp)
{
	struct fanout *f = ctx;

	FOR_ALL(f, hidden, sp);
	return 0;
}

static int sorted_span(void *ctx, const struct span *sp, uint64_t of)
{
	struct fanout *f = ctx;

	give_span(f, sp, of, SINK_BY_START);
	if (f->progress && !(++f->drained & 0xffff))
		f->progress(f->progress_ctx, f->drained, f->spans);
	return 0;
}

static int fanout_end(void *ctx, const struct trace_meta *meta)
{
	struct fanout *f = ctx;

	if (f->sorter && !f->sort_err)
		f->sort_err = sort_drain(f->sorter, sorted_span, f);
	sort_free(f->sorter);
	f->sorter = NULL;
	for (size_t i = 0; i < f->count; i++) {
		struct sink *s = f->sinks[i];

		/* Without its spans a file is not complete. */
		if (s->ops->order == SINK_BY_START && f->sort_err && !s->err)
			s->err = f->sort_err;
		enter(f, s);
		if (!s->err && s->ops->end)
			s->err = s->ops->end(s, meta);
		leave(f, s);
		s->done = !s->err;
	}
	return first_error(f);
}

struct consumer fanout_consumer(struct fanout *f)
{
	return (struct consumer){
		.ctx = f,
		.begin = fanout_begin,
		.process = fanout_process,
		.thread = fanout_thread,
		.category = fanout_category,
		.span = fanout_span,
		.hidden = fanout_hidden,
		.tally = fanout_tally,
		.source = fanout_source,
		.end = fanout_end,
	};
}

void fanout_progress(struct fanout *f, void (*progress)(void *ctx, uint64_t done, uint64_t total),
		     void *ctx)
{
	f->progress = progress;
	f->progress_ctx = ctx;
}

size_t fanout_count(const struct fanout *f)
{
	return f->count;
}

const struct sink *fanout_get(const struct fanout *f, size_t i)
{
	return f->sinks[i];
}
