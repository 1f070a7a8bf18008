/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Outputs. A sink turns spans and counts into one file. Adding one: a file in this folder and a
 * line in sink.c. The wrappers below keep the first error: after it a sink is called no more and
 * sink_end() returns it, so a full disk can never look like success.
 */
#ifndef ACLTAP_SINK_SINK_H
#define ACLTAP_SINK_SINK_H

#include <stddef.h>

#include "core/model.h"
#include "core/pipeline.h"

/* The order in which a sink wants its spans. */
enum sink_order {
	SINK_BY_START, /* by (start, depth, pid, tid, sequence): sorted on disk before */
	SINK_BY_END,   /* as they end: no memory, no sort */
};

/* Options that change the bytes of an output; all zero is the default. */
struct sink_opts {
	bool no_tab;           /* csv: no TAB after times */
	bool lanes;            /* json: overlapping start/end ranges on rows of their own */
	uint64_t slice_rows;   /* csv: start a further file after so many rows, 0 = never */
	bool overwrite;        /* replace existing files */
};

struct sink;

struct sink_ops {
	const char *name;   /* "csv" */
	const char *suffix; /* ".csv" */
	const char *help;   /* one line: what opens it */
	enum sink_order order;
	/* Opens path (temporary name until end); returns 0 and a sink, or -errno. */
	int (*open)(const char *path, const struct sink_opts *opts, struct sink **out);
	int (*begin)(struct sink *s, const struct trace_meta *meta);
	int (*process)(struct sink *s, const struct process *p);
	int (*thread)(struct sink *s, const struct label *l);
	int (*category)(struct sink *s, const struct label *l);
	int (*span)(struct sink *s, const struct span *sp);
	int (*tally)(struct sink *s, const struct tally *t);
	int (*end)(struct sink *s, const struct trace_meta *meta); /* completes the file */
	void (*free)(struct sink *s); /* without end() before: removes what was written */
};

/* Every sink embeds this first. */
struct sink {
	const struct sink_ops *ops;
	char *path;        /* final name, owned */
	int err;           /* first error, sticky */
	uint64_t rows;     /* spans written */
	uint64_t left_out; /* spans that this format has no place for (not complete) */
};

extern const struct sink_ops *const sink_table[]; /* ends with NULL */

/* By name ("csv") or by the suffix of a path ("x.csv"); NULL when none. */
const struct sink_ops *sink_by_name(const char *name);
const struct sink_ops *sink_by_path(const char *path);

/*
 * A fan-out of several sinks behind one consumer: sinks that want SINK_BY_START get their spans
 * from one shared external merge sort (sink/sort.h), after the last; the others at once.
 */
struct fanout;
int fanout_new(struct fanout **out);
int fanout_add(struct fanout *f, const struct sink_ops *ops, const char *path,
	       const struct sink_opts *opts);
struct consumer fanout_consumer(struct fanout *f);
size_t fanout_count(const struct fanout *f);
const struct sink *fanout_get(const struct fanout *f, size_t i); /* for the summary */
void fanout_free(struct fanout *f); /* removes outputs that were not completed */

#endif
