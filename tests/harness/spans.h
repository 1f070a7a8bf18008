/* SPDX-License-Identifier: GPL-2.0-only */
/* Spans by hand, and a whole run of sinks over them. */
#ifndef ACLTAP_TEST_SPANS_H
#define ACLTAP_TEST_SPANS_H

#include <stdlib.h>
#include <string.h>

#include "harness/test.h"
#include "harness/tmpdir.h"
#include "sink/sink.h"

/* A complete push/pop range of thread 20 in process 10; change what matters to the test. */
static inline struct span span_of(const char *name, uint64_t start, uint64_t end)
{
	return (struct span){
		.start_ns = start,
		.end_ns = end,
		.pid = 10,
		.start_tid = 20,
		.end_tid = 20,
		.name = name,
		.name_len = (uint16_t)strlen(name),
		.kind = SPAN_PUSH_POP,
		.status = SPAN_COMPLETE,
		.has_end = true,
	};
}

static inline struct span mark_of(const char *name, uint64_t at)
{
	struct span sp = span_of(name, at, at);

	sp.kind = SPAN_MARKER;
	return sp;
}

/* One sink behind a fan-out of its own, begun. */
struct run {
	struct fanout *fan;
	struct consumer to;
};

static inline struct run run_begin(const char *format, const char *path,
				   const struct sink_opts *opts)
{
	static const struct sink_opts none;
	static const struct trace_meta meta = {.host = "host", .version = "1"};
	struct run r;

	assert_ok(fanout_new(&r.fan));
	assert_ok(fanout_add(r.fan, sink_by_name(format), path, opts ? opts : &none));
	r.to = fanout_consumer(r.fan);
	assert_ok(r.to.begin(r.to.ctx, &meta));
	return r;
}

static inline void run_span(struct run *r, struct span sp)
{
	assert_ok(r->to.span(r->to.ctx, &sp));
}

/* Ends the run, and returns what end() did. */
static inline int run_end(struct run *r)
{
	static const struct trace_meta meta = {.host = "host", .version = "1", .complete = true};
	int err = r->to.end(r->to.ctx, &meta);

	fanout_free(r->fan);
	return err;
}

/* Compares the whole content of a file. */
static inline void expect_file(const char *path, const char *want)
{
	char *got = slurp(path, NULL);

	assert_string_equal(got, want);
	free(got);
}

#endif
