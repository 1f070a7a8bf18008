/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events in order of arrival -> events in order of time. Holds copies of the records until a
 * watermark says that nothing older can come. Equal times: by sequence number within a thread,
 * else as they arrived. Arrival is nearly sorted; that case costs a copy and a comparison.
 */
#ifndef ACLTAP_CORE_ORDER_H
#define ACLTAP_CORE_ORDER_H

#include <stdint.h>

#include "core/decode.h"

/* Without a watermark for so many bytes the older half is taken as final. */
#define ORDER_MAX_BYTES (64u << 20)

struct order_next {
	void *ctx;
	int (*event)(void *ctx, const struct event *ev); /* 0 or -errno, which stops the stage */
};

struct order_key {
	uint64_t time_ns;
	uint64_t at; /* offset of the record in bytes[] */
};

struct order {
	struct order_next next;
	struct order_key *keys; /* [head, n) waiting, of them [head, sorted) in order */
	size_t head, sorted, n, cap;
	struct order_key *scratch; /* room of the merge sort, cap of them */
	size_t scratch_cap;
	char *bytes; /* the records, each at a multiple of 8 */
	size_t used, room;
	size_t dead;	    /* bytes of records already handed on */
	uint64_t watermark; /* everything older has been handed on */
	uint64_t late;	    /* kernel records that were older than it */
};

void order_init(struct order *o, const struct order_next *next);
/* Takes a copy. A late event is handed on at once, flagged. Returns 0, -ENOMEM, next's error. */
int order_push(struct order *o, const struct event *ev);
/*
 * Hands on everything older than ns. One that goes back is ignored, and so is one that comes with
 * too few new records for what it costs to sort them in: the next will do.
 */
int order_watermark(struct order *o, uint64_t ns);
/* Hands on everything. */
int order_flush(struct order *o);
void order_free(struct order *o);

#endif
