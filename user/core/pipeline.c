// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way of a record, in one page:
 *
 *   pipeline_push -> decode -> order -> range  -> on_span -> consumer
 *                       |         `---> tracks -> on_process, on_thread -> consumer
 *                       `-> counts, clock, watermark, facts about the capture: at once
 */
#include "core/pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/counts.h"
#include "core/decode.h"
#include "core/order.h"
#include "core/range.h"
#include "core/tracks.h"

struct pipeline {
	struct range_config cfg;
	struct consumer next;
	struct order order;
	struct tracks tracks;
	struct counts counts;
	struct range *range;
	uint64_t epoch; /* added to monotonic times, modulo 2^64 */
	bool begun;
	int err; /* first error, sticky */
};

/* ---- Towards the consumer: epoch times, begin first, processes before what they did --------- */

static int begin(struct pipeline *p)
{
	struct trace_meta meta;

	if (p->begun)
		return 0;
	p->begun = true;
	if (!p->next.begin)
		return 0;
	meta = tracks_meta(&p->tracks);
	meta.last = (struct clock_triple){0};
	return p->next.begin(p->next.ctx, &meta);
}

static int on_process(void *ctx, const struct process *proc)
{
	struct pipeline *p = ctx;
	int err = begin(p);

	if (err || !p->next.process)
		return err;
	return p->next.process(p->next.ctx, proc);
}

static int on_thread(void *ctx, const struct label *l)
{
	struct pipeline *p = ctx;
	int err = begin(p);

	if (err || !p->next.thread)
		return err;
	return p->next.thread(p->next.ctx, l);
}

static int on_category(void *ctx, const struct label *l)
{
	struct pipeline *p = ctx;
	int err = begin(p);

	if (!err)
		err = tracks_announce(&p->tracks, l->pid);
	if (err || !p->next.category)
		return err;
	return p->next.category(p->next.ctx, l);
}

static int on_span(void *ctx, const struct span *sp)
{
	struct pipeline *p = ctx;
	struct span out = *sp;
	int err = begin(p);

	if (!err)
		err = tracks_announce(&p->tracks, sp->pid);
	if (err || !p->next.span)
		return err;
	out.start_ns += p->epoch;
	if (out.has_end)
		out.end_ns += p->epoch;
	return p->next.span(p->next.ctx, &out);
}

static int on_tally(void *ctx, const struct tally *t)
{
	struct pipeline *p = ctx;
	struct tally out = *t;
	int err = begin(p);

	if (!err && t->pid)
		err = tracks_announce(&p->tracks, t->pid);
	if (err || !p->next.tally)
		return err;
	if (out.kind == TALLY_LOSS || out.kind == TALLY_LOST_RETURN) {
		out.from_ns += p->epoch;
		out.to_ns += p->epoch;
	}
	return p->next.tally(p->next.ctx, &out);
}

/* ---- From the order stage ------------------------------------------------------------------ */

/* What ended is told with the facts that held while it ran: range before tracks. */
static int on_event(void *ctx, const struct event *ev)
{
	struct pipeline *p = ctx;
	int err;

	if (ev->w->kind != WIRE_FORK) {
		err = range_push(p->range, ev);
		return err ? err : tracks_push(&p->tracks, ev);
	}
	err = range_replaced(p->range, (uint32_t)ev->w->arg0);
	if (!err)
		err = tracks_push(&p->tracks, ev);
	return err ? err : range_push(p->range, ev);
}

/* ---- What does not wait for its turn ------------------------------------------------------- */

/* Options of the recording that change what its records mean. */
static void option(struct pipeline *p, const struct event *ev)
{
	static const char lifecycle[] = "lifecycle=1", returns[] = "returns=1";
	size_t n = strnlen(ev->msg, ev->w->msg_len);

	if (n == sizeof(lifecycle) - 1 && !memcmp(ev->msg, lifecycle, n))
		p->cfg.lifecycle = true;
	if (n == sizeof(returns) - 1 && !memcmp(ev->msg, returns, n))
		p->cfg.returns = true;
	range_configure(p->range, &p->cfg);
}

static int loss(struct pipeline *p, const struct event *ev)
{
	const struct counts_next next = {p, on_tally};

	if (!(ev->w->flags & WIRE_F_RETURNS) && ev->w->arg1)
		range_lost(p->range, ev->w->func);
	return counts_loss(&p->counts, ev->w, &next);
}

static void clock_triple(struct pipeline *p, const struct event *ev)
{
	if (!p->tracks.has_clock)
		p->epoch = ev->w->arg0 - ev->w->time_ns;
	tracks_clock(&p->tracks, ev);
}

static int route(struct pipeline *p, const struct event *ev)
{
	switch (ev->w->kind) {
	case WIRE_CALL:
		p->counts.funcs[ev->w->func].delivered++;
		return order_push(&p->order, ev);
	case WIRE_CLOCK:
		clock_triple(p, ev);
		return 0;
	case WIRE_WATERMARK:
		return order_watermark(&p->order, ev->w->time_ns);
	case WIRE_LOSS:
		return loss(p, ev);
	case WIRE_COUNT:
		counts_total(&p->counts, ev->w, ev->msg);
		return 0;
	case WIRE_FACT:
		if (ev->w->tgid)
			return order_push(&p->order, ev);
		if (ev->w->arg1 == FACT_OPTION)
			option(p, ev);
		return tracks_fact(&p->tracks, ev);
	case WIRE_LOADED:
		return 0;
	default:
		return order_push(&p->order, ev);
	}
}

/* ---- The pipeline -------------------------------------------------------------------------- */

int pipeline_new(const struct pipeline_config *cfg, const struct consumer *next,
		 struct pipeline **out)
{
	struct pipeline *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->cfg = (struct range_config){cfg->lifecycle, cfg->returns};
	p->next = *next;
	order_init(&p->order, &(struct order_next){p, on_event});
	tracks_init(&p->tracks, &(struct tracks_next){p, on_process, on_thread});
	err = range_new(&p->cfg, &(struct range_next){p, on_span, on_category, on_tally},
			&p->counts, &p->range);
	if (err) {
		free(p);
		return err;
	}
	*out = p;
	return 0;
}

int pipeline_push(struct pipeline *p, const void *rec, size_t sz)
{
	struct event ev;
	struct wire w;

	if (p->err)
		return p->err;
	if (decode(rec, sz, &w, &ev)) {
		p->counts.bad++;
		return 0;
	}
	if (decode_is_kernel(&w) && w.time_ns > p->counts.last_ns)
		p->counts.last_ns = w.time_ns;
	p->err = route(p, &ev);
	return p->err;
}

static int finish(struct pipeline *p, bool complete)
{
	const struct counts_next next = {p, on_tally};
	struct trace_meta meta;
	int err = order_flush(&p->order);

	if (!err)
		err = range_finish(p->range);
	if (!err)
		err = begin(p);
	if (!err)
		err = tracks_finish(&p->tracks);
	p->counts.late = p->order.late;
	if (!err)
		err = counts_finish(&p->counts, &next);
	if (err || !p->next.end)
		return err;
	meta = tracks_meta(&p->tracks);
	meta.complete = complete;
	return p->next.end(p->next.ctx, &meta);
}

int pipeline_finish(struct pipeline *p, bool complete)
{
	if (!p->err)
		p->err = finish(p, complete);
	return p->err;
}

void pipeline_free(struct pipeline *p)
{
	if (!p)
		return;
	order_free(&p->order);
	tracks_free(&p->tracks);
	counts_free(&p->counts);
	range_free(p->range);
	free(p);
}
