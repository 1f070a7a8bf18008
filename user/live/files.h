/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files that targets map: each is looked at once (by device and inode) and probed when it
 * exports traced functions or the dynamic loader's notification. Owns their descriptors, which
 * keeps a probed inode from being used again.
 */
#ifndef ACLTAP_LIVE_FILES_H
#define ACLTAP_LIVE_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "discover/plan.h"
#include "discover/proc.h"
#include "live/attach.h"

struct str;

enum file_state {
	FILE_PLAIN,  /* nothing to trace in it */
	FILE_PROBED, /* at least one traced function is probed */
	FILE_FAILED, /* it has traced functions and none could be probed */
};

struct files;

/* Environment: files remembered at most, for a test of what happens beyond. */
#define FILES_MAX_ENV "ACLTAP_MAX_FILES"

struct files_config {
	struct attach *attach;
	struct plan_opts plan;
};

int files_new(const struct files_config *cfg, struct files **out);
void files_free(struct files *f); /* NULL is fine */

/*
 * Looks at the file behind fd (which stays the caller's), path is for messages only. Returns its
 * state or -errno; -ENOSPC: too many have functions to trace, which is told once.
 */
int files_look(struct files *f, int fd, const char *path);

/* The same for a path of the user's; an unreadable file or one without entry points is told. */
int files_look_path(struct files *f, const char *path);

/*
 * Watches what create_stamp returns, or no longer: it is of interest only until every process has
 * shown a stamp. No effect with plan.lifecycle, which watches it always.
 */
void files_watch_stamps(struct files *f, bool on);

/*
 * Of the probes in that mapped file: how many have no effect in the process that maps it so, and
 * why (of one of them). *all = number of probes.
 */
size_t files_ineffective(struct files *f, const struct proc_file *pf, size_t *all,
			 const char **why);

/* May that file look up functions of the same names in another one? See discover/byname.h. */
bool files_by_name(struct files *f, const struct proc_file *pf);

size_t files_probed(const struct files *f);  /* number of files with probes */
size_t files_loaders(const struct files *f); /* dynamic loaders with a probe */

/* What is probed where and why, one line each. */
int files_describe(const struct files *f, struct str *text);

#endif
