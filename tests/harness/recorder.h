/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A consumer that writes down what a pipeline tells it, a line each:
 *
 *   push/pop "name" 100..200 7/8 complete           no 200 when there is no end
 *   marker "name" 100 7/8 complete
 *       then, where they say something: ->TID of the end, depth=, parent=#ID, category=,
 *       payload=TYPE:HEX, ret=, domain=, unreadable, cut
 *   orphan aclprofPop 1
 *   loss aclprofPop 2 100..200
 *   failed aclprofPush ret=-1 3
 *   null_stamp pid=7 1
 *   process 7 nspid= ppid= rank= "name" cmdline= exe=
 *   thread 7/8 "name"            category 7/3 "name"
 *   begin / end with what is known
 */
#ifndef ACLTAP_RECORDER_H
#define ACLTAP_RECORDER_H

#include "core/pipeline.h"

enum recorder_what {
	REC_SPANS = 1 << 0,
	REC_TALLIES = 1 << 1, /* but calls */
	REC_CALLS = 1 << 2,
	REC_TRACKS = 1 << 3, /* processes, threads, categories */
	REC_META = 1 << 4,   /* begin and end */
	REC_IDS = 1 << 5,    /* spans begin with #ID */
};

struct recorder {
	unsigned int what;
	char *text; /* NUL-terminated, never NULL after recorder_init */
	size_t len, room;
	unsigned int begins, ends; /* calls of begin and end */
	unsigned int before_begin; /* calls of others before begin or after end: must stay 0 */
};

/* Returns 0 or -ENOMEM. */
int recorder_init(struct recorder *r, unsigned int what);
struct consumer recorder_consumer(struct recorder *r);
void recorder_free(struct recorder *r);

/*
 * Runs an event script through a pipeline into r. Returns 0 or -errno, a syntax error in err.
 */
int recorder_run(struct recorder *r, const struct pipeline_config *cfg, const char *script,
		 char *err, size_t errsz);

#endif
