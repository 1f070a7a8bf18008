/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What must survive when the oldest part of a capture is dropped, or later records would be read
 * wrong: facts about the capture and the processes and threads that still live, the first clock
 * reading, the last setting of each stamp, the ranges that are begun, and how much was dropped.
 * Pure.
 *
 * Settings and begun ranges are bounded by room; a process of which something did not fit, or that
 * inherited what is not kept, is repeated as one whose past is unknown (WIRE_DROPPED).
 */
#ifndef ACLTAP_STORE_KEEP_H
#define ACLTAP_STORE_KEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/decode.h"
#include "probe_config.h"
#include "util/map.h"
#include "wire.h"

struct keep_sum {
	uint64_t calls[PROBE_FUNCS];   /* call records */
	uint64_t lost[PROBE_FUNCS];    /* calls that were lost, as records of loss said */
	uint64_t returns[PROBE_FUNCS]; /* return records that were lost, the same */
	uint64_t again[PROBE_FUNCS];   /* of those calls, the ones repeated after them */
};

/* All zero is empty. */
struct keep {
	struct keep_proc *first, *last, *recent; /* in order of appearance; tgid 0: the capture */
	struct map procs;			 /* tgid -> struct keep_proc */
	size_t room, used; /* bytes that settings and begun ranges may take, and do */
	char clock[sizeof(struct wire) + 8]; /* len 0 = none yet */
	uint64_t first_ns, last_ns;	     /* of all records so far */
	bool lifecycle, returns;	     /* options of the recording */
	struct keep_sum part;		     /* of the part being written */
	struct keep_sum before;		     /* of all before it */
	struct keep_sum older;		     /* of all before the part before it */
};

/* A record that is being written. 0 or -ENOMEM. */
int keep_note(struct keep *k, const void *rec);
/* A new part begins; the one before the last is dropped. */
void keep_next_part(struct keep *k);
/* Hands out the records that a part begins with; put returns 0 or -errno, which is returned. */
int keep_begin(struct keep *k, int (*put)(void *ctx, const void *rec, size_t sz), void *ctx);
/* Calls of func that were written and dropped since. */
uint64_t keep_dropped(const struct keep *k, unsigned int func);
void keep_free(struct keep *k);

#endif
