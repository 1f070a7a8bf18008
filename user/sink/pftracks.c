// SPDX-License-Identifier: GPL-2.0-only
#include "sink/pftracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink/escape.h"
#include "sink/lanes.h"
#include "sink/sink.h"
#include "util/grow.h"

#define NEVER LANE_OPEN

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

struct thread {
	uint64_t key;
	bool written; /* its track */
	struct level *levels;
	size_t count, cap;
	struct lanes lanes; /* of each the end of its last slice is not written yet */
};

/* ---- Tracks -------------------------------------------------------------------------------- */

uint64_t pftracks_id(const struct pftracks *p, enum pf_track_kind kind, uint64_t key, uint64_t lane)
{
	uint64_t h = p->salt ^ key;

	h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
	h ^= (lane << 3 | (uint64_t)kind) * 0xd6e8feb86659fd93u;
	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 32) * 0x94d049bb133111ebu;
	return (h ^ h >> 30) | 1;
}

static int write_process(struct pftracks *p, uint32_t pid)
{
	struct proc *proc = ids_get(&p->procs, pid);
	struct pf_track track = {.uuid = pftracks_id(p, TRACK_PROCESS, pid, 0), .pid = pid};

	if (!proc)
		return -ENOMEM;
	if (proc->written)
		return 0;
	proc->written = true;
	track.name = proc->name;
	track.cmdline = proc->cmdline;
	return pftrace_track(p->trace, &track);
}

static int write_thread(struct pftracks *p, struct thread *t)
{
	uint32_t pid = (uint32_t)(t->key >> 32), tid = (uint32_t)t->key;
	const struct text *name = ids_find(&p->names, t->key);
	const struct pf_track track = {
		.uuid = pftracks_id(p, TRACK_THREAD, t->key, 0),
		.parent = pftracks_id(p, TRACK_PROCESS, pid, 0),
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
static int write_lane(struct pftracks *p, const struct thread *t, size_t lane)
{
	char name[64];
	const struct pf_track track = {
		.uuid = pftracks_id(p, TRACK_LANE, t->key, lane),
		.parent = t->key ? pftracks_id(p, TRACK_THREAD, t->key, 0) : 0,
		.name = name,
	};

	snprintf(name, sizeof(name), t->key ? "ranges %zu" : "losses %zu", lane + 1);
	return pftrace_track(p->trace, &track);
}

/* ---- Events -------------------------------------------------------------------------------- */

static int write_end(struct pftracks *p, uint64_t track, uint64_t end_ns)
{
	const struct pf_event ev = {.type = PF_END, .track = track, .mono_ns = end_ns - p->offset};

	return pftrace_event(p->trace, &ev);
}

/* At most PF_NOTES_MAX: one for each key but count and pid. */
static void annotate(const struct span *sp, const char *category, struct pf_event *ev)
{
	const char *domain = sink_span_domain(sp);

	if (sp->status != SPAN_COMPLETE)
		pf_add_text(ev, PF_STATUS, span_status_name(sp->status));
	if (domain)
		pf_add_text(ev, PF_DOMAIN, domain);
	if (!domain && (sp->category || category))
		pf_add_uint(ev, PF_CATEGORY, sp->category);
	if (category)
		pf_add_text(ev, PF_CATEGORY_NAME, category);
	if (sp->payload.len) {
		pf_add_note(ev, PF_PAYLOAD_TYPE, PF_INT)->i = sp->payload.type;
		pf_add_uint(ev, PF_PAYLOAD, payload_value(&sp->payload));
	}
	if (sp->has_ret)
		pf_add_note(ev, PF_RET, PF_INT)->i = sp->ret;
	if (sp->kind == SPAN_START_END) {
		pf_add_uint(ev, PF_START_TID, sp->start_tid);
		pf_add_uint(ev, PF_END_TID, sp->end_tid);
	}
	if (sp->unreadable)
		pf_add_note(ev, PF_UNREADABLE, PF_BOOL)->b = true;
	if (sp->cut)
		pf_add_note(ev, PF_CUT, PF_BOOL)->b = true;
}

static int write_begin(struct pftracks *p, const struct span *sp, const char *category,
		       enum pf_type type, uint64_t track)
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
	annotate(sp, category, &ev);
	return pftrace_event(p->trace, &ev);
}

/* ---- Lanes --------------------------------------------------------------------------------- */

static int write_lane_end(struct pftracks *p, const struct thread *t, size_t lane)
{
	uint64_t end_ns = lanes_end(&t->lanes, lane);

	if (end_ns == NEVER)
		return 0;
	return write_end(p, pftracks_id(p, TRACK_LANE, t->key, lane), end_ns);
}

/* The first lane that is free from start on. */
static int take_lane(struct pftracks *p, struct thread *t, uint64_t start_ns, uint64_t end_ns,
		     size_t *lane)
{
	size_t i = *lane = lanes_find(&t->lanes, start_ns);
	int err = i == t->lanes.n ? write_lane(p, t, i) : write_lane_end(p, t, i);

	return err ? err : lanes_take(&t->lanes, i, end_ns);
}

static int put_on_lane(struct pftracks *p, struct thread *t, const struct span *sp,
		       const char *category)
{
	size_t i;
	int err = take_lane(p, t, sp->start_ns, sp->has_end ? sp->end_ns : NEVER, &i);

	if (err)
		return err;
	return write_begin(p, sp, category, PF_BEGIN, pftracks_id(p, TRACK_LANE, t->key, i));
}

/* ---- The track of a thread ----------------------------------------------------------------- */

static int pop_level(struct pftracks *p, struct thread *t)
{
	uint64_t end_ns = t->levels[--t->count].end_ns;

	if (end_ns == NEVER)
		return 0;
	return write_end(p, pftracks_id(p, TRACK_THREAD, t->key, 0), end_ns);
}

/* What ended before sp began, or with its begin but does not enclose it. */
static int pop_ended(struct pftracks *p, struct thread *t, const struct span *sp)
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
	if (grow_table(t->levels, t->count, t->cap, 8))
		return -ENOMEM;
	t->levels[t->count++] = (struct level){sp->id, sp->has_end ? sp->end_ns : NEVER};
	return 0;
}

