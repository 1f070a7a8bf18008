/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an HTML page tells beside spans: processes, threads, and what is no event.
 * Memory is bounded: so many of each, the others are counted; long texts are cut. Functions return
 * 0, -ENOMEM or the error of the output. Zeroed at start but for html_facts_init().
 */
#ifndef ACLTAP_SINK_HTML_FACTS_H
#define ACLTAP_SINK_HTML_FACTS_H

#include <stdint.h>

#include "core/model.h"
#include "sink/ids.h"
#include "sink/out.h"
#include "sink/repair.h"

#define HTML_FACTS_MAX 65536  /* processes, threads */
#define HTML_LOSSES_MAX 10000 /* times of losses; the further ones become one */
#define HTML_TEXT_MAX 1000    /* bytes of a command line and the like */

#define HTML_NO_THREAD UINT32_MAX

struct html_loss {
	uint64_t from_ns, to_ns, count;
	uint8_t func;
};

struct html_facts {
	struct ids procs, threads, thread_names, tallies, sources;
	struct html_loss *losses;
	size_t n_losses;
	uint64_t more_procs; /* announcements of processes beyond the limit */
};

void html_facts_init(struct html_facts *f);
void html_facts_free(struct html_facts *f);

int html_facts_process(struct html_facts *f, const struct process *p);
int html_facts_thread(struct html_facts *f, const struct label *l);
int html_facts_tally(struct html_facts *f, const struct tally *t);
int html_facts_source(struct html_facts *f, const struct trace_source *src);

/* The number of a thread that has spans; HTML_NO_THREAD beyond the limit. 0 or -ENOMEM. */
int html_facts_thread_of(struct html_facts *f, uint32_t pid, uint32_t tid, uint32_t *number);

/* Earliest and latest time of a loss; none: unchanged. */
void html_facts_extent(const struct html_facts *f, uint64_t *first_ns, uint64_t *last_ns);

/* Members of a JSON object, each with a comma behind it. Times are relative to zero_ns. */
int html_facts_write(const struct html_facts *f, uint64_t zero_ns, struct out *o, struct repair *r);

#endif
