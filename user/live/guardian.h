/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process of its own that continues stopped targets when acltap dies in between (SIGKILL, crash),
 * or does not come round to it (a reader or a disk that blocks it). It holds a pipe, the maps of
 * processes and the switches, nothing else.
 */
#ifndef ACLTAP_LIVE_GUARDIAN_H
#define ACLTAP_LIVE_GUARDIAN_H

#include "live/bpfload.h"

struct guardian {
	int pid;
	int pipe; /* its end of life is the guardian's signal */
};

/* Before the first probe is attached. Returns 0 or -errno. */
int guardian_start(const struct bpf *b, struct guardian *g);
/* All probes that stop are switched off: the guardian may go, and is killed when it does not. */
void guardian_dismiss(struct guardian *g);

/*
 * Continues every process marked STOP_SENT, or every one in the map. The mark stays: it is written
 * before the signal is sent, which may come after this and is for the next call to undo.
 */
void guardian_continue_all(const struct bpf *b, bool every);

#endif
