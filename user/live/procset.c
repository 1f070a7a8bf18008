// SPDX-License-Identifier: GPL-2.0-only
#include "live/procset.h"

#include <stdlib.h>

#include "discover/proc.h"
#include "util/grow.h"

struct proc *procset_find(const struct procset *s, pid_t pid)
{
	uint64_t at = map_get(&s->at, (uint64_t)pid);

	return at ? &s->v[at - 1] : NULL;
}

struct proc *procset_add(struct procset *s, pid_t pid)
{
	struct proc *p = procset_find(s, pid);

	if (p)
		return p;
	if (grow_table(s->v, s->n, s->cap, 16) || map_set(&s->at, (uint64_t)pid, s->n + 1))
		return NULL;
	p = &s->v[s->n++];
	*p = (struct proc){.pid = pid};
	proc_start_time(pid, &p->start_time);
	return p;
}

void procset_drop(struct procset *s, struct proc *p)
{
	map_del(&s->at, (uint64_t)p->pid);
	map_free(&p->plain);
	*p = s->v[--s->n];
	if (p < s->v + s->n)
		map_set(&s->at, (uint64_t)p->pid,
			(uint64_t)(p - s->v) + 1); /* replaces: no memory */
}

void procset_free(struct procset *s)
{
	for (size_t i = 0; i < s->n; i++)
		map_free(&s->v[i].plain);
	free(s->v);
	map_free(&s->at);
	*s = (struct procset){0};
}
