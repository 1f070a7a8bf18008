/* SPDX-License-Identifier: GPL-2.0-only */
/* The line on the terminal that shows how a recording goes on. */
#ifndef ACLTAP_LIVE_STATUS_H
#define ACLTAP_LIVE_STATUS_H

#include <stdint.h>

#include "live/recorder.h"
#include "store/capture.h"

struct status {
	uint64_t shown_ns; /* CLOCK_MONOTONIC; begins with when recording did */
	uint64_t events;   /* as of then */
};

/* Every half second: events, their rate, losses, open ranges; of a capture, which may be NULL, its
 * size and what is free where it lies. */
void status_show(struct status *st, const struct recorder_stats *r, const struct capwrite *capture,
		 uint64_t now_ns);

#endif
