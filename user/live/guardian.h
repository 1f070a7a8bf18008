/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process of its own that continues stopped targets when acltap dies in between (SIGKILL, crash).
 * It holds a pipe, the map of stopped processes and the switches, nothing else.
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
/* All probes that stop are switched off: the guardian may go. */
void guardian_dismiss(struct guardian *g);

/* Continues every process marked STOP_SENT, or every one in the map; returns how many. */
int guardian_continue_all(int stops_fd, bool every);

#endif
