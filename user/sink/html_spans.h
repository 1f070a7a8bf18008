/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The spans of the timeline of an HTML page: kept in memory up to a limit, put into rows that do
 * not overlap, and written compactly. Beyond the limit the shortest complete ones are left out, so
 * that what encloses others stays, and counted. Times are of the Unix epoch.
 */
#ifndef ACLTAP_SINK_HTML_SPANS_H
#define ACLTAP_SINK_HTML_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model.h"
#include "sink/out.h"

#define HTML_SPANS_MAX 1000000 /* on the timeline */
#define HTML_ROWS 256	       /* of one kind in one thread; in the last one spans may overlap */

struct html_spans;

/* What the span has by numbers of the page's own lists. */
struct html_refs {
	uint32_t thread, name, domain, category; /* the last two: a name; 0 = none */
};

struct html_left_out {
	uint64_t count;
	uint64_t longest_ns; /* of the complete ones */
	uint64_t incomplete; /* how many were not complete */
};

int html_spans_new(size_t max, struct html_spans **out); /* max >= 2; 0 or -ENOMEM */
void html_spans_free(struct html_spans *s);		 /* NULL is fine */

/* False: it is counted as left out and need not be added. */
bool html_spans_wants(struct html_spans *s, const struct span *sp);
int html_spans_add(struct html_spans *s, const struct span *sp, const struct html_refs *refs);

size_t html_spans_count(const struct html_spans *s);
struct html_left_out html_spans_left_out(const struct html_spans *s);
/* Earliest start and latest end of what is kept; none: both 0. */
void html_spans_extent(const struct html_spans *s, uint64_t *first_ns, uint64_t *last_ns);

/* Chooses the rows; nothing is added afterwards. 0 or -ENOMEM. */
int html_spans_layout(struct html_spans *s);

/*
 * In base64: strips, each the spans of one row (kind 0 marks, 1 push/pop, 2 start/end):
 *   thread kind row count, then for each span
 *   start (since that of the one before it in the strip, at first since zero_ns)
 *   duration (0 = no known end), name, status | kind << 3 | has_end << 5 | has_details << 6
 * and, in a stream of their own, the details of those that have some, in the same order:
 *   which (1 end_tid, 2 category, 4 payload, 8 ret, 16 domain, 32 unreadable, 64 cut, 128 depth),
 *   then end_tid, category and its name (0 = none), payload type, length, low and high half, ret,
 * domain, depth, as far as they are there. Without it the depth is the row. All are varints;
 * payload type and ret are signed ones.
 */
void html_spans_write(const struct html_spans *s, uint64_t zero_ns, struct out *o);
void html_spans_write_details(const struct html_spans *s, struct out *o);

#endif
