/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of .tsv and .ndjson, whatever order they are written in: a span with everything known
 * about it, or a count of what is no event. Errors are those of the output.
 */
#ifndef ACLTAP_SINK_EVENT_ROWS_H
#define ACLTAP_SINK_EVENT_ROWS_H

#include <stdbool.h>

#include "core/pipeline.h"
#include "sink/versions.h"
#include "sink/ids.h"
#include "sink/out.h"

#define EVENT_ROWS_NO_PARENT UINT64_MAX

struct event_rows {
	struct out *out;		 /* the owner's; set by event_rows_init(), may be cleared */
	bool json;			 /* .ndjson, else .tsv */
	bool first;			 /* no field of this row is written yet */
	const struct versions *versions; /* the owner's, who sets it; as a consumer its own */
	struct versions own;
	struct ids sources;
};

void event_rows_init(struct event_rows *e, struct out *o, bool json);
void event_rows_free(struct event_rows *e);

/* Of a merged trace: the host of counts that are of no process. 0 or -ENOMEM. */
int event_rows_source(struct event_rows *e, const struct trace_source *src);

void event_rows_head(struct event_rows *e); /* the header line of .tsv */
/* of: what held for it, see versions.h. parent: the row of the enclosing range, or NO_PARENT. */
void event_rows_span(struct event_rows *e, const struct span *sp, uint64_t of, uint64_t parent);
/* Is it a row? Of calls only those that are no events. */
bool event_rows_shows(const struct tally *t);
void event_rows_tally(struct event_rows *e, const struct tally *t);

/* All of it as a consumer, for rows in order of end: the row of a parent comes after it. */
struct consumer event_rows_stream(struct event_rows *e);

#endif
