/* SPDX-License-Identifier: GPL-2.0-only */
/* What procs.c, proclook.c and join.c share; nobody else includes it. */
#ifndef ACLTAP_LIVE_PROCS_IN_H
#define ACLTAP_LIVE_PROCS_IN_H

#include "live/procs.h"
#include "live/procset.h"

#define NUDGE_NS 2000000000ull

struct procs {
	struct procs_config cfg;
	struct recorder *rec;
	struct procset set;
	bool any_settled;
	bool ending;		  /* nothing is recorded any more: nothing has to be probed */
	uint64_t looked_ns;	  /* when all were looked at last, or tracing began */
	uint32_t unseen;	  /* changes that found no room in the ring, as of the last look */
	uint32_t expired;	  /* waits that nobody answered in time, of those told */
	bool missed;		  /* see procs_missed() */
	unsigned int ended_early; /* see procs_ended_early() */
	unsigned int unproven;	  /* ended before it was known whether they are asked for */
	unsigned int unlooked;	  /* -n: ended before they were looked at, and no call is known */
	bool scan_told;		  /* told: one that is not traced could not be looked at */
	bool stamps_due; /* some settled process has not shown a stamp; see procs_watch_stamps() */
};

/* Traces a process and probes what it maps. -errno: it cannot be looked at, and is not traced. */
int procs_attach_one(struct procs *ps, pid_t pid);
/* The same for its descendants that are not traced yet. */
void procs_attach_descendants(struct procs *ps, pid_t pid);
/* Probes what a process maps that is not traced; *probed: it maps a traced function. */
int procs_scan(struct procs *ps, pid_t pid, bool *probed);
/* Looks at what a traced process maps now and probes what is new. */
int procs_look(struct procs *ps, struct proc *p);
void procs_settle(struct procs *ps, struct proc *p);
/* The returns of create_stamp are watched while some process may still show that it is NULL. */
void procs_watch_stamps(struct procs *ps);
/* A SIGSTOP of ours may be on its way to it: if it is stopped soon it is continued. */
void procs_nudge(const struct procs *ps, struct proc *p);
void procs_know_exe_of(struct procs *ps, pid_t pid, enum stop_state state);
/* since_ns: CLOCK_MONOTONIC of the record that told that it is held; 0 = there was none. */
void procs_let_go(struct procs *ps, pid_t pid, enum stop_state how, uint64_t since_ns);
void procs_tell_window(struct procs *ps, pid_t pid, uint64_t loaded_ns);

/* Of processes that are not in the set, with -a and -n. */
void join_exec(struct procs *ps, const struct wire *w, const char *comm);
void join_call(struct procs *ps, const struct wire *w, const char *comm);
void join_mapped(struct procs *ps, pid_t pid, uint64_t loaded_ns);
/* Looks at all that run now. */
int join_running(struct procs *ps, size_t *unreadable);

#endif
