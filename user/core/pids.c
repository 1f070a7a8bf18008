// SPDX-License-Identifier: GPL-2.0-only
#include "core/pids.h"

#include "wire.h"

#define PIDS_END (1u << WIRE_PID_BITS)

static uint32_t free_number(struct pids *p, uint32_t pid)
{
	uint32_t n = p->below ? p->below : PIDS_END;

	while (--n)
		if (!map_get(&p->taken, n))
			break;
	p->below = n ? n : 1;
	return n ? n : pid;
}

int pids_number(struct pids *p, uint32_t space, uint32_t pid, uint32_t *number)
{
	uint64_t key = (uint64_t)space << 32 | pid;
	uint32_t n = (uint32_t)map_get(&p->given, key);
	int err = 0;

	if (!n && pid) {
		n = map_get(&p->taken, pid) ? free_number(p, pid) : pid;
		err = map_set(&p->taken, n, 1);
		if (!err)
			err = map_set(&p->given, key, n);
	}
	*number = n;
	return err;
}

void pids_free(struct pids *p)
{
	map_free(&p->given);
	map_free(&p->taken);
}
