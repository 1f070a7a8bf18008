// SPDX-License-Identifier: GPL-2.0-only
#include "core/tracks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

/* Processes with facts at the same time; garbage only, the kernel side holds fewer. */
#define TRACKS_MAX 262144

struct track {
	struct track *prev, *next; /* in order of appearance */
	uint32_t pid, nspid, ppid;
	uint32_t image; /* 0 = it did nothing yet */
	int32_t rank, local_rank;
	struct text *name, *cmdline, *exe; /* NULL = unknown; children share them */
	bool dirty;			   /* new, or changed since it was announced */
};

void tracks_init(struct tracks *t, const struct tracks_next *next)
{
	*t = (struct tracks){.next = *next};
}

/* NULL: no memory, or (with *err 0) too many. */
static struct track *track_get(struct tracks *t, uint32_t pid, int *err)
{
	struct track *p = map_get_ptr(&t->procs, pid);

	*err = 0;
	if (p || t->procs.n >= TRACKS_MAX)
		return p;
	p = calloc(1, sizeof(*p));
	*err = p ? map_set_ptr(&t->procs, pid, p) : -ENOMEM;
	if (*err) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->rank = p->local_rank = -1;
	p->dirty = true;
	p->prev = t->last;
	*(t->last ? &t->last->next : &t->first) = p;
	t->last = p;
	return p;
}

static void track_drop(struct tracks *t, struct track *p)
{
	if (t->recent == p)
		t->recent = NULL;
	*(p->prev ? &p->prev->next : &t->first) = p->next;
	*(p->next ? &p->next->prev : &t->last) = p->prev;
	map_del(&t->procs, p->pid);
	text_put(p->name);
	text_put(p->cmdline);
	text_put(p->exe);
	free(p);
}

void tracks_free(struct tracks *t)
{
	while (t->first)
		track_drop(t, t->first);
	map_free(&t->procs);
	text_put(t->host);
	text_put(t->version);
	text_put(t->kernel);
	text_put(t->boot_id);
	text_put(t->pid_space);
	text_put(t->source);
	text_put(t->ended);
	text_put(t->aligned);
	*t = (struct tracks){0};
}

/* ---- Texts -------------------------------------------------------------------------------- */

/* Replaces *at by n bytes up to the first NUL. *changed is set when it was another text. */
static int set_text(struct text **at, const char *s, size_t n, bool *changed)
{
	struct text *text;

	n = strnlen(s, n);
	if (*at ? text_same(*at, s, n, false, false) : !n)
		return 0;
	text = text_new(s, n, false, false);
	if (!text)
		return -ENOMEM;
	text_put(*at);
	*at = text;
	*changed = true;
	return 0;
}

static const char *text_or_empty(const struct text *t)
{
	return t ? t->bytes : "";
}

/* Arguments end with NUL each; shown with blanks between them. */
static int set_cmdline(struct text **at, const char *s, size_t n, bool *changed)
{
	char *copy;
	int err;

	while (n && !s[n - 1])
		n--;
	copy = malloc(n + 1);
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		copy[i] = s[i] ? s[i] : ' ';
	err = set_text(at, copy, n, changed);
	free(copy);
	return err;
}

/* A decimal number of at most max; -1 when it is none. */
static int64_t number_of(const char *s, size_t n, int64_t max)
{
	int64_t v = 0;

	if (!n)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		if (v > (max - (s[i] - '0')) / 10)
			return -1;
		v = v * 10 + (s[i] - '0');
	}
	return v;
}

/* ---- The capture -------------------------------------------------------------------------- */

/* Where a fact that is a text is kept; NULL when it is not. */
static struct text **fact_text(struct tracks *t, uint32_t fact)
{
	switch (fact) {
	case FACT_HOST:
		return &t->host;
	case FACT_VERSION:
		return &t->version;
	case FACT_KERNEL:
		return &t->kernel;
	case FACT_BOOT_ID:
		return &t->boot_id;
	case FACT_PID_SPACE:
		return &t->pid_space;
	case FACT_SOURCE:
		return &t->source;
	case FACT_ENDED:
		return &t->ended;
	case FACT_ALIGNED:
		return &t->aligned;
	default:
		return NULL;
	}
}

static int64_t shift_of(const char *s, size_t n)
{
	bool minus = n && *s == '-';
	int64_t v = number_of(s + minus, n - minus, INT64_MAX);

	return v < 0 ? 0 : minus ? -v : v;
}

int tracks_fact(struct tracks *t, const struct event *ev)
{
	struct text **at = fact_text(t, ev->w->arg1);
	bool changed;

	if (ev->w->arg1 == FACT_SHIFT)
		t->shift_ns = shift_of(ev->msg, ev->w->msg_len);
	return at ? set_text(at, ev->msg, ev->w->msg_len, &changed) : 0;
}

void tracks_clock(struct tracks *t, const struct event *ev)
{
	struct clock_triple c = {.mono_ns = ev->w->time_ns, .real_ns = ev->w->arg0};

	memcpy(&c.boot_ns, ev->msg, sizeof(c.boot_ns));
	if (!t->has_clock)
		t->first_clock = c;
	t->has_clock = true;
	t->last_clock = c;
}

struct trace_meta tracks_meta(const struct tracks *t)
{
	return (struct trace_meta){
		.host = text_or_empty(t->host),
		.version = text_or_empty(t->version),
		.kernel = text_or_empty(t->kernel),
		.first = t->first_clock,
		.last = t->last_clock,
		.aligned = text_or_empty(t->aligned),
	};
}

