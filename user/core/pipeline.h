/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way of an event: decode -> order -> range -> clock -> consumer. In: wire records in order of
 * arrival, live or from a capture. Out: spans in order of their end, and what is known beside them.
 * Pure: memory is its only resource; its only state is the open part of the trace.
 */
#ifndef ACLTAP_CORE_PIPELINE_H
#define ACLTAP_CORE_PIPELINE_H

#include <stddef.h>

#include "core/model.h"

/*
 * Where the results go. Each returns 0 or -errno; the first error stops the pipeline and is what
 * pipeline_push() returns from then on. A slot may be NULL.
 */
struct consumer {
	void *ctx;
	int (*begin)(void *ctx, const struct trace_meta *meta); /* once, before all others */
	int (*process)(void *ctx, const struct process *p);	/* first sight, and each change */
	int (*thread)(void *ctx, const struct label *l);	/* name of a thread */
	int (*category)(void *ctx, const struct label *l);	/* name of a category */
	int (*span)(void *ctx, const struct span *sp);
	/* One that a filter before keeps back: not to be shown, but it has a parent. */
	int (*hidden)(void *ctx, const struct span *sp);
	int (*tally)(void *ctx,
		     const struct tally *t); /* losses as they appear, the rest at the end */
	int (*source)(void *ctx, const struct trace_source *s); /* of merged traces, near the end */
	int (*end)(void *ctx, const struct trace_meta *meta);	/* once, after all others */
};

struct pipeline;

struct pipeline_config {
	bool lifecycle; /* create_stamp resets the stamp it returns */
	bool returns;	/* failed calls with a non-NULL stamp are dropped */
	bool merged;	/* records of several sources (wire.h, WIRE_PID_BITS) */
};

/* Returns 0 and *out, or -ENOMEM. The consumer is copied. */
int pipeline_new(const struct pipeline_config *cfg, const struct consumer *next,
		 struct pipeline **out);

/*
 * One wire record of sz bytes (which need not be aligned). A record that cannot be decoded is
 * counted (TALLY_BAD), not an error. Returns 0 or the consumer's error or -ENOMEM.
 */
int pipeline_push(struct pipeline *p, const void *rec, size_t sz);

/* Before pipeline_finish(): trace_meta's word for how the trace ends, which must stay valid. */
void pipeline_cut(struct pipeline *p, const char *how);

/* The trace ends: everything held back is emitted, open spans last. complete as in trace_meta. */
int pipeline_finish(struct pipeline *p, bool complete);

void pipeline_free(struct pipeline *p); /* NULL is fine */

#endif
