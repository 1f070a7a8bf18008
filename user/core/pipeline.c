// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way of a record, in one page:
 *
 *   pipeline_push -> decode -> order -> lane of its source: range, tracks -> consumer
 *                       `-> counts, clock, watermark, facts about the capture: at once
 */
#include "core/pipeline.h"

#include <errno.h>
#include <stdlib.h>

#include "core/decode.h"
#include "core/lane.h"
#include "core/order.h"

struct pipeline {
	struct trace trace;
	struct order order;
	int err; /* first error, sticky */
};

/* ---- From the order stage ------------------------------------------------------------------ */

/* A lane knows PIDs only, of its own source. */
static int to_lane(struct lane *l, const struct event *ev,
		   int (*fn)(struct lane *l, const struct event *ev))
{
	struct wire w;
	struct event plain = *ev;

	if (!l->source)
		return fn(l, ev);
	w = *ev->w;
	w.tgid = wire_pid(w.tgid);
	plain.w = &w;
	return fn(l, &plain);
}

static int on_event(void *ctx, const struct event *ev)
{
	struct pipeline *p = ctx;
	struct lane *l = lane_of(&p->trace, ev->w->tgid);

	return l ? to_lane(l, ev, lane_event) : -ENOMEM;
}

/* ---- What does not wait for its turn ------------------------------------------------------- */

static int clock_triple(struct lane *l, const struct event *ev)
{
	if (!l->source && !l->tracks.has_clock)
		l->trace->epoch = ev->w->arg0 - ev->w->time_ns;
	tracks_clock(&l->tracks, ev);
	return 0;
}

static int fact(struct pipeline *p, struct lane *l, const struct event *ev)
{
	if (ev->w->tgid != wire_tgid(l->source, 0))
		return order_push(&p->order, ev);
	return to_lane(l, ev, lane_fact);
}

static int route(struct pipeline *p, struct lane *l, const struct event *ev)
{
	if (decode_is_kernel(ev->w) || ev->w->kind == WIRE_CLOCK)
		counts_time(&l->counts, ev->w->time_ns);
	switch (ev->w->kind) {
	case WIRE_CALL:
		l->counts.funcs[ev->w->func].delivered++;
		return order_push(&p->order, ev);
	case WIRE_CLOCK:
		return clock_triple(l, ev);
	case WIRE_WATERMARK:
		return order_watermark(&p->order, ev->w->time_ns);
	case WIRE_LOSS:
		return to_lane(l, ev, lane_loss);
	case WIRE_COUNT:
		counts_total(&l->counts, ev->w, ev->msg);
		return 0;
	case WIRE_FACT:
		return fact(p, l, ev);
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

	if (!p)
		return -ENOMEM;
	p->trace.cfg = (struct range_config){cfg->lifecycle, cfg->returns};
	p->trace.merged = cfg->merged;
	p->trace.next = *next;
	order_init(&p->order, &(struct order_next){p, on_event});
	if (!lane_of(&p->trace, 0)) {
		free(p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

int pipeline_push(struct pipeline *p, const void *rec, size_t sz)
{
	struct event ev;
	struct lane *l;
	struct wire w;

	if (p->err)
		return p->err;
	if (decode(rec, sz, &w, &ev)) {
		p->trace.lanes[0]->counts.bad++;
		return 0;
	}
	l = lane_of(&p->trace, w.tgid);
	p->err = l ? route(p, l, &ev) : -ENOMEM;
	return p->err;
}

void pipeline_cut(struct pipeline *p, const char *how)
{
	p->trace.cut = how;
}

int pipeline_finish(struct pipeline *p, bool complete)
{
	if (!p->err)
		p->err = order_flush(&p->order);
	if (!p->err)
		p->err = trace_finish(&p->trace, complete);
	return p->err;
}

void pipeline_free(struct pipeline *p)
{
	if (!p)
		return;
	order_free(&p->order);
	trace_free(&p->trace);
	free(p);
}
