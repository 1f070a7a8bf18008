/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is kept for each source of a trace. A plain capture is one source; a merged one has several
 * (wire.h, WIRE_PID_BITS), which share nothing: each is reconstructed as it would be alone, and
 * only what it tells the consumer is put on common ground: times since the epoch, PIDs and ids of
 * spans that are unique in the whole trace. Internal to the pipeline. Pure.
 */
#ifndef ACLTAP_CORE_LANE_H
#define ACLTAP_CORE_LANE_H

#include "core/counts.h"
#include "core/decode.h"
#include "core/pids.h"
#include "core/pipeline.h"
#include "core/range.h"
#include "core/tracks.h"

struct trace;

struct lane {
	struct trace *trace;
	uint32_t source; /* 0: a plain capture, or what is about the whole of a merged one */
	uint32_t space;	 /* of its PIDs: that of the first lane that shares them; 0 = not known */
	uint32_t recent_pid, recent_number;
	struct range_config cfg;
	struct range *range;
	struct tracks tracks;
	struct counts counts;
};

/* What all of them share. */
struct trace {
	struct consumer next;
	struct range_config cfg; /* of new lanes */
	bool merged, begun;
	uint64_t epoch;	  /* added to monotonic times, modulo 2^64 */
	uint64_t last_id; /* of a span */
	const char *cut;  /* for trace_meta */
	struct pids pids;
	struct lane
		*lanes[WIRE_SOURCES_MAX + 1]; /* [0] is always there; NULL: nothing seen of it */
};

/* The lane of a record, made at its first; NULL: no memory. */
struct lane *lane_of(struct trace *t, uint32_t tgid);
/* An event in order of time, its PID without the source. Returns 0 or an error, which sticks. */
int lane_event(struct lane *l, const struct event *ev);
/* A WIRE_LOSS, at once. */
int lane_loss(struct lane *l, const struct event *ev);
/* A fact about the capture, at once. */
int lane_fact(struct lane *l, const struct event *ev);
/* The trace ends. */
int trace_finish(struct trace *t, bool complete);
void trace_free(struct trace *t);

#endif
