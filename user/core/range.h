/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events in order of time -> spans, by the rules of the contract: push/pop on a stack per thread,
 * start/end by id per process, marks; with a proof for whatever is called complete. Its state is
 * the open part of the trace: threads and processes that ended are forgotten. Pure.
 *
 * Where to look: range.c processes and threads, calls.c what each call does, spans.c how an open
 * span ends, state.c lookup and memory, stack.c push levels, names.c names of categories.
 */
#ifndef ACLTAP_CORE_RANGE_H
#define ACLTAP_CORE_RANGE_H

#include "core/counts.h"
#include "core/decode.h"
#include "core/model.h"

struct range_config {
	bool lifecycle; /* create_stamp resets the stamp it returns */
	bool returns;	/* failed calls with a non-NULL stamp are dropped; ret is known */
};

/* Times are monotonic. Each returns 0 or -errno, which sticks. */
struct range_next {
	void *ctx;
	int (*span)(void *ctx, const struct span *sp);
	int (*category)(void *ctx, const struct label *l);
	int (*tally)(void *ctx, const struct tally *t); /* TALLY_NULL_STAMP */
};

struct range;

/* Returns 0 and *out, or -ENOMEM. counts and last_id, the last id given, stay the caller's. */
int range_new(const struct range_config *cfg, const struct range_next *next, struct counts *counts,
	      uint64_t *last_id, struct range **out);
/* Options that a capture brings along are known only once it is read. */
void range_configure(struct range *r, const struct range_config *cfg);
/* Records of the kernel side, and WIRE_DROPPED; others are ignored. 0, -ENOMEM, or next's error. */
int range_push(struct range *r, const struct event *ev);
/* A new process has this id: the end of the one before, if there is any, was lost. */
int range_replaced(struct range *r, uint32_t tgid);
/* A WIRE_LOSS of func: it may have set what no delivered record ever set. */
void range_lost(struct range *r, uint8_t func);
/* The trace ends: what is open is emitted as such. */
int range_finish(struct range *r);
void range_free(struct range *r); /* NULL is fine */

#endif
