/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the ring to the capture: copies raw records, and adds what only user space knows: clocks,
 * watermarks, losses, totals, facts about processes. Interprets nothing but the life of processes,
 * which it hands to its owner.
 */
#ifndef ACLTAP_LIVE_RECORDER_H
#define ACLTAP_LIVE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live/bpfload.h"
#include "live/ring.h"
#include "store/capture.h"
#include "wire.h"

/* Plain sums while recording, for the progress line; exact results come from the capture. */
struct recorder_stats {
	uint64_t calls; /* call records received */
	uint64_t lost;	/* calls lost, as of the last look */
	uint64_t marks;
	uint64_t ranges;      /* ends seen */
	int64_t open;	      /* begins minus ends: an estimate */
	uint64_t null_stamps; /* create_stamp calls that returned NULL */
};

struct recorder_config {
	struct bpf *bpf;
	struct ring *ring;
	struct capwrite *capture; /* NULL: none, or not yet */
	void *ctx;
	/* WIRE_FORK, _EXEC, _EXIT and _LOADED, in order of arrival. */
	void (*life)(void *ctx, const struct wire *w, const char *msg);
	void (*call)(void *ctx, const struct wire *w); /* WIRE_CALL and WIRE_RETURN */
	/*
	 * Is the record kept? NULL: every one. Of life records asked before and after life(). Of
	 * WIRE_THREAD: is the name?
	 */
	bool (*wants)(void *ctx, const struct wire *w);
	/* Gets every record that the capture would get, for live views; may be NULL. 0 or -errno.
	 */
	int (*tap)(void *ctx, const void *rec, size_t sz);
	void *tap_ctx;
};

struct recorder;

int recorder_new(const struct recorder_config *cfg, struct recorder **out);
/* What was written before (facts about targets) comes first. Returns 0 or -errno. */
int recorder_set_capture(struct recorder *r, struct capwrite *capture);
void recorder_free(struct recorder *r); /* NULL is fine */

/*
 * Takes what the ring holds, but for what is left when looking at processes takes long: then
 * recorder_is_behind(). Returns the number of records or -errno of writing.
 */
long recorder_drain(struct recorder *r);
bool recorder_is_behind(const struct recorder *r);

/* At most every second: clock triple. Ten times a second: losses, and a block to the disk. */
int recorder_tick(struct recorder *r);

int recorder_clock(struct recorder *r);
/* Holds from now on; while a record is handled (life(), wants()), since that record. */
int recorder_fact(struct recorder *r, uint32_t tgid, uint32_t tid, enum wire_fact fact,
		  const void *text, size_t len);

/*
 * After the gate was closed: waits for calls that passed it (at most 200 ms), drains, writes
 * losses, totals and the last clock. What is still missing then is stated as lost.
 */
int recorder_finish(struct recorder *r);

struct recorder_stats recorder_stats(const struct recorder *r);

#endif
