// SPDX-License-Identifier: GPL-2.0-only
#include "util/privs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/rights.h"
#include "util/unit.h"

#define DAC (RIGHT_BIT(RIGHT_DAC_OVERRIDE) | RIGHT_BIT(RIGHT_DAC_READ_SEARCH))
#define CAPS_MAX 64

/* Both halves of each set. */
struct caps {
	uint64_t effective, permitted, inheritable;
};

static int caps_get(struct caps *c)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	c->effective = data[0].effective | (uint64_t)data[1].effective << 32;
	c->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	c->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
	return 0;
}

static int caps_set(const struct caps *c)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct data[2] = {
		{(uint32_t)c->effective, (uint32_t)c->permitted, (uint32_t)c->inheritable},
		{(uint32_t)(c->effective >> 32), (uint32_t)(c->permitted >> 32),
		 (uint32_t)(c->inheritable >> 32)},
	};

	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/*
 * Beforehand, since looking them up can load libraries: in a held child that waits for whoever
 * probes them, who waits for the child.
 */
static int find_groups(struct privs_user *u)
{
	gid_t none;

	u->n_groups = 0;
	getgrouplist(u->name, u->gid, &none, &u->n_groups); /* says how many */
	u->groups = calloc((size_t)u->n_groups + 1, sizeof(*u->groups));
	if (!u->groups)
		return -ENOMEM;
	return getgrouplist(u->name, u->gid, u->groups, &u->n_groups) < 0 ? -EAGAIN : 0;
}

int privs_find_user(const char *name, struct privs_user *u)
{
	const struct passwd *pw = getpwnam(name);
	int err;

	*u = (struct privs_user){0};
	if (!pw)
		return -ENOENT;
	u->uid = pw->pw_uid;
	u->gid = pw->pw_gid;
	u->name = strdup(name);
	u->home = strdup(pw->pw_dir);
	err = u->name && u->home ? find_groups(u) : -ENOMEM;
	if (err)
		privs_user_free(u);
	return err;
}

void privs_user_free(struct privs_user *u)
{
	free(u->name);
	free(u->home);
	free(u->groups);
	*u = (struct privs_user){0};
}

static bool number(const char *text, uint32_t *id)
{
	uint64_t v;

	if (!text || unit_u64(text, &v) || v >= UINT32_MAX)
		return false;
	*id = (uint32_t)v;
	return true;
}

uid_t privs_own_uid(void)
{
	uid_t real, effective, saved;

	return getresuid(&real, &effective, &saved) ? geteuid() : saved;
}

uid_t privs_owner_uid(void)
{
	return getuid() ?: geteuid();
}

bool privs_for_user(void)
{
	return !privs_own_uid() && privs_owner_uid();
}

/* The effective user of root becomes uid; without its capabilities, which go with that. */
static int change_effective(uid_t uid)
{
	struct caps had;
	int err = caps_get(&had);

	if (err)
		return err;
	if (setresuid((uid_t)-1, uid, (uid_t)-1))
		return -errno;
	err = caps_set(&had);
	if (err && setresuid((uid_t)-1, 0, (uid_t)-1))
		return -errno;
	return err;
}

int privs_own_files(const struct privs_user *u)
{
	uid_t uid;
	gid_t gid;
	int err;

	if (privs_own_uid() || privs_owner_uid())
		return 0;
	if (u) {
		uid = u->uid;
		gid = u->gid;
	} else if (!number(getenv("SUDO_UID"), &uid) || !number(getenv("SUDO_GID"), &gid)) {
		return 0;
	}
	if (setresgid(gid, (gid_t)-1, (gid_t)-1))
		return -errno;
	err = change_effective(uid);
	/* The capabilities for files go and come with the user for files. */
	privs_as_owner(false);
	privs_as_owner(true);
	return err;
}

bool privs_is_owner(void)
{
	return (uid_t)setfsuid((uid_t)-1) == privs_owner_uid();
}

bool privs_as_owner(bool on)
{
	bool was = privs_is_owner();

	/* Either is one of our own ids, so it is permitted. */
	setfsgid(on ? getgid() : getegid());
	setfsuid(on ? privs_owner_uid() : privs_own_uid());
	return was;
}

int privs_can_create(int dirfd, bool plain)
{
	struct caps had, less;
	int err = caps_get(&had);

	if (err)
		return err;
	less = had;
	if (plain)
		less.effective &= ~DAC;
	err = caps_set(&less);
	/* The effective ids of this call are those for files. */
	if (!err && faccessat(dirfd, ".", W_OK | X_OK, AT_EACCESS))
		err = -errno;
	return caps_set(&had) ?: err;
}

int privs_drop(uint64_t keep)
{
	struct caps c;
	int err = caps_get(&c);

	if (err)
		return err;
	/* Fails without CAP_SETPCAP, when there is little to drop. */
	for (int i = 0; i < CAPS_MAX && prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if (!(keep & RIGHT_BIT(i)))
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	c.permitted &= keep;
	c.effective &= keep;
	c.inheritable = 0;
	return caps_set(&c);
}

int privs_become(const struct privs_user *u)
{
	const struct caps none = {0};
	uid_t uid = u ? u->uid : privs_own_uid();
	gid_t gid = u ? u->gid : getegid();

	if (u && setgroups((size_t)u->n_groups, u->groups))
		return -errno;
	if (setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return -errno;
	if (!u || !uid) /* root keeps what root has */
		return 0;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return caps_set(&none);
}