struct trace_source tracks_source(const struct tracks *t)
{
	struct trace_source s = {
		.name = text_or_empty(t->source),
		.host = text_or_empty(t->host),
		.boot_id = text_or_empty(t->boot_id),
		.version = text_or_empty(t->version),
		.kernel = text_or_empty(t->kernel),
		.ended = text_or_empty(t->ended),
		.first = t->first_clock,
		.last = t->last_clock,
		.shift_ns = t->shift_ns,
	};

	s.first.mono_ns -= (uint64_t)t->shift_ns;
	s.last.mono_ns -= (uint64_t)t->shift_ns;
	return s;
}

/* ---- Processes ---------------------------------------------------------------------------- */

static int announce(struct tracks *t, struct track *p)
{
	const struct process out = {
		.pid = p->pid,
		.nspid = p->nspid,
		.ppid = p->ppid,
		.rank = p->rank,
		.local_rank = p->local_rank,
		.host_pid = p->pid,
		.image = p->image,
		.host = text_or_empty(t->host),
		.name = text_or_empty(p->name),
		.cmdline = text_or_empty(p->cmdline),
		.exe = text_or_empty(p->exe),
	};

	p->dirty = false;
	return t->next.process(t->next.ctx, &out);
}

/* Something that it did is told: it is no more what the facts may be that come behind an exit. */
static void lives(struct tracks *t, struct track *p)
{
	p->dirty |= !p->image;
	p->image = p->image ?: ++t->images;
}

int tracks_announce(struct tracks *t, uint32_t pid, bool did)
{
	struct track *p = t->recent;
	int err;

	if (p && p->pid == pid && !p->dirty)
		return 0;
	p = track_get(t, pid, &err);
	if (!p)
		return err;
	t->recent = p;
	if (did)
		lives(t, p);
	return p->dirty ? announce(t, p) : 0;
}

int tracks_finish(struct tracks *t)
{
	for (struct track *p = t->first; p; p = p->next) {
		int err = p->dirty ? announce(t, p) : 0;

		if (err)
			return err;
	}
	return 0;
}

static int thread_name(struct tracks *t, const struct event *ev)
{
	const struct label l = {
		.pid = ev->w->tgid,
		.id = ev->w->tid,
		.text = ev->msg,
		.len = (uint16_t)strnlen(ev->msg, ev->w->msg_len),
	};
	int err = tracks_announce(t, ev->w->tgid, true);

	return err ? err : t->next.thread(t->next.ctx, &l);
}

static int process_fact(struct tracks *t, const struct event *ev)
{
	const char *s = ev->msg;
	size_t n = ev->w->msg_len;
	struct track *p;
	int64_t v;
	int err;

	if (ev->w->arg1 == FACT_THREAD_NAME)
		return thread_name(t, ev);
	p = track_get(t, ev->w->tgid, &err);
	if (!p)
		return err;
	switch (ev->w->arg1) {
	case FACT_NAME:
		return set_text(&p->name, s, n, &p->dirty);
	case FACT_CMDLINE:
		return set_cmdline(&p->cmdline, s, n, &p->dirty);
	case FACT_EXE:
		return set_text(&p->exe, s, n, &p->dirty);
	case FACT_NSPID:
		v = number_of(s, n, UINT32_MAX);
		p->dirty |= v >= 0 && p->nspid != (uint32_t)v;
		p->nspid = v >= 0 ? (uint32_t)v : p->nspid;
		return 0;
	case FACT_RANK:
		v = number_of(s, n, INT32_MAX);
		p->dirty |= p->rank != (int32_t)v;
		p->rank = (int32_t)v;
		return 0;
	case FACT_LOCAL_RANK:
		v = number_of(s, n, INT32_MAX);
		p->dirty |= p->local_rank != (int32_t)v;
		p->local_rank = (int32_t)v;
		return 0;
	default:
		return 0;
	}
}

/* A forked child runs the parent's program until it executes another. */
static int forked(struct tracks *t, const struct event *ev)
{
	const struct track *parent = map_get_ptr(&t->procs, ev->w->tgid);
	struct track *p = map_get_ptr(&t->procs, (uint32_t)ev->w->arg0);
	int err;

	if (p)
		track_drop(t, p); /* an earlier process of that id */
	p = track_get(t, (uint32_t)ev->w->arg0, &err);
	if (!p)
		return err;
	p->ppid = ev->w->tgid;
	lives(t, p);
	err = set_text(&p->name, ev->msg, ev->w->msg_len, &p->dirty);
	if (err || !parent)
		return err;
	p->rank = parent->rank;
	p->local_rank = parent->local_rank;
	p->cmdline = text_get(parent->cmdline);
	p->exe = text_get(parent->exe);
	if (!p->name)
		p->name = text_get(parent->name);
	return 0;
}

static int executed(struct tracks *t, const struct event *ev)
{
	struct track *p;
	int err;

	p = track_get(t, ev->w->tgid, &err);
	if (!p)
		return err;
	p->dirty = true;
	p->image = ++t->images;
	text_put(p->cmdline);
	p->cmdline = NULL;
	text_put(p->exe);
	p->exe = NULL;
	return set_text(&p->name, ev->msg, ev->w->msg_len, &p->dirty);
}

static int exited(struct tracks *t, const struct event *ev)
{
	struct track *p = map_get_ptr(&t->procs, ev->w->tgid);
	int err;

	if (!p || !(ev->w->flags & WIRE_F_LAST))
		return 0;
	lives(t, p);
	err = p->dirty ? announce(t, p) : 0;
	track_drop(t, p);
	return err;
}

int tracks_push(struct tracks *t, const struct event *ev)
{
	switch (ev->w->kind) {
	case WIRE_FACT:
		return process_fact(t, ev);
	case WIRE_FORK:
		return forked(t, ev);
	case WIRE_EXEC:
		return executed(t, ev);
	case WIRE_EXIT:
		return exited(t, ev);
	default:
		return 0;
	}
}
