/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What takes a while and needs nothing of the loaded programs, in a second thread while they are
 * loaded: the kernel's types for the object that follows processes, and the library that decodes
 * instructions. The thread gets no signals, and is gone before processes are made or rights given
 * up: both are for one thread.
 */
#ifndef ACLTAP_LIVE_AHEAD_H
#define ACLTAP_LIVE_AHEAD_H

#include <pthread.h>
#include <stdbool.h>

struct ahead {
	pthread_t thread;
	bool types;   /* set by the caller: they are needed */
	bool started; /* else it is done when it is asked for */
	int types_fd; /* or -errno */
};

void ahead_start(struct ahead *a);
/* Waits for it. Returns a descriptor for bpf_follow(), to be closed, or -errno. Once. */
int ahead_finish(struct ahead *a);

#endif
