/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes what /proc says about a process into the capture: name, command line, rank, ... */
#ifndef ACLTAP_LIVE_FACTS_H
#define ACLTAP_LIVE_FACTS_H

#include <stddef.h>
#include <sys/types.h>

#include "live/recorder.h"

/* All that is known; what cannot be read is left out. rec may be NULL. */
void facts_write(struct recorder *rec, pid_t pid);

/* One; an empty text is not written. An error of writing sticks in the capture. */
void facts_put(struct recorder *rec, pid_t pid, enum wire_fact key, const char *text, size_t len);

#endif
