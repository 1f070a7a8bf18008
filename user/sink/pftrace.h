/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets of a Perfetto trace (perfetto.proto), one at a time through a buffer that is used again.
 * Events are in one packet sequence, losses in a second: previous_packet_dropped makes a reader
 * forget all interned data of its sequence, and nothing of ours is in doubt but what was lost.
 * Errors stick in the out; texts are any bytes and need not be terminated.
 */
#ifndef ACLTAP_SINK_PFTRACE_H
#define ACLTAP_SINK_PFTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model.h"
#include "sink/out.h"

/* Names of annotations; the texts are in pftrace.c. */
enum pf_key {
	PF_STATUS,
	PF_CATEGORY,
	PF_CATEGORY_NAME,
	PF_PAYLOAD_TYPE,
	PF_PAYLOAD,
	PF_RET,
	PF_START_TID,
	PF_END_TID,
	PF_DOMAIN,
	PF_UNREADABLE,
	PF_CUT,
	PF_COUNT,
	PF_PID,
	PF_KEYS,
};

enum pf_value { PF_UINT, PF_INT, PF_BOOL, PF_TEXT };

struct pf_note {
	enum pf_key key;
	enum pf_value type;
	union {
		uint64_t u;
		int64_t i;
		bool b;
		const char *text; /* terminated */
	};
};

#define PF_NOTES_MAX 12

enum pf_type { PF_BEGIN = 1, PF_END = 2, PF_INSTANT = 3 };

/* What an event is besides its place in time. */
struct pf_event {
	enum pf_type type;
	uint64_t track;
	uint64_t mono_ns;
	int kind;	  /* enum span_kind, -1 = none */
	const char *name; /* not for PF_END */
	size_t name_len;
	struct pf_note notes[PF_NOTES_MAX];
	size_t note_count;
};

struct pf_track {
	uint64_t uuid, parent; /* 0 = none */
	const char *name;      /* terminated; NULL = none */
	uint32_t pid, tid;     /* tid 0 = a process; both 0 = neither process nor thread */
	const char *cmdline;   /* of a process; NULL or "" = unknown */
	bool counter;
};

struct pftrace;

/* Writes to o, which stays the caller's. */
int pftrace_new(struct out *o, struct pftrace **out);
void pftrace_free(struct pftrace *p); /* NULL is fine */

/* First of all. The times of events are those of the first triple's monotonic clock. */
int pftrace_begin(struct pftrace *p, const struct clock_triple *first);
int pftrace_track(struct pftrace *p, const struct pf_track *t);
int pftrace_event(struct pftrace *p, const struct pf_event *ev);
/* In the sequence of losses: the counter has a new value because packets were dropped before. */
int pftrace_lost(struct pftrace *p, uint64_t track, uint64_t mono_ns, uint64_t value);
/* A second reading of the clocks. */
int pftrace_clocks(struct pftrace *p, const struct clock_triple *t);

/* Adds an annotation; at most PF_NOTES_MAX. */
static inline struct pf_note *pf_add_note(struct pf_event *ev, enum pf_key key, enum pf_value type)
{
	struct pf_note *n = &ev->notes[ev->note_count++];

	n->key = key;
	n->type = type;
	return n;
}

static inline void pf_add_uint(struct pf_event *ev, enum pf_key key, uint64_t v)
{
	pf_add_note(ev, key, PF_UINT)->u = v;
}

static inline void pf_add_text(struct pf_event *ev, enum pf_key key, const char *text)
{
	pf_add_note(ev, key, PF_TEXT)->text = text;
}

#endif
