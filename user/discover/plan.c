// SPDX-License-Identifier: GPL-2.0-only
#include "discover/plan.h"

#include <linux/version.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/entry.h"
#include "discover/plt_names.h"
#include "discover/site.h"
#include "probe_config.h"
#include "util/log.h"
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
	if (o->no_returns)
		return false;
	return e->use == USE_BOTH || e->use == USE_STAMP || (e->use == USE_ALWAYS && o->returns);
}

/* What all functions of the file share. */
struct planner {
	const struct plan_opts *opts;
	const struct elf_scan *scan;
	int fd;
	uint32_t kernel;
	struct plt_names *names; /* NULL = not known */
	uint8_t code[SITE_MAX_CODE + 1];
	struct plan *plan;
};

static uint32_t running_kernel(void)
{
	struct utsname u;
	unsigned int a, b, c = 0;

	if (uname(&u) || sscanf(u.release, "%u.%u.%u", &a, &b, &c) < 2)
		return 0;
	return KERNEL_VERSION(a & 0xff, b & 0xff, c > 255 ? 255 : c);
}

/* Leading arguments that the programs read: the cookie names each by its number. */
static unsigned int args_read(uint64_t cookie)
{
	const unsigned int args[] = {COOKIE_ARG0(cookie), COOKIE_ARG1(cookie),
				     COOKIE_MSG_ARG(cookie), COOKIE_OUT(cookie)};
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++)
		n = args[i] > n ? args[i] : n;
	return n;
}

/* Returns whether the kernel emulates the instruction there. */
static bool choose_site(struct planner *pl, const struct entry *e, enum site_purpose purpose,
			unsigned int args, struct plan_site *to)
{
	const struct sym *sym = &pl->scan->funcs[e->func];
	size_t size = sym->size < sizeof(pl->code) ? sym->size : sizeof(pl->code);
	bool readable = pread(pl->fd, pl->code, size, (off_t)sym->offset) == (ssize_t)size;
	struct site_request rq = {.code = readable ? pl->code : NULL,
				  .size = size,
				  .vaddr = sym->vaddr,
				  .machine = pl->scan->machine,
				  .kernel = pl->kernel,
				  .purpose = purpose,
				  .args = args,
				  .force_entry = pl->opts->force_entry,
				  .target_name = pl->names ? plt_names_find : NULL,
				  .ctx = pl->names};
	struct site site;

	site_plan(&rq, &site);
	to->used = true;
	to->from_entry = site.offset;
	to->cost_ns = site.cost_ns;
	snprintf(to->insn, sizeof(to->insn), "%s", site.insn);
	snprintf(to->why, sizeof(to->why), "%s", site.why);
	return site.emulated;
}

/*
 * A function that is probed at entry and at return: one breakpoint does for both where the return
 * probe's site still has the arguments.
 */
static bool choose_common(struct planner *pl, const struct entry *e, struct plan_why *why)
{
	if (!choose_site(pl, e, SITE_RETURN, args_read(e->cookie), &why->leave))
		return false;
	why->entry = why->leave;
	why->entry.cost_ns = 0;
	snprintf(why->entry.why, sizeof(why->entry.why), "the return probe's breakpoint");
	return true;
}

/* Ranges of one copy of the library are not those of another. */
static bool needs_copy(const struct entry *e)
{
	return e->op == OP_PUSH || e->op == OP_POP || e->op == OP_START || e->op == OP_STOP;
}

static struct probe probe_at(const struct planner *pl, const struct entry *e,
			     const struct plan_site *site)
{
	const struct sym *sym = &pl->scan->funcs[e->func];
	uint64_t addr = sym->vaddr + site->from_entry;
	bool told = needs_copy(e) && addr <= UINT32_MAX;

	return (struct probe){.func = e->func,
			      .offset = sym->offset + site->from_entry,
			      .cookie = COOKIE_WITH_ADDR(e->cookie, told ? addr : 0)};
}

/* Another traced function at the same address, or -1. */
static int shares_code(const struct elf_scan *scan, unsigned int func)
{
	if (scan->funcs[func].same_as >= 0)
		return scan->funcs[func].same_as;
	for (unsigned int i = func + 1; i < entry_count(); i++)
		if (scan->funcs[i].same_as == (int)func)
			return (int)i;
	return -1;
}