static int put_on_thread(struct pftracks *p, struct thread *t, const struct span *sp,
			 const char *category)
{
	bool is_range = sp->kind == SPAN_PUSH_POP || sp->kind == SPAN_START_END;
	uint64_t track = pftracks_id(p, TRACK_THREAD, t->key, 0);
	uint64_t end_ns = sp->has_end ? sp->end_ns : NEVER;
	int err = pop_ended(p, t, sp);

	if (err)
		return err;
	if (!is_range || (!sp->has_end && sp->status != SPAN_OPEN))
		return write_begin(p, sp, category, PF_INSTANT, track);
	/* Only after losses: it ends later than what should enclose it. */
	if (t->count && t->levels[t->count - 1].end_ns < end_ns)
		return put_on_lane(p, t, sp, category);
	err = push_level(t, sp);
	return err ? err : write_begin(p, sp, category, PF_BEGIN, track);
}

int pftracks_span(struct pftracks *p, const struct span *sp, const char *category)
{
	struct thread *t = ids_get(&p->threads, IDS_KEY(sp->pid, sp->start_tid));
	int err;

	if (!t)
		return -ENOMEM;
	err = write_thread(p, t);
	if (err)
		return err;
	if (sp->kind == SPAN_START_END && (sp->has_end || sp->status == SPAN_OPEN))
		return put_on_lane(p, t, sp, category);
	return put_on_thread(p, t, sp, category);
}

int pftracks_loss(struct pftracks *p, struct pf_event *ev, uint64_t from_ns, uint64_t to_ns)
{
	struct thread *losses = ids_get(&p->threads, 0);
	size_t i;
	int err;

	if (!losses)
		return -ENOMEM;
	err = take_lane(p, losses, from_ns, to_ns, &i);
	if (err)
		return err;
	ev->mono_ns = from_ns - p->offset;
	ev->track = pftracks_id(p, TRACK_LANE, 0, i);
	return pftrace_event(p->trace, ev);
}

/* ---- What is known beside the spans -------------------------------------------------------- */

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

int pftracks_process(struct pftracks *t, const struct process *proc)
{
	struct proc *p = ids_get(&t->procs, proc->pid);
	char name[SINK_PROCESS_NAME_MAX];
	int err;

	if (!p)
		return -ENOMEM;
	sink_process_name(proc, name);
	err = replace_text(&p->name, name);
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

int pftracks_thread(struct pftracks *p, const struct label *l)
{
	return keep_label(&p->names, l);
}

/* ---- Begin and end ------------------------------------------------------------------------- */

void pftracks_init(struct pftracks *p)
{
	*p = (struct pftracks){
		.procs = IDS_OF(struct proc),
		.threads = IDS_OF(struct thread),
		.names = IDS_OF(struct text),
	};
}

static int close_thread(struct pftracks *p, struct thread *t)
{
	int err = 0;

	while (t->count && !err)
		err = pop_level(p, t);
	for (size_t i = 0; i < t->lanes.n && !err; i++)
		err = write_lane_end(p, t, i);
	return err;
}

int pftracks_close(struct pftracks *p)
{
	int err = 0;

	for (size_t i = 0; i < p->threads.count && !err; i++)
		err = close_thread(p, ids_at(&p->threads, i));
	return err;
}

void pftracks_free(struct pftracks *p)
{
	for (size_t i = 0; i < p->procs.count; i++) {
		struct proc *proc = ids_at(&p->procs, i);

		free(proc->name);
		free(proc->cmdline);
	}
	for (size_t i = 0; i < p->threads.count; i++) {
		struct thread *t = ids_at(&p->threads, i);

		free(t->levels);
		lanes_free(&t->lanes);
	}
	for (size_t i = 0; i < p->names.count; i++)
		free(((struct text *)ids_at(&p->names, i))->s);
	ids_free(&p->procs);
	ids_free(&p->threads);
	ids_free(&p->names);
	repair_free(&p->repair);
}
