/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signals that end acltap: SIGTERM, SIGHUP (unless nohup), and SIGINT and SIGQUIT, but where a
 * command was launched, whose Ctrl-C they are. A thread of its own waits for them, so that they are
 * heard whatever the rest hangs in: a file system, a reader that stands still. The first one asks
 * for an orderly end; the second one ends the process at once, with the capture readable up to its
 * last block. Whoever is held for acltap then goes on: see guardian.h and launch.h.
 */
#ifndef ACLTAP_CMD_GIVEUP_H
#define ACLTAP_CMD_GIVEUP_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * From now on the signals do not end the process by themselves: the second one ends it with that
 * exit status. Once, after owner_decide(), before anything that may take time or must not be
 * left half begun.
 */
void giveup_watch(int status);
/* Was there a first one that nobody took from giveup_fd() yet? */
bool giveup_asked(void);
/* Of the first signal, until giveup_arm(): a byte, its number, can be read there. -1: no watch. */
int giveup_fd(void);
/* The signal mask from before giveup_watch(), for what is executed; NULL: no watch. */
const sigset_t *giveup_inherited(void);

/* Tracing begins; of a command: from now on a Ctrl-C is the command's to decide on. */
void giveup_tracing(bool launched);
/*
 * Tracing has ended, signalled: by the first signal; results are being written. If it is still to
 * come, or was not heard by the session any more, it is passed on to the command (0 = none).
 */
void giveup_arm(pid_t command, bool signalled);
/* All is written, and the command has ended: a signal can only hurry the end, with that status. */
void giveup_done(int status);

/*
 * Writing to a closed pipe or beyond a size limit is an error to be reported, not a signal. By a
 * handler that does nothing: what is executed later gets the default back, and what was ignored
 * before stays ignored.
 */
void giveup_never(int signal);

#endif
