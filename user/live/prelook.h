/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Before the command runs: probes the files that it will probably map, so that it need not be
 * stopped when it does.
 */
#ifndef ACLTAP_LIVE_PRELOOK_H
#define ACLTAP_LIVE_PRELOOK_H

#include "live/files.h"
#include "live/procs.h"

/* Looks at the program exe, its dynamic loader, and the library where the command will find it. */
void prelook(struct files *files, struct procs *procs, const char *exe);

#endif
