/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random programs: processes and threads that call the traced functions, what the probes record
 * of it, and the truth about their marks and ranges, kept by the plainest means. Independent of
 * user/core but for the table of functions.
 */
#ifndef ACLTAP_WORLD_H
#define ACLTAP_WORLD_H

#include "core/model.h"
#include "harness/kernelsim.h"
#include "probe_config.h"

struct world_opts {
	unsigned int steps;
	unsigned int drop; /* of 1000 records, on average; they come in bursts */
	bool returns, lifecycle, categories;
	bool copies;	     /* of the library: two */
	bool safe_processes; /* fork, exec and exit records are never dropped */
};

/* A mark or range as it really was. */
struct truth {
	enum span_kind kind;
	enum span_status status; /* with nothing lost; a mark is complete */
	uint64_t start_ns, end_ns;
	uint32_t pid, tid, end_tid, seq, depth;
	int parent; /* index of a push/pop, -1 = none */
	int32_t ret;
	char name[8];
	uint32_t category;
	bool exists;		 /* not dropped for having failed */
	int open_rec, close_rec; /* records, -1 = none */
	int ret_rec;
	int text_rec; /* that set its name; -1 = none, or not in this process */
	int category_rec;
};

struct world_rec {
	struct wire w;
	char text[8];
	bool lost;
};

struct world {
	struct truth *truths;
	struct world_rec *recs;
	int n_truths, n_recs, room_truths, room_recs;
	uint64_t orphans[PROBE_FUNCS];
	uint64_t failed, null_stamps;
	uint64_t processes_lost; /* fork, exec and exit records dropped */
	struct kernelsim kernel;
	uint64_t now;
};

/* Returns 0 or -ENOMEM. The same seed and options give the same world. */
int world_make(uint64_t seed, const struct world_opts *opts, struct world *out);
void world_free(struct world *w);

/* The generator, for those who shuffle what it made. */
uint64_t world_random(uint64_t *state);

#endif
