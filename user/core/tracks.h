/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known about the capture and its processes: facts, forks, execs in; struct process,
 * labels and trace_meta out. A process is announced when something of it is about to be told and
 * it is new or has changed; it is forgotten when it ends. Pure.
 */
#ifndef ACLTAP_CORE_TRACKS_H
#define ACLTAP_CORE_TRACKS_H

#include "core/decode.h"
#include "core/model.h"
#include "util/map.h"

struct tracks_next {
	void *ctx;
	int (*process)(void *ctx, const struct process *p);
	int (*thread)(void *ctx, const struct label *l);
};

struct track;
struct text;

struct tracks {
	struct tracks_next next;
	struct map procs;     /* tgid -> struct track */
	struct track *recent; /* announced, unchanged */
	struct track *first, *last;
	struct text *host, *version, *kernel, *boot_id, *pid_space; /* NULL = unknown */
	struct text *source, *ended, *aligned;			    /* of merged captures */
	int64_t shift_ns;
	uint32_t images; /* so many were there */
	struct clock_triple first_clock, last_clock;
	bool has_clock;
};

void tracks_init(struct tracks *t, const struct tracks_next *next);
/* Facts about a process, fork, exec, exit; others are ignored. Returns 0, -ENOMEM, next's error. */
int tracks_push(struct tracks *t, const struct event *ev);
/* A fact about the capture. */
int tracks_fact(struct tracks *t, const struct event *ev);
void tracks_clock(struct tracks *t, const struct event *ev);
/* Before anything of pid is told. did: that is from when it ran, and no count of all it did. */
int tracks_announce(struct tracks *t, uint32_t pid, bool did);
/* Announces what is left. */
int tracks_finish(struct tracks *t);
/* Texts belong to t. */
struct trace_meta tracks_meta(const struct tracks *t);
/* Of a merged trace; number is left 0. Texts belong to t. */
struct trace_source tracks_source(const struct tracks *t);
void tracks_free(struct tracks *t);

#endif
