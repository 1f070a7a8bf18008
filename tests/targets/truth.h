/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a target really did, for compare_truth.py. Each finished mark or range is one line, written
 * with one write() to a file opened with O_APPEND, so threads and forked children can share it.
 * Times are CLOCK_MONOTONIC ns, read right before and right after the call.
 * A target that cannot write its truth aborts: a test without truth proves nothing.
 */
#ifndef ACLTAP_TARGETS_TRUTH_H
#define ACLTAP_TARGETS_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/acl_prof.h"

/* A call that took place between two times, on a thread. */
struct truth_call {
	uint64_t before, after;
	pid_t tid;
};

/* A mark, or a range from its start call on. */
struct truth {
	const char *kind; /* "marker", "push/pop", "start/end", "marker_ex" */
	const void *name; /* not copied: must live until the row is written */
	size_t len;
	unsigned int depth; /* open pushes of the start thread */
	struct truth_call start;
	void *stamp;
	uint32_t id; /* start/end only */
};

/* Opens the file named by path, or by ACLTAP_TRUTH when NULL; without both nothing is logged. */
void truth_open(const char *path);
uint64_t truth_now(void);

/* One line with the end; end NULL for a range that nothing closed (status says how it ends). */
void truth_write(const struct truth *t, const struct truth_call *end, const char *status);
/* An expected count, e.g. truth_expect("orphan aclprofPop", 3). */
void truth_expect(const char *what, unsigned long count);

/* Calls of the API with their truth; each uses a stamp of its own and checks every result. */
void truth_mark(const char *name);
struct truth truth_push(const char *name);
void truth_pop(struct truth *t);
struct truth truth_start(const char *name);
void truth_stop(struct truth *t);

/* In a forked child: it inherits no open ranges. */
void truth_child(void);

void *checked_stamp(const char *name, size_t len);
void must(bool ok, const char *what);
/* Reads one line from the FIFO named by the variable ACLTAP_WAIT, if set: the test says go. */
void wait_for_test(void);
/* Keeps the CPU for about so many microseconds. */
void spin_us(unsigned int us);

#endif
