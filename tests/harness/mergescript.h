/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event scripts of several captures in one text, merged:
 *
 *   === align NAME            optional, first: as merge --align; NAME up to the end of the line
 *   === FILE [truncated]      begins a capture of that name; truncated: without its footer
 *   1000 - clock ...
 *
 * Comments may stand before the first.
 */
#ifndef ACLTAP_MERGESCRIPT_H
#define ACLTAP_MERGESCRIPT_H

#include <stdbool.h>

#include "core/pipeline.h"
#include "store/merge.h"

#define MERGESCRIPT_MAX 8

struct mergescript {
	char dir[32]; /* a folder of its own, removed by mergescript_free() */
	char align[64];
	struct merge_input inputs[MERGESCRIPT_MAX];
	size_t n;
	char merged[64]; /* path of the result */
};

bool mergescript_is(const char *text);
/* Writes the captures. Returns 0 or -errno, with the reason in why. */
int mergescript_write(struct mergescript *m, const char *text, char why[MERGE_WHY]);
/* Merges them into m->merged. */
int mergescript_merge(struct mergescript *m, char why[MERGE_WHY]);
void mergescript_free(struct mergescript *m);
/* All of it, and the merged trace into next. */
int mergescript_run(const char *text, const struct consumer *next, char why[MERGE_WHY]);

#endif
