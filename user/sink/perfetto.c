// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's native format: the order of spans, and what is no span. Their places are in
 * pftracks.c, the packets in pftrace.c.
 *
 * A reader sorts packets by time, those of one time in order of the file, and an end closes the
 * innermost slice of its track. So of one track the packets must be in the order in which things
 * happened, also within one nanosecond: spans come by start (not by end, as in json and db), those
 * of one start are put in order of their opening, and an end is written when something after it is,
 * or at the end. Memory is kept for each process, thread, lane and open level, not for spans.
 *
 *   thread track   push/pop as nested slices, marks, and as marks ranges whose end is unknown
 *   lanes          start/end ranges, and what would not nest: below the thread that started it
 *   losses         a counter of lost calls, and a slice for each time in which some were lost
 *   counts         what is no event, as marks at the start of the trace
 *
 * A range that was still open has no end: readers draw it to the end of the trace, as not finished.
 * Annotations are what is not usual: no status means complete, no category means 0.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "sink/out.h"
#include "sink/pftrace.h"
#include "sink/pftracks.h"
#include "sink/sink.h"
#include "util/cleanup.h"
#include "util/grow.h"

/* Spans of one start that are put in order; beyond, the order of the sort must do. */
#define GROUP_MAX 4096

struct held {
	struct span sp;
	size_t name, domain;  /* offsets of the texts */
	const char *category; /* its name, of the versions */
};

struct pf {
	struct sink sink;
	struct out *out;
	struct pftracks t;
	uint64_t first_ns;
	uint64_t lost;
	bool counter_written, counts_written;
	struct held *group; /* of one start */
	size_t group_count, group_cap;
	char *texts;
	size_t texts_used, texts_size;
};

/* ---- Spans of one start -------------------------------------------------------------------- */

static int by_opening(const void *a, const void *b)
{
	uint64_t x = ((const struct held *)a)->sp.id, y = ((const struct held *)b)->sp.id;

	return x < y ? -1 : x > y;
}

static int write_group(struct pf *p)
{
	int err = 0;

	if (p->group_count > 1)
		qsort(p->group, p->group_count, sizeof(*p->group), by_opening);
	for (size_t i = 0; i < p->group_count && !err; i++) {
		struct held *h = &p->group[i];

		h->sp.name = p->texts + h->name;
		h->sp.domain = h->sp.domain ? p->texts + h->domain : NULL;
		err = pftracks_span(&p->t, &h->sp, h->category);
	}
	p->group_count = p->texts_used = 0;
	return err;
}

static int hold_text(struct pf *p, const char *s, size_t n, size_t *offset)
{
	if (p->texts_used + n + 1 > p->texts_size) {
		size_t size = 2 * (p->texts_used + n) + 4096;
		char *texts = realloc(p->texts, size);

		if (!texts)
			return -ENOMEM;
		p->texts = texts;
		p->texts_size = size;
	}
	*offset = p->texts_used;
	if (n)
		memcpy(p->texts + p->texts_used, s, n);
	p->texts[p->texts_used + n] = '\0';
	p->texts_used += n + 1;
	return 0;
}

static int hold_span(struct pf *p, const struct span *sp)
{
	struct held *h;
	int err;

	if (grow_table(p->group, p->group_count, p->group_cap, 16))
		return -ENOMEM;
	h = &p->group[p->group_count];
	h->sp = *sp;
	h->category = versions_category_name(p->sink.versions, p->sink.of);
	err = hold_text(p, sp->name, sp->name_len, &h->name);
	if (!err && sp->domain)
		err = hold_text(p, sp->domain, strlen(sp->domain), &h->domain);
	p->group_count += !err;
	return err;
}

static int pf_span(struct sink *s, const struct span *sp)
{
	struct pf *p = (struct pf *)s;
	int err = 0;

	if (p->group_count &&
	    (p->group[0].sp.start_ns != sp->start_ns || p->group_count == GROUP_MAX))
		err = write_group(p);
	if (!err)
		err = hold_span(p, sp);
	s->rows += !err;
	return err;
}

/* ---- What is no event ---------------------------------------------------------------------- */

static int write_loss(struct pf *p, const struct tally *t)
{
	char name[128];
	struct pf_event ev = {.type = PF_BEGIN, .kind = -1, .name = name};

	snprintf(name, sizeof(name), "lost %" PRIu64 " %s%s", t->count,
		 t->kind == TALLY_LOST_RETURN ? "returns of " : "x ", entry_name(t->func));
	ev.name_len = strlen(name);
	pf_add_uint(&ev, PF_COUNT, t->count);
	if (t->pid)
		pf_add_uint(&ev, PF_PID, t->pid);
	return pftracks_loss(&p->t, &ev, t->from_ns, t->to_ns);
}

