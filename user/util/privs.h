/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose rights acltap uses for what. Started by sudo, or with -u USER, its effective user and real
 * group are that user's while the other ones stay root's: then the ids for files can be switched
 * between the two at any time, without a capability. The real and the saved user are root's because
 * those decide who may send a signal: the traced command of -u must not stop its tracer. What is
 * created as the user is the user's from the first moment on; nothing is given away afterwards. For
 * one thread: the others are to be made later.
 */
#ifndef ACLTAP_UTIL_PRIVS_H
#define ACLTAP_UTIL_PRIVS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct privs_user {
	uid_t uid;
	gid_t gid;
	char *name, *home; /* owned */
	gid_t *groups;	   /* all of them; owned */
	int n_groups;
};

/* -ENOENT: there is no such user. */
int privs_find_user(const char *name, struct privs_user *u);
void privs_user_free(struct privs_user *u);

/*
 * What is created from now on belongs to u; NULL: to the user who called sudo, if any. Without
 * effect when not root, or when it was done before. Returns 0 or -errno.
 */
int privs_own_files(const struct privs_user *u);
/* What acltap was started as (root, where it works for a user), and whom files belong to. */
uid_t privs_own_uid(void);
uid_t privs_owner_uid(void);
bool privs_for_user(void); /* is acltap root, and works for somebody else? */
/* Files are opened and created as that user, or with root's rights. Returns how it was before. */
bool privs_as_owner(bool on);
/* How it is. Where nobody else's files are created it is always true. */
bool privs_is_owner(void);

/* Whether files can be created in the directory dirfd: 0 or -errno. plain: without CAP_DAC_*. */
int privs_can_create(int dirfd, bool plain);

/*
 * Gives up every capability but those of keep (bits 1 << enum right), for this process and what it
 * will execute. Returns 0 or -errno.
 */
int privs_drop(uint64_t keep);

/*
 * In a child, before exec: becomes u with the groups of u and without any capability; NULL: what
 * acltap was started as. Returns 0 or -errno.
 */
int privs_become(const struct privs_user *u);

#endif
