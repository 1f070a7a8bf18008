// SPDX-License-Identifier: GPL-2.0-only
#include "core/stack.h"

#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/*
 * Unknown runs of both kinds can alternate without a real level between them. Beyond this many
 * runs the kinds are no longer kept apart, so that memory stays bounded.
 */
#define RUNS_MAX (4 * STACK_MAX)

int stack_push(struct stack *s, const struct open *o)
{
	int err = grow_table(s->levels, s->n, s->cap, 4);

	if (err)
		return err;
	s->levels[s->n++] = (struct level){.o = *o, .count = 1, .kind = LEVEL_REAL};
	s->depth++;
	s->real++;
	return 0;
}

int stack_push_unknown(struct stack *s, enum level_kind kind, uint32_t copy, uint32_t count)
{
	struct level *top = s->n ? &s->levels[s->n - 1] : NULL;
	int err;

	if (!count)
		return 0;
	if (top && top->kind != LEVEL_REAL &&
	    ((top->kind == kind && top->o.copy == copy) || s->n >= RUNS_MAX)) {
		top->count += count;
	} else {
		err = grow_table(s->levels, s->n, s->cap, 4);
		if (err)
			return err;
		s->levels[s->n++] = (struct level){.o.copy = copy, .count = count, .kind = kind};
	}
	s->depth += count;
	return 0;
}

static bool is_of(const struct level *l, uint32_t copy)
{
	return !copy || !l->o.copy || l->o.copy == copy;
}

/* What goes on when a level of another copy ends below it is no longer in that. */
static void move_out(struct stack *s, uint32_t from, const struct level *l)
{
	for (uint32_t i = from; i < s->n; i++) {
		s->levels[i].o.depth--;
		if (l->kind == LEVEL_REAL && s->levels[i].o.parent == l->o.id)
			s->levels[i].o.parent = l->o.parent;
	}
}

enum level_kind stack_pop(struct stack *s, uint32_t copy, struct open *o)
{
	enum level_kind kind;
	uint32_t at = s->n;

	while (at && !is_of(&s->levels[at - 1], copy))
		at--;
	if (!at--)
		return LEVEL_NONE;
	kind = s->levels[at].kind;
	move_out(s, at + 1, &s->levels[at]);
	if (kind == LEVEL_REAL) {
		*o = s->levels[at].o;
		s->real--;
	}
	s->depth--;
	if (--s->levels[at].count)
		return kind;
	s->n--;
	memmove(&s->levels[at], &s->levels[at + 1], (s->n - at) * sizeof(*s->levels));
	return kind;
}

uint32_t stack_drop_unknown(struct stack *s, uint32_t count)
{
	struct level *top = s->n ? &s->levels[s->n - 1] : NULL;

	if (!top || top->kind == LEVEL_REAL)
		return 0;
	if (count > top->count)
		count = top->count;
	top->count -= count;
	s->depth -= count;
	if (!top->count)
		s->n--;
	return count;
}

struct open *stack_top(struct stack *s)
{
	if (!s->n || s->levels[s->n - 1].kind != LEVEL_REAL)
		return NULL;
	return &s->levels[s->n - 1].o;
}

void stack_free(struct stack *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->levels[i].kind == LEVEL_REAL)
			text_put(s->levels[i].o.text);
	free(s->levels);
	*s = (struct stack){0};
}
