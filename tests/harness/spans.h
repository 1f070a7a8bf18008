/* SPDX-License-Identifier: GPL-2.0-only */
/* Spans by hand, and a whole run of sinks over them. */
#ifndef ACLTAP_TEST_SPANS_H
#define ACLTAP_TEST_SPANS_H

#include <string.h>

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

#endif
