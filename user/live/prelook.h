/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes the files that a process will probably map, before it does: what they are called from the
 * first moment on is seen, and nobody has to be stopped for it.
 */
#ifndef ACLTAP_LIVE_PRELOOK_H
#define ACLTAP_LIVE_PRELOOK_H

#include "live/files.h"
#include "live/procs.h"

/* Looks at the program exe, its dynamic loader, and the library where the command will find it. */
void prelook(struct files *files, struct procs *procs, const char *exe);

/* The usual dynamic loaders, and the library where acltap's own environment leads. */
void prelook_here(struct files *files);

/* The same for a running process that may load the library later: in its own root. */
void prelook_root(struct files *files, pid_t pid);

#endif
