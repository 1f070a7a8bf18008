/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The second signal. After the first one, or when tracing has ended by itself, results are written;
 * from then on a signal ends acltap at once, with the capture readable up to its last block.
 */
#ifndef ACLTAP_CMD_GIVEUP_H
#define ACLTAP_CMD_GIVEUP_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * SIGTERM, SIGHUP and, unless a command was launched (whose Ctrl-C it is), SIGINT end the process
 * with that exit status: at once when tracing was ended by a signal, else the second one; the first
 * is then passed on to the command (0 = none). Unblocks them.
 */
void giveup_arm(int status, pid_t command, bool signalled);

/*
 * Writing to a closed pipe or beyond a size limit is an error to be reported, not a signal; and a
 * Ctrl-C is the command's to decide on once one was launched. By a handler that does nothing: what
 * is executed later gets the default back, and what was ignored before stays ignored.
 */
void giveup_never(int signal);

/*
 * Before there is a session to end: from now on SIGTERM, SIGHUP, SIGINT and SIGQUIT are only
 * remembered, so that nothing half begun is left behind. Asked: was there one, or is one pending?
 */
void giveup_watch(void);
bool giveup_asked(void);
void giveup_unwatch(void); /* as it was before giveup_watch() */

#endif
