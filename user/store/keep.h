/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What must survive when the oldest part of a capture is dropped: facts about the capture and the
 * processes that still live, the last clock reading, and how much was dropped. Pure.
 */
#ifndef ACLTAP_STORE_KEEP_H
#define ACLTAP_STORE_KEEP_H

#include <stddef.h>

#include "probe_config.h"
#include "util/map.h"
#include "wire.h"

struct keep_sum {
	uint64_t calls[PROBE_FUNCS]; /* call records */
	uint64_t lost[PROBE_FUNCS];  /* calls that were lost, as records of loss said */
};

/* All zero is empty. */
struct keep {
	struct keep_fact *facts;
	size_t n, cap;
	struct map at; /* thread and key of a fact -> index + 1 */
	char clock[sizeof(struct wire) + 8];
	uint64_t first_ns, last_ns; /* of all records so far */
	struct keep_sum part;	    /* of the part being written */
	struct keep_sum before;	    /* of all before it */
	struct keep_sum older;	    /* of all before the part before it */
};

/* A record that is being written. 0 or -ENOMEM. */
int keep_note(struct keep *k, const void *rec);
/* A new part begins; the one before the last is dropped. */
void keep_next_part(struct keep *k);
/* Hands out the records that a part begins with; put returns 0 or -errno, which is returned. */
int keep_begin(const struct keep *k, int (*put)(void *ctx, const void *rec, size_t sz), void *ctx);
/* Calls of func that were written and dropped since. */
uint64_t keep_dropped(const struct keep *k, unsigned int func);
void keep_free(struct keep *k);

#endif