static int count_loss(struct pf *p, const struct tally *t)
{
	const struct pf_track track = {.uuid = pftracks_id(&p->t, TRACK_COUNTER, 0, 0),
				       .name = "lost calls",
				       .counter = true};
	uint64_t at = t->to_ns ? t->to_ns : p->first_ns;
	int err = 0;

	if (!p->counter_written) {
		p->counter_written = true;
		err = pftrace_track(p->t.trace, &track);
	}
	p->lost += t->count;
	return err ? err : pftrace_lost(p->t.trace, track.uuid, at - p->t.offset, p->lost);
}

static int write_count(struct pf *p, const struct tally *t)
{
	const struct pf_track track = {.uuid = pftracks_id(&p->t, TRACK_COUNTS, 0, 0),
				       .name = "counts"};
	char name[128];
	struct pf_event ev = {.type = PF_INSTANT,
			      .track = track.uuid,
			      .mono_ns = p->first_ns - p->t.offset,
			      .kind = -1,
			      .name = name};
	int err = 0;

	if (!p->counts_written) {
		p->counts_written = true;
		err = pftrace_track(p->t.trace, &track);
	}
	if (t->kind == TALLY_LATE || t->kind == TALLY_BAD)
		snprintf(name, sizeof(name), "%s", tally_kind_name(t->kind));
	else
		snprintf(name, sizeof(name), "%s %s", tally_kind_name(t->kind),
			 entry_name(t->func));
	ev.name_len = strlen(name);
	pf_add_uint(&ev, PF_COUNT, t->count);
	if (t->pid)
		pf_add_uint(&ev, PF_PID, t->pid);
	if (t->kind == TALLY_FAILED)
		pf_add_note(&ev, PF_RET, PF_INT)->i = t->ret;
	return err ? err : pftrace_event(p->t.trace, &ev);
}

static int pf_tally(struct sink *s, const struct tally *t)
{
	struct pf *p = (struct pf *)s;
	const struct entry *entry = entry_get(t->func);
	bool is_loss = tally_is_loss(t->kind);
	int err = 0;

	/* Of calls only those that are no events. */
	if (t->kind == TALLY_CALL && (!entry || entry->op != OP_COUNT))
		return 0;
	if (t->kind == TALLY_LOSS)
		err = count_loss(p, t);
	if (err)
		return err;
	return is_loss && t->to_ns >= t->from_ns && t->to_ns ? write_loss(p, t) : write_count(p, t);
}

/* ---- The sink ------------------------------------------------------------------------------ */

static void pf_free(struct sink *s)
{
	struct pf *p = (struct pf *)s;

	pftracks_free(&p->t);
	free(p->group);
	free(p->texts);
	pftrace_free(p->t.trace);
	out_discard(p->out);
	free(p);
}

static int pf_open(const char *path, const struct sink_opts *opts, struct sink **out)
{
	struct pf *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	pftracks_init(&p->t);
	err = out_file(path, opts->overwrite, &p->out);
	if (!err)
		err = pftrace_new(p->out, &p->t.trace);
	if (err)
		pf_free(&p->sink);
	else
		*out = &p->sink;
	return err;
}

static int pf_begin(struct sink *s, const struct trace_meta *meta)
{
	struct pf *p = (struct pf *)s;

	p->t.offset = meta->first.real_ns - meta->first.mono_ns;
	p->first_ns = meta->first.real_ns;
	p->t.salt = meta->first.real_ns * 0x9e3779b97f4a7c15u;
	return pftrace_begin(p->t.trace, &meta->first);
}

static int pf_process(struct sink *s, const struct process *proc)
{
	char names[VERSIONS_NAMES_MAX];
	const struct process all = versions_all(s->versions, proc, names);

	return pftracks_process(&((struct pf *)s)->t, &all);
}

static int pf_thread(struct sink *s, const struct label *l)
{
	return pftracks_thread(&((struct pf *)s)->t, l);
}

static int pf_end(struct sink *s, const struct trace_meta *meta)
{
	struct pf *p = (struct pf *)s;
	int err = write_group(p);

	if (!err)
		err = pftracks_close(&p->t);
	/* For a host that slept meanwhile. */
	if (!err && meta->last.mono_ns > meta->first.mono_ns &&
	    meta->last.boot_ns > meta->first.boot_ns && meta->last.real_ns > meta->first.real_ns)
		err = pftrace_clocks(p->t.trace, &meta->last);
	return err ? err : out_close(take_ptr(p->out));
}

const struct sink_ops sink_perfetto = {
	.name = "perfetto",
	.suffix = ".pftrace",
	.help = "Perfetto's native format; ui.perfetto.dev, trace_processor",
	.order = SINK_BY_START,
	.open = pf_open,
	.begin = pf_begin,
	.process = pf_process,
	.thread = pf_thread,
	.span = pf_span,
	.tally = pf_tally,
	.end = pf_end,
	.free = pf_free,
};
