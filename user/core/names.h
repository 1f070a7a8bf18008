/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of categories, by process. One that the process sets is told at once. Those of its parent
 * are told when a span needs them: forked children share them, and most use few. Internal to range.
 */
#ifndef ACLTAP_CORE_NAMES_H
#define ACLTAP_CORE_NAMES_H

#include "core/decode.h"
#include "util/map.h"

struct range;
struct proc;

/* Never changed once it is made; shared by reference count. */
struct name_table {
	uint32_t refs;
	struct map map; /* category -> struct text */
};

struct names {
	struct map own;			/* category -> struct text: set by the process, told */
	struct name_table *inherited;	/* own ones come first; NULL = none */
	struct map told;		/* category -> 1, of the inherited */
	struct name_table *of_children; /* both; NULL until a child needs it, or there are none */
	bool full;			/* some were not remembered: children lack them */
};

/* Tells a name, unless it is already told. */
void names_set(struct range *r, struct proc *p, uint32_t category, const struct message *m);
/* Before a span of that category. */
void names_use(struct range *r, struct proc *p, uint32_t category);
/* What the parent has at the fork is the child's, which has none yet. */
void names_fork(struct range *r, struct proc *parent, struct proc *child);
/* None are set any more. */
void names_free(struct range *r, struct proc *p);

#endif
