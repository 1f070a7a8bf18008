/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The traced processes: who they are, which of their files are probed, and who may be stopped. In:
 * PIDs, and the life records of the ring. Out: probes in their files, facts in the capture.
 */
#ifndef ACLTAP_LIVE_PROCS_H
#define ACLTAP_LIVE_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "live/bpfload.h"
#include "live/files.h"
#include "live/recorder.h"
#include "wire.h"

struct procs;

/* Whether processes become traced ones that nobody named by their number. */
enum procs_join {
	JOIN_NONE,
	JOIN_ALL,      /* every one that calls a traced function */
	JOIN_NAMED,    /* of these, those whose name was asked for, and their children */
	JOIN_CHILDREN, /* of these, the descendants of traced ones; where forks are not seen */
};

struct procs_config {
	struct bpf *bpf;
	struct files *files;
	enum procs_join join;
	const char *const *names; /* JOIN_NAMED: shell patterns, of which one must fit */
	size_t n_names;
	bool follow;
	bool launched; /* a command of ours and its children */
	bool may_stop; /* they may be held while their new files are probed */
};

int procs_new(const struct procs_config *cfg, struct procs **out);
void procs_free(struct procs *ps); /* NULL is fine */
/* Facts go there from now on. */
void procs_set_recorder(struct procs *ps, struct recorder *rec);

/* Traces a running process; its descendants too when following. -ESRCH, -EPERM, ... told. */
int procs_attach(struct procs *ps, pid_t pid);
/* JOIN_CHILDREN: so many called traced functions and ended before their parents were known. */
unsigned int procs_unproven(const struct procs *ps);
/* Did some process run on with a library that had no probes yet? Each was told. */
bool procs_missed(const struct procs *ps);
/* Those that loaded something behind a library and ended before that was looked at. */
unsigned int procs_ended_early(const struct procs *ps);
/* How often a process went on before its probes were in place, and nothing was said of it. */
uint32_t procs_untold(const struct procs *ps);
/* JOIN_NAMED: so many ended before they were looked at; what they called may not be seen. */
unsigned int procs_unlooked(const struct procs *ps);
/* From now on processes join by themselves. */
void procs_start_joining(struct procs *ps);
/*
 * JOIN_ALL, JOIN_NAMED: from now on processes join by themselves; those that run are looked at.
 * *unreadable: how many could not be, for want of rights. Returns 0 or -errno of reading /proc.
 */
int procs_attach_running(struct procs *ps, size_t *unreadable);
/* Is that record of a process that is traced? Asked before it is kept. Only with joining. */
bool procs_wants(struct procs *ps, const struct wire *w);
/* Traces a child that is held before exec; it will run the file with this identity. */
int procs_add_held(struct procs *ps, pid_t pid);
/* That program file needs no stop when it starts: its loader is probed. */
void procs_know_exe(struct procs *ps, int exe_fd, enum stop_state state);

/*
 * A call or return record: whether its process has shown a stamp. While one that maps the library
 * has not, the returns of create_stamp are watched.
 */
void procs_call(struct procs *ps, const struct wire *w);

/* A record of kind WIRE_FORK, _EXEC, _EXIT, _LOADED or _JOINED. */
void procs_life(struct procs *ps, const struct wire *w, const char *msg);

/* Whether a wait for them makes sense: is any of them left? */
size_t procs_left(const struct procs *ps);
/* Drops those that ended without a record (it can be lost); call about once a second. */
void procs_check_alive(struct procs *ps);
/* Continues who is stopped though its record was lost, or stopped itself over that; each tick. */
void procs_continue_stopped(struct procs *ps);
/* No process is stopped from now on. */
void procs_stop_stopping(struct procs *ps);
/* Does any of them map a probed file? */
bool procs_any_settled(const struct procs *ps);
/* Writes the PIDs that are left, except one, into buf: for messages. */
void procs_names(const struct procs *ps, pid_t except, char *buf, size_t sz);

#endif
