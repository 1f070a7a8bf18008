// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's native format: what becomes of each span; the packets are in pftrace.c.
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
#include "sink/escape.h"
#include "sink/ids.h"
#include "sink/out.h"
#include "sink/pftrace.h"
#include "sink/repair.h"
#include "sink/sink.h"
#include "util/cleanup.h"

#define NEVER UINT64_MAX
/* Spans of one start that are put in order; beyond, the order of the sort must do. */
#define GROUP_MAX 4096

/* Kinds of tracks, for their ids. */
enum { TRACK_PROCESS, TRACK_THREAD, TRACK_LANE, TRACK_COUNTER, TRACK_COUNTS };

struct text {
	uint64_t key;
	char *s;
};

struct proc {
	uint64_t key;
	char *name, *cmdline;
	bool written; /* its track */
};

/* A slice on the track of a thread, begun in the file. */
struct level {
	uint64_t id, end_ns; /* NEVER = open */
};

struct lane {
	uint64_t end_ns; /* NEVER = open */
	bool begun;	 /* its end is to be written */
};

struct thread {
	uint64_t key;
	bool written; /* its track */
	struct level *levels;
	size_t count, cap;
	struct lane *lanes;
	size_t lane_count;
};

struct held {
	struct span sp;
	size_t name, domain; /* offsets of the texts */
};

struct pf {
	struct sink sink;
	struct out *out;
	struct pftrace *trace;
	struct repair repair;
	struct ids procs, threads, names, categories; /* names: of threads */
	uint64_t offset;			      /* epoch - monotonic */
	uint64_t first_ns, salt;
	uint64_t lost;
	bool counter_written, counts_written;
	struct held *group; /* of one start */
	size_t group_count, group_cap;
	char *texts;
	size_t texts_used, texts_size;
};

/* ---- Tracks -------------------------------------------------------------------------------- */

/* Differs between captures as well, so that traces can be put together. Never 0. */
static uint64_t track_id(const struct pf *p, unsigned int kind, uint64_t key, uint64_t lane)
{
	uint64_t h = p->salt ^ key;

	h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
	h ^= (lane << 3 | kind) * 0xd6e8feb86659fd93u;
	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 32) * 0x94d049bb133111ebu;
	return (h ^ h >> 30) | 1;
}

static int write_process(struct pf *p, uint32_t pid)
{
	struct proc *proc = ids_get(&p->procs, pid);
	struct pf_track track = {.uuid = track_id(p, TRACK_PROCESS, pid, 0), .pid = pid};

	if (!proc)
		return -ENOMEM;
	if (proc->written)
		return 0;
	proc->written = true;
	track.name = proc->name;
	track.cmdline = proc->cmdline;
	return pftrace_track(p->trace, &track);
}

static int write_thread(struct pf *p, struct thread *t)
{
	uint32_t pid = (uint32_t)(t->key >> 32), tid = (uint32_t)t->key;
	const struct text *name = ids_find(&p->names, t->key);
	const struct pf_track track = {
		.uuid = track_id(p, TRACK_THREAD, t->key, 0),
		.parent = track_id(p, TRACK_PROCESS, pid, 0),
		.pid = pid,
		.tid = tid,
		.name = name ? name->s : NULL,
	};
	int err;

	if (t->written)
		return 0;
	t->written = true;
	err = write_process(p, pid);
	return err ? err : pftrace_track(p->trace, &track);
}

/* Key 0 is no thread: its lanes are those of the losses. */
static int write_lane(struct pf *p, const struct thread *t, size_t lane)
{
	char name[64];
	const struct pf_track track = {
		.uuid = track_id(p, TRACK_LANE, t->key, lane),
		.parent = t->key ? track_id(p, TRACK_THREAD, t->key, 0) : 0,
		.name = name,
	};

	snprintf(name, sizeof(name), t->key ? "ranges %zu" : "losses %zu", lane + 1);
	return pftrace_track(p->trace, &track);
}

/* ---- Events -------------------------------------------------------------------------------- */

static int write_end(struct pf *p, uint64_t track, uint64_t end_ns)
{
	const struct pf_event ev = {.type = PF_END, .track = track, .mono_ns = end_ns - p->offset};

	return pftrace_event(p->trace, &ev);
}

static struct pf_note *add_note(struct pf_event *ev, enum pf_key key, enum pf_value type)
{
	struct pf_note *n = &ev->notes[ev->note_count++];

	n->key = key;
	n->type = type;
	return n;
}

