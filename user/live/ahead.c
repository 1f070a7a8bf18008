// SPDX-License-Identifier: GPL-2.0-only
#include "live/ahead.h"

#include <errno.h>
#include <signal.h>

#include "discover/disasm.h"
#include "live/bpfload.h"

static void *work(void *arg)
{
	struct ahead *a = arg;

	a->types_fd = a->types ? bpf_follow_types() : -ENOENT;
	disasm_available(); /* brings the library into memory */
	return NULL;
}

void ahead_start(struct ahead *a)
{
	sigset_t all, was;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	a->started = !pthread_create(&a->thread, NULL, work, a);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
}

int ahead_finish(struct ahead *a)
{
	if (a->started)
		pthread_join(a->thread, NULL);
	else
		work(a);
	return a->types_fd;
}
