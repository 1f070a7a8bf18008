/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The short text when a trace ends: a consumer that counts, and the writing of it. Bounded memory:
 * SUMMARY_NAMES names are told apart, the others are added up together.
 */
#ifndef ACLTAP_SINK_SUMMARY_H
#define ACLTAP_SINK_SUMMARY_H

#include <stdio.h>

#include "core/pipeline.h"

#define SUMMARY_NAMES 4096

struct fanout;
struct summary;

/* What --strict and the progress line look at. */
struct summary_totals {
	uint64_t events;	 /* spans and marks */
	uint64_t kinds[4];	 /* by enum span_kind */
	uint64_t statuses[5];	 /* by enum span_status */
	uint64_t lost;		 /* TALLY_LOSS, TALLY_LIMIT */
	uint64_t lost_returns;	 /* TALLY_LOST_RETURN */
	uint64_t lost_processes; /* TALLY_LOST_PROCESS: records of processes */
	uint64_t lost_starts;	 /* TALLY_LOST_START */
	uint64_t orphans;
	uint64_t failed;
	uint64_t unreadable;
	uint64_t cut;
	uint64_t unnamed; /* complete ones with a stamp on which no message was set */
	uint64_t null_stamps;
	uint64_t errors; /* TALLY_LATE, TALLY_BAD, TALLY_MISMATCH: ours, not the program's */
};

int summary_new(struct summary **out);
void summary_free(struct summary *s); /* NULL is fine */
struct consumer summary_consumer(struct summary *s);
const struct summary_totals *summary_totals(const struct summary *s);

/* The capture has no end, or is damaged: the text says up to which time it reaches. */
void summary_incomplete(struct summary *s, bool damaged, uint64_t mono_ns);

/* Was something lost, uncertain or unreadable? What --strict asks. */
bool summary_is_strict_failure(const struct summary *s);

/* Counts, top names, losses, warnings; several lines. Names cannot do anything to a terminal. */
void summary_print(const struct summary *s, FILE *f);

/* Only what is not as it should be: nothing at all for a whole trace. */
void summary_print_warnings(const struct summary *s, FILE *f);

/* One line for each file of the fan-out: rows, what it leaves out, how to open it, or its error. */
void summary_print_files(const struct fanout *fan, FILE *f);

#endif