static void add_uint(struct pf_event *ev, enum pf_key key, uint64_t v)
{
	add_note(ev, key, PF_UINT)->u = v;
}

static void add_text(struct pf_event *ev, enum pf_key key, const char *text)
{
	add_note(ev, key, PF_TEXT)->text = text;
}

/* At most PF_NOTES_MAX: one for each key but count and pid. */
static void annotate(const struct pf *p, const struct span *sp, struct pf_event *ev)
{
	const struct text *category = NULL;
	const char *domain = sink_span_domain(sp);

	if (sp->status != SPAN_COMPLETE)
		add_text(ev, PF_STATUS, span_status_name(sp->status));
	if (domain)
		add_text(ev, PF_DOMAIN, domain);
	else
		category = ids_find(&p->categories, IDS_KEY(sp->pid, sp->category));
	if (!domain && (sp->category || category))
		add_uint(ev, PF_CATEGORY, sp->category);
	if (category)
		add_text(ev, PF_CATEGORY_NAME, category->s);
	if (sp->payload.len) {
		add_note(ev, PF_PAYLOAD_TYPE, PF_INT)->i = sp->payload.type;
		add_uint(ev, PF_PAYLOAD, payload_value(&sp->payload));
	}
	if (sp->has_ret)
		add_note(ev, PF_RET, PF_INT)->i = sp->ret;
	if (sp->kind == SPAN_START_END) {
		add_uint(ev, PF_START_TID, sp->start_tid);
		add_uint(ev, PF_END_TID, sp->end_tid);
	}
	if (sp->unreadable)
		add_note(ev, PF_UNREADABLE, PF_BOOL)->b = true;
	if (sp->cut)
		add_note(ev, PF_CUT, PF_BOOL)->b = true;
}

static int write_begin(struct pf *p, const struct span *sp, enum pf_type type, uint64_t track)
{
	struct pf_event ev = {
		.type = type,
		.track = track,
		.mono_ns = sp->start_ns - p->offset,
		.kind = sp->kind,
	};
	int err = repair_name(&p->repair, sp, &ev.name, &ev.name_len);

	if (err)
		return err;
	annotate(p, sp, &ev);
	return pftrace_event(p->trace, &ev);
}

/* ---- Lanes --------------------------------------------------------------------------------- */

/* The first lane that is free from start on; the end of its last slice is written. */
static int take_lane(struct pf *p, struct thread *t, uint64_t start_ns, size_t *lane)
{
	size_t i = 0;
	int err;

	while (i < t->lane_count && t->lanes[i].end_ns > start_ns)
		i++;
	*lane = i;
	if (i == t->lane_count) {
		struct lane *lanes = realloc(t->lanes, (i + 1) * sizeof(*lanes));

		if (!lanes)
			return -ENOMEM;
		t->lanes = lanes;
		t->lanes[i] = (struct lane){0};
		t->lane_count++;
		return write_lane(p, t, i);
	}
	err = t->lanes[i].begun
		      ? write_end(p, track_id(p, TRACK_LANE, t->key, i), t->lanes[i].end_ns)
		      : 0;
	t->lanes[i].begun = false;
	return err;
}

static int put_on_lane(struct pf *p, struct thread *t, const struct span *sp)
{
	size_t i;
	int err = take_lane(p, t, sp->start_ns, &i);

	if (err)
		return err;
	t->lanes[i].end_ns = sp->has_end ? sp->end_ns : NEVER;
	t->lanes[i].begun = sp->has_end;
	return write_begin(p, sp, PF_BEGIN, track_id(p, TRACK_LANE, t->key, i));
}

/* ---- The track of a thread ----------------------------------------------------------------- */

static int pop_level(struct pf *p, struct thread *t)
{
	uint64_t end_ns = t->levels[--t->count].end_ns;

	if (end_ns == NEVER)
		return 0;
	return write_end(p, track_id(p, TRACK_THREAD, t->key, 0), end_ns);
}

/* What ended before sp began, or with its begin but does not enclose it. */
static int pop_ended(struct pf *p, struct thread *t, const struct span *sp)
{
	while (t->count) {
		const struct level *top = &t->levels[t->count - 1];
		int err;

		if (top->end_ns > sp->start_ns ||
		    (top->end_ns == sp->start_ns && top->id == sp->parent))
			break;
		err = pop_level(p, t);
		if (err)
			return err;
	}
	return 0;
}

