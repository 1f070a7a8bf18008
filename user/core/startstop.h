/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * start/end ranges: by id in a process. A start takes effect at its entry once its return is
 * known; a stop that finds no open id waits for the starts in flight. Internal to range.
 */
#ifndef ACLTAP_CORE_STARTSTOP_H
#define ACLTAP_CORE_STARTSTOP_H

#include "core/state.h"

/* Entry records; blind as in call_enter(). */
void start_enter(struct range *r, struct thread *t, const struct event *ev, bool blind);
void stop_enter(struct range *r, struct thread *t, const struct event *ev, bool blind);
/* The return record of the range_start that t is in. */
void start_return(struct range *r, struct thread *t, const struct event *ev);
/* A return record without its entry: the id is taken, its range unknown. */
void start_return_alone(struct range *r, struct thread *t, const struct event *ev);

#endif
