// SPDX-License-Identifier: GPL-2.0-only
#include "core/filter.h"

#include <fnmatch.h>

bool filter_is_set(const struct filter_config *cfg)
{
	return cfg->n_match || cfg->n_exclude || cfg->n_pids || cfg->n_tids || cfg->min_ns ||
	       cfg->from_ns || cfg->to_ns;
}

void filter_begin(struct filter *f, const struct trace_meta *meta)
{
	f->start_ns = meta->first.real_ns;
}

static bool has_id(const pid_t *v, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if ((uint32_t)v[i] == id)
			return true;
	return false;
}

static bool fits_one(const char *const *patterns, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

static bool name_passes(const struct filter_config *c, const struct span *sp)
{
	char name[SPAN_NAME_MAX];

	if (!c->n_match && !c->n_exclude)
		return true;
	span_shown_name(sp, name);
	if (c->n_match && !fits_one(c->match, c->n_match, name))
		return false;
	return !fits_one(c->exclude, c->n_exclude, name);
}

static bool time_passes(const struct filter *f, const struct span *sp)
{
	const struct filter_config *c = &f->cfg;

	if (c->min_ns && sp->has_end && sp->end_ns - sp->start_ns < c->min_ns)
		return false;
	/* Differences, so that no clock setting can overflow. */
	if (c->from_ns && sp->has_end && (int64_t)(sp->end_ns - f->start_ns) < (int64_t)c->from_ns)
		return false;
	return !c->to_ns || (int64_t)(sp->start_ns - f->start_ns) < (int64_t)c->to_ns;
}

bool filter_passes(const struct filter *f, const struct span *sp)
{
	const struct filter_config *c = &f->cfg;

	if (c->n_pids && !has_id(c->pids, c->n_pids, sp->pid))
		return false;
	if (c->n_tids && !has_id(c->tids, c->n_tids, sp->start_tid) &&
	    !has_id(c->tids, c->n_tids, sp->end_tid))
		return false;
	return time_passes(f, sp) && name_passes(c, sp);
}

static int on_begin(void *ctx, const struct trace_meta *meta)
{
	struct filter *f = ctx;

	filter_begin(f, meta);
	return f->next.begin ? f->next.begin(f->next.ctx, meta) : 0;
}

/* A process that was not asked for would be an empty row in a viewer. */
static int on_process(void *ctx, const struct process *p)
{
	const struct filter *f = ctx;

	if (!f->next.process || (f->cfg.n_pids && !has_id(f->cfg.pids, f->cfg.n_pids, p->pid)))
		return 0;
	return f->next.process(f->next.ctx, p);
}

static int on_thread(void *ctx, const struct label *l)
{
	const struct filter *f = ctx;

	if (!f->next.thread || (f->cfg.n_pids && !has_id(f->cfg.pids, f->cfg.n_pids, l->pid)))
		return 0;
	return f->next.thread(f->next.ctx, l);
}

static int on_category(void *ctx, const struct label *l)
{
	const struct filter *f = ctx;

	return f->next.category ? f->next.category(f->next.ctx, l) : 0;
}

static int on_span(void *ctx, const struct span *sp)
{
	struct filter *f = ctx;

	if (!filter_passes(f, sp)) {
		f->dropped++;
		return f->next.hidden ? f->next.hidden(f->next.ctx, sp) : 0;
	}
	return f->next.span ? f->next.span(f->next.ctx, sp) : 0;
}

static int on_hidden(void *ctx, const struct span *sp)
{
	const struct filter *f = ctx;

	return f->next.hidden ? f->next.hidden(f->next.ctx, sp) : 0;
}

static int on_tally(void *ctx, const struct tally *t)
{
	const struct filter *f = ctx;

	return f->next.tally ? f->next.tally(f->next.ctx, t) : 0;
}

static int on_source(void *ctx, const struct trace_source *s)
{
	const struct filter *f = ctx;

	return f->next.source ? f->next.source(f->next.ctx, s) : 0;
}

static int on_end(void *ctx, const struct trace_meta *meta)
{
	const struct filter *f = ctx;
	struct trace_meta own = *meta;

	own.filtered += f->dropped;
	return f->next.end ? f->next.end(f->next.ctx, &own) : 0;
}

struct consumer filter_consumer(struct filter *f, const struct consumer *next)
{
	f->next = *next;
	return (struct consumer){
		.ctx = f,
		.begin = on_begin,
		.process = on_process,
		.thread = on_thread,
		.category = on_category,
		.span = on_span,
		.hidden = on_hidden,
		.tally = on_tally,
		.source = on_source,
		.end = on_end,
	};
}
