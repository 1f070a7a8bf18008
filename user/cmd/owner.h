/* SPDX-License-Identifier: GPL-2.0-only */
/* Whom the files of this run belong to: see privs_own_files(). */
#ifndef ACLTAP_CMD_OWNER_H
#define ACLTAP_CMD_OWNER_H

struct privs_user;

/*
 * Decided by the first call: u; or NULL, the user who called sudo, if any. Returns 0 or -errno.
 * Later ones change nothing: with -u root all ids look as if nobody had decided, and another thread
 * may not be able to follow a change by then, for which the C library ends the process.
 */
int owner_decide(const struct privs_user *u);

#endif
