/* SPDX-License-Identifier: GPL-2.0-only */
/* The set of traced processes, by PID. Pointers into it are valid until the next add or drop. */
#ifndef ACLTAP_LIVE_PROCSET_H
#define ACLTAP_LIVE_PROCSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/map.h"

struct proc {
	pid_t pid;
	uint64_t start_time;  /* tells a re-used PID; 0 = not known yet */
	bool gone;	      /* it was not there at the last look */
	bool ignored;	      /* -n: called a traced function and has another name */
	bool ended;	      /* -n: before it was looked at; ignored unless it has called */
	bool settled;	      /* maps a probed file */
	bool stamped;	      /* has shown a stamp that is not NULL */
	bool failed;	      /* maps one that cannot be probed: told once */
	bool told;	      /* that some of what it maps has no effective probes */
	bool unreadable;      /* maps a file that acltap may not open: told once */
	bool doubled;	      /* calls may be seen twice: told once */
	bool late;	      /* went on before its probes were in place: told once */
	struct map plain;     /* keys of what it maps without functions, as of the last look */
	uint64_t nudge_until; /* CLOCK_MONOTONIC: a child was stopped; it may stop itself over it */
};

/* All zero is empty. */
struct procset {
	struct proc *v;
	size_t n, cap;
	struct map at; /* PID -> index + 1 */
};

struct proc *procset_find(const struct procset *s, pid_t pid); /* NULL: not in it */
/* The entry, a new one if there was none; NULL: no memory. */
struct proc *procset_add(struct procset *s, pid_t pid);
void procset_drop(struct procset *s, struct proc *p);
void procset_free(struct procset *s);

#endif