static int push_level(struct thread *t, const struct span *sp)
{
	if (t->count == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 8;
		struct level *levels = realloc(t->levels, cap * sizeof(*levels));

		if (!levels)
			return -ENOMEM;
		t->levels = levels;
		t->cap = cap;
	}
	t->levels[t->count++] = (struct level){sp->id, sp->has_end ? sp->end_ns : NEVER};
	return 0;
}

static int put_on_thread(struct pf *p, struct thread *t, const struct span *sp)
{
	bool is_range = sp->kind == SPAN_PUSH_POP || sp->kind == SPAN_START_END;
	uint64_t track = track_id(p, TRACK_THREAD, t->key, 0);
	uint64_t end_ns = sp->has_end ? sp->end_ns : NEVER;
	int err = pop_ended(p, t, sp);

	if (err)
		return err;
	if (!is_range || (!sp->has_end && sp->status != SPAN_OPEN))
		return write_begin(p, sp, PF_INSTANT, track);
	/* Only after losses: it ends later than what should enclose it. */
	if (t->count && t->levels[t->count - 1].end_ns < end_ns)
		return put_on_lane(p, t, sp);
	err = push_level(t, sp);
	return err ? err : write_begin(p, sp, PF_BEGIN, track);
}

static int write_span(struct pf *p, const struct span *sp)
{
	struct thread *t = ids_get(&p->threads, IDS_KEY(sp->pid, sp->start_tid));
	int err;

	if (!t)
		return -ENOMEM;
	err = write_thread(p, t);
	if (err)
		return err;
	if (sp->kind == SPAN_START_END && (sp->has_end || sp->status == SPAN_OPEN))
		return put_on_lane(p, t, sp);
	return put_on_thread(p, t, sp);
}

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
		err = write_span(p, &h->sp);
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

	if (p->group_count == p->group_cap) {
		size_t cap = p->group_cap ? p->group_cap * 2 : 16;

		h = realloc(p->group, cap * sizeof(*h));
		if (!h)
			return -ENOMEM;
		p->group = h;
		p->group_cap = cap;
	}
	h = &p->group[p->group_count];
	h->sp = *sp;
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
	struct thread *losses = ids_get(&p->threads, 0);
	char name[128];
	struct pf_event ev = {
		.type = PF_BEGIN, .mono_ns = t->from_ns - p->offset, .kind = -1, .name = name};
	size_t i;
	int err;

	if (!losses)
		return -ENOMEM;
	err = take_lane(p, losses, t->from_ns, &i);
	if (err)
		return err;
	losses->lanes[i] = (struct lane){t->to_ns, true};
	snprintf(name, sizeof(name), "lost %" PRIu64 " %s%s", t->count,
		 t->kind == TALLY_LOSS ? "x " : "returns of ", entry_name(t->func));
	ev.name_len = strlen(name);
	ev.track = track_id(p, TRACK_LANE, 0, i);
	add_uint(&ev, PF_COUNT, t->count);
	if (t->pid)
		add_uint(&ev, PF_PID, t->pid);
	return pftrace_event(p->trace, &ev);
}

static int count_loss(struct pf *p, const struct tally *t)
{
	const struct pf_track track = {
		.uuid = track_id(p, TRACK_COUNTER, 0, 0), .name = "lost calls", .counter = true};
	uint64_t at = t->to_ns ? t->to_ns : p->first_ns;
	int err = 0;

	if (!p->counter_written) {
		p->counter_written = true;
		err = pftrace_track(p->trace, &track);
	}
	p->lost += t->count;
	return err ? err : pftrace_lost(p->trace, track.uuid, at - p->offset, p->lost);
}

static int write_count(struct pf *p, const struct tally *t)
{
	const struct pf_track track = {.uuid = track_id(p, TRACK_COUNTS, 0, 0), .name = "counts"};
	char name[128];
	struct pf_event ev = {.type = PF_INSTANT,
			      .track = track.uuid,
			      .mono_ns = p->first_ns - p->offset,
			      .kind = -1,
			      .name = name};
	int err = 0;

	if (!p->counts_written) {
		p->counts_written = true;
		err = pftrace_track(p->trace, &track);
	}
	if (t->kind == TALLY_LATE || t->kind == TALLY_BAD)
		snprintf(name, sizeof(name), "%s", tally_kind_name(t->kind));
	else
		snprintf(name, sizeof(name), "%s %s", tally_kind_name(t->kind),
			 entry_name(t->func));
	ev.name_len = strlen(name);
	add_uint(&ev, PF_COUNT, t->count);
	if (t->pid)
		add_uint(&ev, PF_PID, t->pid);
	if (t->kind == TALLY_FAILED)
		add_note(&ev, PF_RET, PF_INT)->i = t->ret;
	return err ? err : pftrace_event(p->trace, &ev);
}

