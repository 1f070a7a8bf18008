// SPDX-License-Identifier: GPL-2.0-only
#include "core/names.h"

#include <errno.h>
#include <stdlib.h>

#include "core/entry.h"
#include "core/state.h"
#include "core/text.h"

static struct text *text_in(const struct map *m, uint32_t category)
{
	return map_get_ptr(m, category);
}

static void texts_free(struct range *r, struct map *m)
{
	uint64_t key, val;
	size_t pos = 0;

	while (map_next(m, &pos, &key, &val))
		text_put((struct text *)(uintptr_t)val);
	r->n_names -= m->n;
	map_free(m);
}

static void table_put(struct range *r, struct name_table *t)
{
	if (!t || --t->refs)
		return;
	texts_free(r, &t->map);
	free(t);
}

static struct name_table *table_get(struct name_table *t)
{
	if (t)
		t->refs++;
	return t;
}

static void tell(struct range *r, const struct proc *p, uint32_t category, const char *text,
		 size_t len)
{
	const struct label l = {
		.pid = p->tgid,
		.id = category,
		.text = text,
		.len = (uint16_t)len,
	};

	if (!r->err)
		range_fail(r, r->next.category(r->next.ctx, &l));
}

/* ---- Setting and using --------------------------------------------------------------------- */

static void not_all_kept(const struct range *r)
{
	counts_add(r->counts, TALLY_LIMIT, entry_by_symbol("aclprofSetCategoryName")->func);
}

static void forget_inherited(struct range *r, struct names *n)
{
	if (!n->inherited)
		return;
	table_put(r, n->inherited);
	n->inherited = NULL;
	not_all_kept(r);
}

static void remember(struct range *r, struct names *n, uint32_t category, const struct message *m)
{
	struct text *old = text_in(&n->own, category), *text;
	int err;

	table_put(r, n->of_children);
	n->of_children = NULL;
	if (!old && (n->own.n >= CATEGORIES_MAX || r->n_names >= ALL_NAMES_MAX)) {
		n->full = true;
		forget_inherited(r, n); /* or it would be used in its place */
		return;
	}
	text = text_new(m->bytes, m->len, false, false);
	err = text ? map_set_ptr(&n->own, category, text) : -ENOMEM;
	if (err) {
		text_put(text);
		range_fail(r, err);
		return;
	}
	r->n_names += !old;
	text_put(old);
}

void names_set(struct range *r, struct proc *p, uint32_t category, const struct message *m)
{
	struct names *n = &p->names;
	const struct text *old = text_in(&n->own, category);

	if (!old && n->inherited)
		old = text_in(&n->inherited->map, category);
	if (old && text_same(old, m->bytes, m->len, false, false)) {
		names_use(r, p, category);
		return;
	}
	remember(r, n, category, m);
	tell(r, p, category, m->bytes, m->len);
}

void names_use(struct range *r, struct proc *p, uint32_t category)
{
	struct names *n = &p->names;
	const struct text *text = n->inherited ? text_in(&n->inherited->map, category) : NULL;

	if (!text || map_get(&n->told, category) || map_get(&n->own, category))
		return;
	if (r->n_names < ALL_NAMES_MAX) { /* else it is told again each time */
		range_fail(r, map_set(&n->told, category, 1));
		r->n_names++;
	}
	tell(r, p, category, text->bytes, text->len);
}

/* ---- Forks --------------------------------------------------------------------------------- */

static int add_texts(struct map *to, const struct map *from)
{
	uint64_t key, val;
	size_t pos = 0;

	while (map_next(from, &pos, &key, &val)) {
		struct text *text = (struct text *)(uintptr_t)val;
		int err;

		if (map_get(to, key))
			continue;
		err = map_set_ptr(to, key, text);
		if (err)
			return err;
		text_get(text);
	}
	return 0;
}

static struct name_table *table_new(struct range *r, const struct names *n)
{
	struct name_table *t = calloc(1, sizeof(*t));
	int err = t ? add_texts(&t->map, &n->own) : -ENOMEM;

	if (!err && n->inherited)
		err = add_texts(&t->map, &n->inherited->map);
	range_fail(r, err);
	if (!t)
		return NULL;
	t->refs = 1;
	r->n_names += t->map.n;
	return t;
}

void names_fork(struct range *r, struct proc *parent, struct proc *child)
{
	struct names *n = &parent->names;
	size_t need = n->own.n + (n->inherited ? n->inherited->map.n : 0);

	if (!n->of_children && !n->own.n)
		n->of_children = table_get(n->inherited);
	else if (!n->of_children && r->n_names + need <= ALL_NAMES_MAX && may_copy(r, need))
		n->of_children = table_new(r, n);
	child->names.inherited = table_get(n->of_children);
	child->names.full = n->full || (need && !n->of_children);
	if (child->names.full)
		not_all_kept(r);
}

void names_free(struct range *r, struct proc *p)
{
	struct names *n = &p->names;

	texts_free(r, &n->own);
	r->n_names -= n->told.n;
	map_free(&n->told);
	table_put(r, n->inherited);
	table_put(r, n->of_children);
	*n = (struct names){0};
}
