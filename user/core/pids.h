/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PIDs that tell the processes of a trace apart. Each PID belongs to a space (a PID namespace of a
 * host); the first space to use a number keeps it, another one gets a free number instead: one that
 * Linux could have given out as well, so that it fits wherever a PID does. All zero is empty. Pure.
 */
#ifndef ACLTAP_CORE_PIDS_H
#define ACLTAP_CORE_PIDS_H

#include "util/map.h"

struct pids {
	struct map given; /* space, PID -> number */
	struct map taken; /* numbers */
	uint32_t below;	  /* free numbers are looked for below, 0 = from the top */
};

/*
 * The number of a PID; 0 stands for no process and stays 0. Returns 0 or -ENOMEM. When all are
 * taken it is the PID itself.
 */
int pids_number(struct pids *p, uint32_t space, uint32_t pid, uint32_t *number);
void pids_free(struct pids *p);

#endif
