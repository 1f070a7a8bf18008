// SPDX-License-Identifier: GPL-2.0-only
#include "core/lane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

#define LANES (WIRE_SOURCES_MAX + 1)

/* ---- Common ground: PIDs ------------------------------------------------------------------- */

static bool same_text(const struct text *a, const struct text *b)
{
	return a && b && a->len && text_same(a, b->bytes, b->len, false, false);
}

static bool same_host(const struct tracks *a, const struct tracks *b)
{
	if (a->boot_id || b->boot_id)
		return same_text(a->boot_id, b->boot_id);
	return same_text(a->host, b->host);
}

/* Two captures see the same PIDs when they are of one PID namespace of one running kernel. */
static uint32_t space_of(const struct lane *l)
{
	const struct tracks *own = &l->tracks;

	for (uint32_t i = 1; i < l->source; i++) {
		const struct lane *other = l->trace->lanes[i];

		if (other && same_text(own->boot_id, other->tracks.boot_id) &&
		    same_text(own->pid_space, other->tracks.pid_space))
			return i;
	}
	return l->source;
}

static int number_of(struct lane *l, uint32_t pid, uint32_t *number)
{
	int err;

	if (!l->trace->merged || pid == l->recent_pid) {
		*number = l->trace->merged ? l->recent_number : pid;
		return 0;
	}
	if (!l->space)
		l->space = space_of(l);
	err = pids_number(&l->trace->pids, l->space, pid, number);
	if (!err) {
		l->recent_pid = pid;
		l->recent_number = *number;
	}
	return err;
}

/* Are all sources of one host? Then a rank there is as good as one among all. */
static bool is_one_host(const struct trace *t)
{
	const struct lane *first = NULL;

	for (uint32_t i = 1; i < LANES; i++) {
		if (!t->lanes[i])
			continue;
		if (first && !same_host(&first->tracks, &t->lanes[i]->tracks))
			return false;
		first = first ? first : t->lanes[i];
	}
	return true;
}

/* ---- Towards the consumer: begin first, processes before what they did ---------------------- */

static int begin(struct trace *t)
{
	struct trace_meta meta;

	if (t->begun)
		return 0;
	t->begun = true;
	if (!t->next.begin)
		return 0;
	meta = tracks_meta(&t->lanes[0]->tracks);
	meta.last = (struct clock_triple){0};
	return t->next.begin(t->next.ctx, &meta);
}

static int on_process(void *ctx, const struct process *proc)
{
	struct lane *l = ctx;
	struct trace *t = l->trace;
	struct process out = *proc;
	int err = begin(t);

	if (err || !t->next.process)
		return err;
	out.source = l->source;
	if (out.rank < 0 && is_one_host(t))
		out.rank = out.local_rank;
	err = number_of(l, proc->ppid, &out.ppid);
	if (!err)
		err = number_of(l, proc->pid, &out.pid);
	return err ? err : t->next.process(t->next.ctx, &out);
}

static int on_label(struct lane *l, const struct label *label,
		    int (*next)(void *ctx, const struct label *l))
{
	struct label out = *label;
	int err;

	if (!next)
		return 0;
	err = number_of(l, label->pid, &out.pid);
	return err ? err : next(l->trace->next.ctx, &out);
}

static int on_thread(void *ctx, const struct label *label)
{
	struct lane *l = ctx;
	int err = begin(l->trace);

	return err ? err : on_label(l, label, l->trace->next.thread);
}

static int on_category(void *ctx, const struct label *label)
{
	struct lane *l = ctx;
	int err = begin(l->trace);

	if (!err)
		err = tracks_announce(&l->tracks, label->pid, true);
	return err ? err : on_label(l, label, l->trace->next.category);
}

static int on_span(void *ctx, const struct span *sp)
{
	struct lane *l = ctx;
	struct trace *t = l->trace;
	struct span out = *sp;
	int err = begin(t);

	if (!err)
		err = tracks_announce(&l->tracks, sp->pid, true);
	if (!err)
		err = number_of(l, sp->pid, &out.pid);
	if (err || !t->next.span)
		return err;
	out.start_ns += t->epoch;
	if (out.has_end)
		out.end_ns += t->epoch;
	return t->next.span(t->next.ctx, &out);
}

static int on_tally(void *ctx, const struct tally *tally)
{
	struct lane *l = ctx;
	struct trace *t = l->trace;
	struct tally out = *tally;
	int err = begin(t);

	if (!err && tally->pid)
		err = tracks_announce(&l->tracks, tally->pid, false);
	if (!err)
		err = number_of(l, tally->pid, &out.pid);
	if (err || !t->next.tally)
		return err;
	out.source = l->source;
	if (tally_is_loss(out.kind)) {
		out.from_ns += t->epoch;
		out.to_ns += t->epoch;
	}
	return t->next.tally(t->next.ctx, &out);
}