static void plan_func(struct planner *pl, const struct entry *e)
{
	const struct sym *sym = &pl->scan->funcs[e->func];
	struct plan *plan = pl->plan;
	struct plan_why *why = &plan->why[e->func];
	bool entry = wants_entry(pl->opts, e), leave = wants_leave(pl->opts, e);
	int other = shares_code(pl->scan, e->func);

	if (sym->state != SYM_FOUND) {
		snprintf(why->why, sizeof(why->why), "%s", sym_state_text(sym->state));
		return;
	}
	if (other >= 0) {
		/* A probe would fire at each call of either: which one was meant cannot be known.
		 */
		snprintf(why->why, sizeof(why->why), "shares its code with %s",
			 entry_name((unsigned int)other));
		return;
	}
	if (pl->names && plt_names_forwards(pl->names, sym->vaddr, e->symbol)) {
		/* Its calls are seen there; here they would be counted once more. */
		snprintf(why->why, sizeof(why->why),
			 "only jumps to the same function in another file");
		plan->n_forwards++;
		return;
	}
	if (sym->ambiguous)
		snprintf(why->why, sizeof(why->why), "of several versions the default one");
	else if (!entry && !leave)
		snprintf(why->why, sizeof(why->why), "not asked for");
	bool common = entry && leave && choose_common(pl, e, why);

	if (entry) {
		if (!common)
			choose_site(pl, e, SITE_ENTRY, args_read(e->cookie), &why->entry);
		plan->entry[plan->n_entry++] = probe_at(pl, e, &why->entry);
	}
	if (leave) {
		if (!common)
			choose_site(pl, e, SITE_RETURN, 0, &why->leave);
		plan->leave[plan->n_leave++] = probe_at(pl, e, &why->leave);
	}
}

/* Uses what other functions set or end. */
static bool is_begin(enum op op)
{
	return op == OP_MARK || op == OP_PUSH || op == OP_START;
}

void plan_make(const struct plan_opts *opts, const struct elf_scan *scan, int fd, struct plan *plan)
{
	_plt_names_ struct plt_names *names = NULL;
	struct planner pl = {.opts = opts, .scan = scan, .fd = fd, .plan = plan};

	memset(plan, 0, sizeof(*plan));
	pl.kernel = opts->kernel ? opts->kernel : running_kernel();
	/* Without the names of what it calls a function has fewer sites, and still its entry. */
	if (scan->n_found && !plt_names_load(fd, &names))
		pl.names = names;
	/*
	 * In the order in which the kernel puts them into place, in a process that may run: an end
	 * whose begin was not seen is an orphan, a begin whose end was not seen looks like a range.
	 */
	for (int begins = 0; begins < 2; begins++)
		for (size_t i = 0; i < entry_count(); i++)
			if (is_begin(entry_get(i)->op) == begins)
				plan_func(&pl, entry_get(i));
}

static void describe_probe(struct str *text, const char *path, unsigned int func,
			   const struct plan_why *w, const struct sym *sym, bool leave)
{
	const struct plan_site *s = leave ? &w->leave : &w->entry;

	str_printf(text, "%s\t%s\t0x%llx\t%s\t%s\tabout %u ns\t%s%s%s\n", path, entry_name(func),
		   (unsigned long long)sym->offset + s->from_entry, leave ? "return" : "entry",
		   s->insn, s->cost_ns, s->why, *w->why ? "; " : "", w->why);
}

static void describe_func(struct str *text, const char *path, unsigned int func,
			  const struct plan_why *w, const struct sym *sym)
{
	if (w->entry.used)
		describe_probe(text, path, func, w, sym, false);
	if (w->leave.used)
		describe_probe(text, path, func, w, sym, true);
	if (!w->entry.used && !w->leave.used)
		str_printf(text, "%s\t%s\t0x%llx\tnone\t-\t-\t%s\n", path, entry_name(func),
			   (unsigned long long)sym->offset, w->why);
}

void plan_describe(const struct plan *plan, const struct elf_scan *scan, const char *path,
		   struct str *text)
{
	char safe[PATH_MAX];
	size_t absent = 0;

	path = log_safe(path, strlen(path), safe, sizeof(safe)); /* the target's text */
	for (unsigned int i = 0; i < entry_count(); i++) {
		if (scan->funcs[i].state == SYM_ABSENT)
			absent++;
		else
			describe_func(text, path, i, &plan->why[i], &scan->funcs[i]);
	}
	if (absent) {
		str_printf(text, "%s\tnot in this version:", path);
		for (unsigned int i = 0; i < entry_count(); i++)
			if (scan->funcs[i].state == SYM_ABSENT)
				str_printf(text, " %s", entry_name(i));
		str_putc(text, '\n');
	}
	if (scan->has_mstx)
		str_printf(text, "%s\tmstx: present, not traced\n", path);
}
