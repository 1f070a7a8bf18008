/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Starting the command: a child that waits before exec until the probes are in place, and whose
 * end is waited for. When acltap dies before the release, the child ends by itself.
 */
#ifndef ACLTAP_LIVE_LAUNCH_H
#define ACLTAP_LIVE_LAUNCH_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "util/privs.h"

/* What acltap has otherwise for itself; the command gets it as acltap did. */
struct launch_inherited {
	sigset_t mask;
	struct sigaction child; /* of SIGCHLD: where it is ignored there is no exit status */
	struct rlimit files;
};

struct launch {
	pid_t pid;
	int hold;   /* write end: a byte lets the child go */
	int status; /* read end: errno of a failed exec; closed by a successful one */
};

/*
 * Forks. path is what is executed, argv[0] as the user wrote it; the command gets what acltap
 * inherited, and runs as user, NULL: as who started acltap, with all rights that acltap has now.
 * Returns 0 or -errno.
 */
int launch_hold(const char *path, char **argv, const struct launch_inherited *in,
		const struct privs_user *user, struct launch *l);

/* Lets the child exec and waits for that. Returns 0, or -errno of exec: the child has ended. */
int launch_release(struct launch *l);

/* Ends a child that was not released. */
void launch_cancel(struct launch *l);

/* Exit status as a shell gives it: 128 + N for signal N. */
int launch_exit_status(int wait_status);

#endif
