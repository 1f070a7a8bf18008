/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which spans an output or a view shows: a stage between the pipeline and a consumer. What is lost,
 * failed or orphaned passes as it is: a filter must not make a trace look more whole than it is.
 * What it keeps back is told as hidden, and in the meta of the end how many that were.
 * Pure; no memory of its own.
 */
#ifndef ACLTAP_CORE_FILTER_H
#define ACLTAP_CORE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/pipeline.h"

/* All zero lets everything pass. The lists belong to the caller and stay valid. */
struct filter_config {
	const char *const *match; /* shell patterns for names; one of them must fit */
	size_t n_match;
	const char *const *exclude; /* none of them may */
	size_t n_exclude;
	const pid_t *pids; /* one of them */
	size_t n_pids;
	const pid_t *tids; /* the thread of the begin or of the end */
	size_t n_tids;
	uint64_t min_ns; /* marks last 0 ns; what has no known end passes */
	/* Spans that overlap this part of the trace, ns after its start; to 0 = up to the end. */
	uint64_t from_ns, to_ns;
};

struct filter {
	struct filter_config cfg;
	struct consumer next;
	uint64_t start_ns; /* of the trace, Unix epoch */
	uint64_t dropped;  /* spans that did not pass */
};

/* Does it do anything at all? */
bool filter_is_set(const struct filter_config *cfg);

/* The start of the trace; before filter_passes(). The consumer below does it by itself. */
void filter_begin(struct filter *f, const struct trace_meta *meta);
bool filter_passes(const struct filter *f, const struct span *sp);

/* f has its cfg; next is what gets the rest. f must outlive the consumer. */
struct consumer filter_consumer(struct filter *f, const struct consumer *next);

#endif