static int pf_tally(struct sink *s, const struct tally *t)
{
	struct pf *p = (struct pf *)s;
	const struct entry *entry = entry_get(t->func);
	bool is_loss = t->kind == TALLY_LOSS || t->kind == TALLY_LOST_RETURN;
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

	for (size_t i = 0; i < p->procs.count; i++) {
		struct proc *proc = ids_at(&p->procs, i);

		free(proc->name);
		free(proc->cmdline);
	}
	for (size_t i = 0; i < p->threads.count; i++) {
		struct thread *t = ids_at(&p->threads, i);

		free(t->levels);
		free(t->lanes);
	}
	for (size_t i = 0; i < p->names.count; i++)
		free(((struct text *)ids_at(&p->names, i))->s);
	for (size_t i = 0; i < p->categories.count; i++)
		free(((struct text *)ids_at(&p->categories, i))->s);
	ids_free(&p->procs);
	ids_free(&p->threads);
	ids_free(&p->names);
	ids_free(&p->categories);
	free(p->group);
	free(p->texts);
	repair_free(&p->repair);
	pftrace_free(p->trace);
	out_discard(p->out);
	free(p);
}

static int pf_open(const char *path, const struct sink_opts *opts, struct sink **out)
{
	struct pf *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->procs = IDS_OF(struct proc);
	p->threads = IDS_OF(struct thread);
	p->names = IDS_OF(struct text);
	p->categories = IDS_OF(struct text);
	err = out_file(path, opts->overwrite, &p->out);
	if (!err)
		err = pftrace_new(p->out, &p->trace);
	if (err)
		pf_free(&p->sink);
	else
		*out = &p->sink;
	return err;
}

static int pf_begin(struct sink *s, const struct trace_meta *meta)
{
	struct pf *p = (struct pf *)s;

	p->offset = meta->first.real_ns - meta->first.mono_ns;
	p->first_ns = meta->first.real_ns;
	p->salt = meta->first.real_ns * 0x9e3779b97f4a7c15u;
	return pftrace_begin(p->trace, &meta->first);
}

static int replace_text(char **old, const char *text)
{
	char *copy;

	if (!*text)
		return 0;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(*old);
	*old = copy;
	return 0;
}

static int pf_process(struct sink *s, const struct process *proc)
{
	struct proc *p = ids_get(&((struct pf *)s)->procs, proc->pid);
	int err;

	if (!p)
		return -ENOMEM;
	err = replace_text(&p->name, proc->name);
	return err ? err : replace_text(&p->cmdline, proc->cmdline);
}

static int keep_label(struct ids *m, const struct label *l)
{
	struct text *t = ids_get(m, IDS_KEY(l->pid, l->id));
	char *copy = strndup(l->text, l->len);

	if (!t || !copy) {
		free(copy);
		return -ENOMEM;
	}
	free(t->s);
	t->s = copy;
	return 0;
}

static int pf_thread(struct sink *s, const struct label *l)
{
	return keep_label(&((struct pf *)s)->names, l);
}

static int pf_category(struct sink *s, const struct label *l)
{
	return keep_label(&((struct pf *)s)->categories, l);
}

/* All ends that were not written yet. */
static int close_thread(struct pf *p, struct thread *t)
{
	int err = 0;

	while (t->count && !err)
		err = pop_level(p, t);
	for (size_t i = 0; i < t->lane_count && !err; i++)
		if (t->lanes[i].begun)
			err = write_end(p, track_id(p, TRACK_LANE, t->key, i), t->lanes[i].end_ns);
	return err;
}

static int pf_end(struct sink *s, const struct trace_meta *meta)
{
	struct pf *p = (struct pf *)s;
	int err = write_group(p);

	for (size_t i = 0; i < p->threads.count && !err; i++)
		err = close_thread(p, ids_at(&p->threads, i));
	/* For a host that slept meanwhile. */
	if (!err && meta->last.mono_ns > meta->first.mono_ns &&
	    meta->last.boot_ns > meta->first.boot_ns && meta->last.real_ns > meta->first.real_ns)
		err = pftrace_clocks(p->trace, &meta->last);
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
	.category = pf_category,
	.span = pf_span,
	.tally = pf_tally,
	.end = pf_end,
	.free = pf_free,
};
