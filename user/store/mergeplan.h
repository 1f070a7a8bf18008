/* SPDX-License-Identifier: GPL-2.0-only */
/* What merge_plan() found out, for merge_write(). Internal. */
#ifndef ACLTAP_STORE_MERGEPLAN_H
#define ACLTAP_STORE_MERGEPLAN_H

#include "store/merge.h"
#include "store/mergein.h"

struct merge {
	struct merge_config cfg;
	struct mergein_head *heads; /* cfg.n */
	size_t *groups;		    /* by input: those with one number share a clock */
	size_t n_groups;
	uint64_t *last_ns;   /* by input, only with align: its newest time */
	uint64_t epoch;	     /* of the merged timeline: wall clock minus monotonic */
	uint64_t boot_delta; /* boottime minus monotonic, where it came from */
	struct merge_alignment alignment;
};

#endif
