/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where spans go in a Perfetto trace: processes, threads and their lanes, and what is open on each.
 * Spans must come as they happened. Memory is kept for each process, thread, lane and open level.
 * Functions return 0, -ENOMEM or the error of the output. Zeroed at start but for what is said.
 */
#ifndef ACLTAP_SINK_PFTRACKS_H
#define ACLTAP_SINK_PFTRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model.h"
#include "sink/ids.h"
#include "sink/pftrace.h"
#include "sink/repair.h"

struct pftracks {
	struct pftrace *trace; /* set by the owner, who frees it */
	struct repair repair;
	struct ids procs, threads, names; /* names: of threads */
	uint64_t offset;		  /* epoch - monotonic; set by the owner */
	uint64_t salt; /* of track ids; set by the owner: differs between captures */
};

enum pf_track_kind { TRACK_PROCESS, TRACK_THREAD, TRACK_LANE, TRACK_COUNTER, TRACK_COUNTS };

void pftracks_init(struct pftracks *p);
void pftracks_free(struct pftracks *p);

/* The id of a track. Never 0. */
uint64_t pftracks_id(const struct pftracks *p, enum pf_track_kind kind, uint64_t key,
		     uint64_t lane);

/* What is known before the first span. */
int pftracks_process(struct pftracks *p, const struct process *proc);
int pftracks_thread(struct pftracks *p, const struct label *l);

/* category: its name, NULL = none. */
int pftracks_span(struct pftracks *p, const struct span *sp, const char *category);
/* A slice on a lane of the losses: ev without its track. */
int pftracks_loss(struct pftracks *p, struct pf_event *ev, uint64_t from_ns, uint64_t to_ns);
/* All ends that were not written yet. */
int pftracks_close(struct pftracks *p);

#endif
