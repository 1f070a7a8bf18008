/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of stats.h: collected in stats.c, worked out in stats_result.c. Internal. */
#ifndef ACLTAP_CORE_STATS_IN_H
#define ACLTAP_CORE_STATS_IN_H

#include "core/stats.h"
#include "util/map.h"

struct row {
	struct stats_row r;
	double mean, squares; /* running mean, sum of squared differences from it */
	struct row *chain;    /* same hash */
	char *label;	      /* owned */
	long double order;    /* what the rows are sorted by; long holds all of a uint64_t */
	uint32_t number;      /* from 0, in order of appearance */
	size_t key_len;
	char key[]; /* name; pid and tid; pid and its name, unless its first; text of category */
};

struct stats {
	struct stats_config cfg;
	struct map index; /* hash of style and key -> first row of a chain */
	struct row **rows;
	size_t n_rows, cap;
	size_t n_exact; /* values kept as they are */
	size_t n_coarse;
	size_t n_sampled;
	uint64_t unnamed;
	struct map child_ns; /* id of an open push/pop range -> duration of what was in it */
	bool self_incomplete;
	struct map processes, threads; /* pid; pid and tid -> name, owned */
	struct map categories;	       /* number of the program, category -> the same */
	struct map programs;	       /* pid -> image as told, and number from 1 */
	uint32_t n_programs;
	struct map first_names; /* pid -> the first of its names, owned */
	struct map ranks;	/* pid -> rank + 1 */
	struct rankstat rankstat;
};

#define PAIR(pid, id) ((uint64_t)(pid) << 32 | (id))

/* The trace has ended: works out each row, and sorts them by total time. 0 or -ENOMEM. */
int stats_finish(struct stats *s);

#endif
