/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Outputs. A sink turns spans and counts into one file. Adding one: a file in this folder and a
 * line in sink.c. The fan-out below keeps the first error of each: after it a sink is called no
 * more, and the fan-out's end() returns it, so a full disk can never look like success.
 */
#ifndef ACLTAP_SINK_SINK_H
#define ACLTAP_SINK_SINK_H

#include <stddef.h>

#include "core/model.h"
#include "core/pipeline.h"
#include "sink/versions.h"

/* The order in which a sink wants its spans. */
enum sink_order {
	SINK_BY_START, /* by (start, depth, pid, tid, sequence): sorted on disk before */
	SINK_BY_END,   /* as they end: no memory, no sort */
};

/* Options that change the bytes of an output; all zero is the default. */
struct sink_opts {
	bool no_tab;	     /* csv: no TAB after times */
	bool lanes;	     /* json: overlapping start/end ranges on rows of their own */
	uint64_t slice_rows; /* csv: start a further file after so many rows, 0 = never */
	bool overwrite;	     /* replace existing files */
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
	int (*hidden)(struct sink *s, const struct span *sp); /* as in struct consumer; by end */
	int (*tally)(struct sink *s, const struct tally *t);
	int (*source)(struct sink *s, const struct trace_source *src); /* merged: near the end */
	int (*end)(struct sink *s, const struct trace_meta *meta);     /* completes the file */
	void (*free)(struct sink *s); /* without end() before: removes what was written */
};

/* Every sink embeds this first. */
struct sink {
	const struct sink_ops *ops;
	char *path;	   /* final name, owned */
	int err;	   /* first error, sticky */
	uint64_t rows;	   /* spans written */
	uint64_t left_out; /* spans that this format has no place for (not complete) */
	uint64_t files;	   /* files written, when more than one (csv slices); path is the first */
	bool done;	   /* end() succeeded: the file has its final name */
	const struct versions *versions; /* of the fan-out */
	uint64_t of;			 /* what of them held for the span it is given */
	bool as_owner; /* whose rights it works with, see privs.h: as when it was opened */
};

/* The thread that the vendor's files name: of the end call, but for mstx ranges of the start. */
static inline uint32_t sink_span_tid(const struct span *sp)
{
	return sp->domain ? sp->start_tid : sp->end_tid;
}

/* NULL for stamp events. */
static inline const char *sink_span_domain(const struct span *sp)
{
	return sp->domain || sp->kind != SPAN_MARKER_EX ? sp->domain : "default";
}

#define SINK_PROCESS_NAME_MAX 512
/*
 * How a process is called where its name is all there is: its program with, in brackets, its rank
 * and, in a merged trace, its host and the PID it has there when that was replaced.
 */
void sink_process_name(const struct process *p, char buf[SINK_PROCESS_NAME_MAX]);

extern const struct sink_ops *const sink_table[]; /* ends with NULL */

/* By name ("csv") or by the suffix of a path ("x.csv"); NULL when none. */
const struct sink_ops *sink_by_name(const char *name);
const struct sink_ops *sink_by_path(const char *path);
/* The suffix is that of a format that this build lacks: the package it needs; NULL otherwise. */
const char *sink_not_built(const char *path);

/*
 * A fan-out of several sinks behind one consumer: sinks that want SINK_BY_START get their spans
 * from one shared external merge sort (sink/sort.h), after the last; the others at once. A sink
 * that fails does not stop the others: only end() returns an error, the first one.
 */
struct fanout;
int fanout_new(struct fanout **out);
/*
 * Opens a sink, which works with the rights that files are opened with now (privs.h); on an error
 * the fan-out is as before. Before the consumer's begin().
 */
int fanout_add(struct fanout *f, const struct sink_ops *ops, const char *path,
	       const struct sink_opts *opts);
struct consumer fanout_consumer(struct fanout *f);
/* Called now and then while the sorted spans are written, which is most of end(). May be NULL. */
void fanout_progress(struct fanout *f, void (*progress)(void *ctx, uint64_t done, uint64_t total),
		     void *ctx);
size_t fanout_count(const struct fanout *f);
const struct sink *fanout_get(const struct fanout *f, size_t i); /* for the summary */
void fanout_free(struct fanout *f); /* removes outputs that were not completed */

/* The formats of this folder, for the table. */
extern const struct sink_ops sink_csv, sink_json, sink_tsv, sink_ndjson, sink_html, sink_null;
extern const struct sink_ops sink_db;	    /* only with HAVE_SQLITE */
extern const struct sink_ops sink_perfetto; /* only with HAVE_PROTOBUF_C */

/* The suffixes of all formats of this build, for help texts. */
#ifdef HAVE_SQLITE
#define SINK_SUFFIX_DB " .db"
#else
#define SINK_SUFFIX_DB ""
#endif
#ifdef HAVE_PROTOBUF_C
#define SINK_SUFFIX_PERFETTO " .pftrace"
#else
#define SINK_SUFFIX_PERFETTO ""
#endif
#define SINK_SUFFIXES ".csv .json .tsv .ndjson .html" SINK_SUFFIX_DB SINK_SUFFIX_PERFETTO

#endif
