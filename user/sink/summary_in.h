/* SPDX-License-Identifier: GPL-2.0-only */
/* What summary.c collects and summary_print.c writes; nobody else includes it. */
#ifndef ACLTAP_SINK_SUMMARY_IN_H
#define ACLTAP_SINK_SUMMARY_IN_H

#include <stdint.h>

#include "core/model.h"
#include "sink/ids.h"
#include "sink/summary.h"
#include "util/str.h"

#define DRIFT_WARNING_NS 1000000

struct name {
	uint64_t key; /* hash, made unique */
	char *s;
	uint16_t len;
	uint64_t count, total_ns;
};

/* Of a kind and function, or of a kind and process. */
struct count {
	uint64_t key;
	uint64_t n;
};

struct proc {
	uint64_t key;
	char *name;
};

struct summary {
	struct summary_totals totals;
	struct ids names, by_func, null_stamps, procs;
	struct name others;
	struct trace_meta meta;		    /* clocks only: the texts are not ours */
	size_t sources, incomplete_sources; /* of a merged trace */
	struct str ended, drifts;	    /* lines about some of them */
	bool incomplete, damaged;
	uint64_t reached_ns; /* CLOCK_MONOTONIC */
};

/* By how many ns the wall clock moved against the monotonic one between two readings of both. */
static inline int64_t summary_drift(const struct clock_triple *a, const struct clock_triple *b)
{
	return (int64_t)((b->real_ns - b->mono_ns) - (a->real_ns - a->mono_ns));
}

static inline uint64_t summary_drift_size(int64_t drift)
{
	return drift < 0 ? -(uint64_t)drift : (uint64_t)drift;
}

#endif
