// SPDX-License-Identifier: GPL-2.0-only
#include "discover/plan.h"

#include <stdio.h>
#include <string.h>

#include "core/entry.h"
#include "util/str.h"

static bool wants_entry(const struct plan_opts *o, const struct entry *e)
{
	switch (e->use) {
	case USE_ALWAYS:
	case USE_BOTH:
		return true;
	case USE_STAMP:
	case USE_LIFECYCLE:
		return o->lifecycle;
	case USE_ALL:
		return o->all;
	}
	return false;
}

static bool wants_leave(const struct plan_opts *o, const struct entry *e)
{
	return e->use == USE_BOTH || e->use == USE_STAMP || (e->use == USE_ALWAYS && o->returns);
}

static void refuse(struct plan_why *why, const char *fmt, const char *arg)
{
	snprintf(why->why, sizeof(why->why), fmt, arg);
}

static void plan_func(const struct plan_opts *opts, const struct elf_scan *scan,
		      const struct entry *e, struct plan *plan)
{
	const struct sym *sym = &scan->funcs[e->func];
	struct plan_why *why = &plan->why[e->func];
	struct probe p = { .func = e->func, .offset = sym->offset, .cookie = e->cookie };

	if (sym->state != SYM_FOUND) {
		refuse(why, "%s", sym_state_text(sym->state));
		return;
	}
	if (sym->same_as >= 0) {
		/* Both would fire at each call of either: which one was meant cannot be known. */
		refuse(why, "shares its code with %s", entry_name((unsigned int)sym->same_as));
		return;
	}
	why->entry = wants_entry(opts, e);
	why->leave = wants_leave(opts, e);
	if (why->entry)
		plan->entry[plan->n_entry++] = p;
	if (why->leave)
		plan->leave[plan->n_leave++] = p;
	refuse(why, "%s",
	       !why->entry && !why->leave ? "not asked for" :
	       sym->ambiguous             ? "entry; of several versions the default one" :
					    "entry");
}

void plan_make(const struct plan_opts *opts, const struct elf_scan *scan, int fd, struct plan *plan)
{
	(void)fd;
	memset(plan, 0, sizeof(*plan));
	for (size_t i = 0; i < entry_count(); i++)
		plan_func(opts, scan, entry_get(i), plan);
}

static const char *kinds(const struct plan_why *w)
{
	return w->entry && w->leave ? "entry+return" :
	       w->entry             ? "entry" :
	       w->leave             ? "return" :
				      "none";
}

void plan_describe(const struct plan *plan, const struct elf_scan *scan, const char *path,
		   struct str *text)
{
	size_t absent = 0;

	for (size_t i = 0; i < entry_count(); i++) {
		const struct sym *sym = &scan->funcs[i];
		const struct plan_why *w = &plan->why[i];

		if (sym->state == SYM_ABSENT) {
			absent++;
			continue;
		}
		str_printf(text, "%s\t%s\t0x%llx\t%s\t%s\t%s\n", path, entry_name(i),
			   (unsigned long long)sym->offset + w->from_entry, kinds(w),
			   *w->insn ? w->insn : "-", w->why);
	}
	if (absent) {
		str_printf(text, "%s\tnot in this version:", path);
		for (size_t i = 0; i < entry_count(); i++)
			if (scan->funcs[i].state == SYM_ABSENT)
				str_printf(text, " %s", entry_name(i));
		str_putc(text, '\n');
	}
	if (scan->has_mstx)
		str_printf(text, "%s\tmstx: present, not traced\n", path);
}
