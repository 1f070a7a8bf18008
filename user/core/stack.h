/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The push stack of a thread, on which copies of the library that take turns have levels of their
 * own. Levels whose push was lost, or went beyond a limit, are known only
 * as a number: a run of them takes one slot. Pure.
 */
#ifndef ACLTAP_CORE_STACK_H
#define ACLTAP_CORE_STACK_H

#include "core/model.h"
#include "core/text.h"

/* Real levels of one thread. */
#define STACK_MAX 4096

/* A begun span: what its opening call left behind. */
struct open {
	uint64_t id, parent, start_ns;
	uint64_t gap;	   /* of the process at the opening call */
	struct text *text; /* one reference, NULL = none */
	uint32_t start_tid, depth, seq, category;
	uint32_t copy; /* push: of the library, 0 = not known */
	struct payload payload;
	int32_t ret;
	bool has_ret;
	bool uncertain; /* depends on records that were lost */
};

enum level_kind { LEVEL_REAL, LEVEL_LOST, LEVEL_LIMIT, LEVEL_NONE };

struct level {
	struct open o;	/* LEVEL_REAL; of others only copy */
	uint32_t count; /* levels in this run; 1 when real */
	enum level_kind kind;
};

struct stack {
	struct level *levels; /* n runs, outermost first */
	uint32_t n, cap;
	uint32_t depth; /* levels */
	uint32_t real;	/* of them real */
};

/* Takes over the text of *o; on -ENOMEM it stays with the caller. */
int stack_push(struct stack *s, const struct open *o);
/* count levels of a kind other than real. -ENOMEM. */
int stack_push_unknown(struct stack *s, enum level_kind kind, uint32_t copy, uint32_t count);
/*
 * Takes the innermost level of that copy: its kind (NONE: there is none), and *o when real. Levels
 * of other copies above it are moved out of it.
 */
enum level_kind stack_pop(struct stack *s, uint32_t copy, struct open *o);
/* Takes up to count innermost levels at once, all of one unknown kind; 0 when the top is real. */
uint32_t stack_drop_unknown(struct stack *s, uint32_t count);
/* The innermost level when it is real, else NULL. Valid until the next push. */
struct open *stack_top(struct stack *s);
/* Gives all texts back. */
void stack_free(struct stack *s);

#endif
