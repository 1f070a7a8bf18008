/* SPDX-License-Identifier: GPL-2.0-only */
/* How what was begun ends: emits spans, with the status that can be proven. Internal to range. */
#ifndef ACLTAP_CORE_SPANS_H
#define ACLTAP_CORE_SPANS_H

#include "core/state.h"

/* An end that is no end call: unfinished (with a time) or open. Lost records make it uncertain. */
struct forced_end {
	enum span_status status; /* UNFINISHED, OPEN, UNCERTAIN */
	uint64_t time_ns;
};

void span_mark(struct range *r, struct proc *p, const struct open *o, enum span_kind kind);
/* With an end call (or a superseding start); uncertain when not proven or *o already is. */
void span_close(struct range *r, struct proc *p, const struct open *o, enum span_kind kind,
		enum span_status status, bool proven, uint64_t end_ns, uint32_t end_tid);
void span_force(struct range *r, struct proc *p, const struct open *o, enum span_kind kind,
		const struct forced_end *end, bool proven);

/*
 * Brings the stack of t to what a record says: levels above min_depth have ended unseen; up to
 * depth, levels are there whose push was not seen.
 */
void stack_sync(struct range *r, struct thread *t, uint32_t min_depth, uint32_t depth);
/* Everything that is open on it: pushes innermost first, and the call it is in. */
void thread_end(struct range *r, struct thread *t, const struct forced_end *end, bool proven);
/* Everything that is open in the process, its threads included; they are gone after it. */
void proc_end(struct range *r, struct proc *p, const struct forced_end *end);
/* The call that t is in has no return record. proven: no loss explains it. */
void pending_force(struct range *r, struct thread *t, const struct forced_end *end, bool proven);
/* A stop that found no start: an orphan, unless that may have been dropped. */
void stop_alone(struct range *r, struct proc *p, uint8_t func);
/* Starts in flight before no: stops that waited only for them are orphans. */
void waiters_settle(struct range *r, struct proc *p);
/* t's range_start is no longer in flight. */
void flight_leave(struct thread *t);

#endif
