/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes what /proc says into the capture: of a process its name, command line, rank and so on; of
 * the machine its name, and whose clock and PIDs these are.
 */
#ifndef ACLTAP_LIVE_FACTS_H
#define ACLTAP_LIVE_FACTS_H

#include <stddef.h>
#include <sys/types.h>

#include "live/recorder.h"

/* All that is known; what cannot be read is left out. rec may be NULL. */
void facts_write(struct recorder *rec, pid_t pid);

/* About the recording as a whole. Returns 0 or -errno of writing. */
int facts_write_capture(struct recorder *rec);

/* One; an empty text is not written. An error of writing sticks in the capture. */
void facts_put(struct recorder *rec, pid_t pid, enum wire_fact key, const char *text, size_t len);

#endif
