/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is not an event, as counts per function: collected while the trace goes by, told at its
 * end. Checks that calls == delivered + lost.
 */
#ifndef ACLTAP_CORE_COUNTS_H
#define ACLTAP_CORE_COUNTS_H

#include "core/model.h"
#include "util/map.h"
#include "wire.h"

#define COUNT_FUNCS 256

/* Different (function, return value) pairs; further ones are counted as return value 0. */
#define COUNT_RETS 4096

struct func_counts {
	uint64_t delivered;	 /* entry records */
	uint64_t lost, returns;	 /* sums of WIRE_LOSS */
	struct wire_count total; /* of the last WIRE_COUNT */
	bool has_total;
	uint64_t by_kind[TALLY_MISMATCH + 1];
};

struct counts {
	struct func_counts funcs[COUNT_FUNCS];
	struct map failed; /* func << 32 | ret -> calls */
	bool has_totals;
	uint64_t bad, late;
	uint64_t first_ns, last_ns; /* oldest and newest time of a record or clock; 0 = none */
};

struct counts_next {
	void *ctx;
	int (*tally)(void *ctx, const struct tally *t); /* times are monotonic */
};

/* A record of the kernel side, or a clock reading, of that time. */
void counts_time(struct counts *c, uint64_t time_ns);
void counts_add(struct counts *c, enum tally_kind kind, uint8_t func);
int counts_failed(struct counts *c, uint8_t func, int32_t ret);
/* A WIRE_COUNT; its message has been checked to be there. */
void counts_total(struct counts *c, const struct wire *w, const void *msg);
/* A WIRE_LOSS: tells it at once. */
int counts_loss(struct counts *c, const struct wire *w, const struct counts_next *next);
/* Tells everything else. */
int counts_finish(struct counts *c, const struct counts_next *next);
void counts_free(struct counts *c);

#endif