/* ---- Lanes --------------------------------------------------------------------------------- */

static struct lane *lane_new(struct trace *t, uint32_t source)
{
	struct lane *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->trace = t;
	l->source = source;
	l->cfg = t->cfg;
	tracks_init(&l->tracks, &(struct tracks_next){l, on_process, on_thread});
	if (range_new(&l->cfg, &(struct range_next){l, on_span, on_category, on_tally}, &l->counts,
		      &t->last_id, &l->range)) {
		free(l);
		return NULL;
	}
	return t->lanes[source] = l;
}

struct lane *lane_of(struct trace *t, uint32_t tgid)
{
	uint32_t source = t->merged ? wire_source(tgid) : 0;

	return t->lanes[source] ? t->lanes[source] : lane_new(t, source);
}

/* What ended is told with the facts that held while it ran: range before tracks. */
int lane_event(struct lane *l, const struct event *ev)
{
	int err;

	/* Of a merged capture only here both are PIDs. */
	if (ev->w->kind == WIRE_FORK && ev->w->arg0 == ev->w->tgid) {
		l->counts.bad++;
		return 0;
	}
	l->counts.late += ev->late;
	if (ev->w->kind != WIRE_FORK) {
		err = range_push(l->range, ev);
		return err ? err : tracks_push(&l->tracks, ev);
	}
	err = range_replaced(l->range, (uint32_t)ev->w->arg0);
	if (!err)
		err = tracks_push(&l->tracks, ev);
	return err ? err : range_push(l->range, ev);
}

int lane_loss(struct lane *l, const struct event *ev)
{
	const struct counts_next next = {l, on_tally};

	if (!(ev->w->flags & WIRE_F_RETURNS) && ev->w->arg1)
		range_lost(l->range, ev->w->func);
	return counts_loss(&l->counts, ev->w, &next);
}

/* Options of the recording that change what its records mean. */
static void option(struct lane *l, const struct event *ev)
{
	l->cfg.lifecycle |= decode_is_option(ev, "lifecycle=1");
	l->cfg.returns |= decode_is_option(ev, "returns=1");
	range_configure(l->range, &l->cfg);
}

int lane_fact(struct lane *l, const struct event *ev)
{
	if (ev->w->arg1 == FACT_OPTION)
		option(l, ev);
	return tracks_fact(&l->tracks, ev);
}

/* ---- The end ------------------------------------------------------------------------------- */

static int finish_lane(struct lane *l)
{
	int err = range_finish(l->range);

	if (!err)
		err = begin(l->trace);
	return err ? err : tracks_finish(&l->tracks);
}

static int finish_counts(struct lane *l)
{
	const struct counts_next next = {l, on_tally};

	return counts_finish(&l->counts, &next);
}

static int tell_source(struct lane *l)
{
	const struct consumer *next = &l->trace->next;
	struct trace_source s;

	if (!l->source || !next->source)
		return 0;
	s = tracks_source(&l->tracks);
	s.number = l->source;
	return next->source(next->ctx, &s);
}

static int for_lanes(struct trace *t, int (*fn)(struct lane *l))
{
	int err = 0;

	for (uint32_t i = 0; i < LANES && !err; i++)
		if (t->lanes[i])
			err = fn(t->lanes[i]);
	return err;
}

int trace_finish(struct trace *t, bool complete)
{
	struct trace_meta meta;
	int err = for_lanes(t, finish_lane);

	if (!err)
		err = for_lanes(t, tell_source);
	if (!err)
		err = for_lanes(t, finish_counts);
	if (err || !t->next.end)
		return err;
	meta = tracks_meta(&t->lanes[0]->tracks);
	meta.complete = complete;
	meta.cut = complete ? NULL : t->cut;
	for (uint32_t i = 1; i < LANES; i++) {
		meta.sources += t->lanes[i] != NULL;
		if (t->lanes[i] && t->lanes[i]->tracks.ended)
			meta.complete = false;
	}
	return t->next.end(t->next.ctx, &meta);
}

static int lane_free(struct lane *l)
{
	tracks_free(&l->tracks);
	counts_free(&l->counts);
	range_free(l->range);
	free(l);
	return 0;
}

void trace_free(struct trace *t)
{
	for_lanes(t, lane_free);
	pids_free(&t->pids);
}
