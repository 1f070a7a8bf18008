/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One tracing session: prepare (find, load, attach), run, stop. In: what to trace. Out: a capture.
 * Owns everything of the live layer; knows nothing of outputs.
 */
#ifndef ACLTAP_LIVE_SESSION_H
#define ACLTAP_LIVE_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "discover/plan.h"
#include "live/procs.h"
#include "live/recorder.h"
#include "store/capture.h"

struct session_config {
	const pid_t *pids; /* attach to these, or */
	size_t n_pids;
	enum procs_join join; /* to these, now and later, or */
	const char *const *names;
	size_t n_names;
	char **argv;		       /* launch this (NULL-terminated), else NULL */
	const char *exe;	       /* the file to execute */
	const struct privs_user *user; /* run it as this one; NULL: as who started acltap */
	const char *const *libs;       /* further files to look in */
	size_t n_libs;
	struct plan_opts plan;
	uint64_t ring_size;	  /* bytes */
	uint64_t duration_ns;	  /* 0 = until the end */
	uint64_t max_size;	  /* of the capture, in bytes; 0 = any */
	uint64_t delay_ns;	  /* before the gate opens */
	bool follow;		  /* children too */
	bool no_stop;		  /* never stop a process to look at its libraries */
	bool wait;		  /* launch: wait for what is left of the children too */
	struct capwrite *capture; /* NULL: nothing is kept */
	/* Gets every record that the capture would get, for live views; may be NULL. 0 or -errno.
	 */
	int (*tap)(void *ctx, const void *rec, size_t sz);
	void *tap_ctx;
	/* Signals that end tracing: each byte read is the number of one; -1 = none do. */
	int signals_fd;
	const sigset_t *signals_mask; /* what the command inherits; NULL: the present one */
	bool no_status;		      /* no progress line */
};

/* How tracing ended. */
enum session_end {
	SESSION_TARGETS_GONE, /* the command or the traced processes ended */
	SESSION_TIME_UP,
	SESSION_FULL,	/* the capture has its largest size */
	SESSION_SIGNAL, /* one of signals_fd */
};

struct session;

/*
 * Loads and attaches; in launch mode the command is held before exec. Returns 0, or -errno after
 * telling the user. argv must stay valid.
 */
int session_open(const struct session_config *cfg, struct session **out);

/* Prints what would be probed, one line each, into text. */
struct str;
int session_describe(struct session *s, struct str *text);

/* Where the records go; before session_run(). Returns 0 or -errno of writing. */
int session_set_capture(struct session *s, struct capwrite *capture);

/*
 * Opens the gate, lets the command go and records until the end. Returns 0, -errno of the capture
 * (told; without one it is the tap's and not told), or what launching failed with: exec_error()
 * tells that apart.
 */
int session_run(struct session *s);

/* Closes the gate, drains, completes the capture's content (not its footer). */
int session_stop(struct session *s);

pid_t session_command(const struct session *s); /* still to be waited for; 0 = none */
enum session_end session_ended(const struct session *s);
/* Were calls not seen since a library was probed late? Told when it was; --strict asks. */
bool session_missed(const struct session *s);
int session_exec_error(const struct session *s); /* -errno when exec of the command failed */
struct recorder_stats session_stats(const struct session *s);
bool session_saw_library(const struct session *s); /* an entry point was found in a target */

/* Launch: passes on a signal that stopped tracing, waits for the command; its exit status. */
int session_wait_command(struct session *s);

/* Detaches, where that is slow in a process of its own, and frees. NULL is fine. */
void session_free(struct session *s);

#endif
