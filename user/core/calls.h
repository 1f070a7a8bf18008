/* SPDX-License-Identifier: GPL-2.0-only */
/* What each traced call does to the state of its thread and process. Internal to range. */
#ifndef ACLTAP_CORE_CALLS_H
#define ACLTAP_CORE_CALLS_H

#include "core/state.h"

/* What a call that begins something leaves behind: place, time, gap; text comes with snapshot. */
struct open open_begin(struct range *r, struct thread *t, const struct event *ev, bool blind);
/* What the stamp carries now. Set at another gap, a later setting may have been lost. */
void open_snapshot(struct range *r, struct thread *t, uint64_t addr, struct open *o);

/*
 * A WIRE_CALL, after the stack has been brought up to it. blind: the record says nothing about
 * the thread's state, so that nothing it begins or ends is proven.
 */
void call_enter(struct range *r, struct thread *t, const struct event *ev, bool blind);
/* A WIRE_RETURN. */
void call_return(struct range *r, struct thread *t, const struct event *ev);

#endif
