// SPDX-License-Identifier: GPL-2.0-only
#include "sink/versions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/intern.h"
#include "util/cleanup.h"
#include "util/grow.h"
#include "util/hash.h"

/* Of a PID, or of a program and a category: its number now, 0 = none. */
struct now {
	uint64_t key;
	uint32_t number;
};

#define PROCESS_BITS 24
#define NAMED 256 /* so many of a process are looked at for its names */

void versions_init(struct versions *f)
{
	*f = (struct versions){.pids = IDS_OF(struct now), .categories = IDS_OF(struct now)};
}

void versions_free(struct versions *f)
{
	for (size_t i = 0; i < f->n_processes; i++) {
		free(f->processes[i].name);
		free(f->processes[i].host);
	}
	free(f->processes);
	for (size_t i = 0; i < f->n_names; i++)
		free(f->names[i]);
	free(f->names);
	intern_free(f->numbers);
	ids_free(&f->pids);
	ids_free(&f->categories);
}

/* ---- Processes ----------------------------------------------------------------------------- */

static struct version *process_at(const struct versions *f, uint32_t number)
{
	return number ? &f->processes[number - 1] : NULL;
}

static bool texts_differ(const char *known, const char *told)
{
	return known && told && *told && strcmp(known, told) != 0;
}

static bool numbers_differ(uint64_t known, uint64_t told)
{
	return known && told && known != told;
}

static uint64_t exe_of(const struct process *p)
{
	return p->exe && *p->exe ? hash_str(p->exe) : 0;
}

/*
 * Another process with that PID, or one that runs another program: nothing known holds on. Where
 * records of that were lost, what contradicts tells.
 */
static bool is_other(const struct version *known, const struct process *told)
{
	return numbers_differ(known->image, told->image) ||
	       numbers_differ(known->ppid, told->ppid) ||
	       numbers_differ(known->nspid, told->nspid) ||
	       numbers_differ(known->exe, exe_of(told)) || texts_differ(known->host, told->host) ||
	       (known->rank >= 0 && told->rank >= 0 && known->rank != told->rank);
}

/* What is known of a process and not told now. */
static void fill(struct process *told, const struct version *known)
{
	if (!*told->name && known->name)
		told->name = known->name;
	if ((!told->host || !*told->host) && known->host)
		told->host = known->host;
	if (told->rank < 0)
		told->rank = known->rank;
	if (told->local_rank < 0)
		told->local_rank = known->local_rank;
	told->image = told->image ?: known->image;
	told->ppid = told->ppid ?: known->ppid;
	told->nspid = told->nspid ?: known->nspid;
}

static int copy_text(const char *text, char **copy)
{
	*copy = text && *text ? strdup(text) : NULL;
	return text && *text && !*copy ? -ENOMEM : 0;
}

/* Makes of *p what was told; its texts may be those of told. */
static int set(struct version *p, const struct process *told)
{
	_free_ char *name = NULL, *host = NULL;
	uint64_t exe = exe_of(told) ?: p->exe;
	int err = copy_text(told->name, &name);

	err = err ?: copy_text(told->host, &host);
	if (err)
		return err;
	free(p->name);
	free(p->host);
	*p = (struct version){.name = take_ptr(name),
			      .host = take_ptr(host),
			      .exe = exe,
			      .pid = told->pid,
			      .ppid = told->ppid,
			      .nspid = told->nspid,
			      .host_pid = told->host_pid ?: told->pid,
			      .source = told->source,
			      .image = told->image,
			      .rank = told->rank,
			      .local_rank = told->local_rank,
			      .program = p->program,
			      .before = p->before,
			      .used = p->used};
	return 0;
}

/* A version of its own, which begins as nothing. NULL: no memory, or (with *err 0) too many. */
static struct version *process_new(struct versions *f, struct now *now, int *err)
{
	*err = 0;
	if (f->n_processes == VERSIONS_PROCESSES) {
		now->number = 0;
		return NULL;
	}
	if (grow_table(f->processes, f->n_processes, f->cap, 16)) {
		*err = -ENOMEM;
		return NULL;
	}
	f->processes[f->n_processes] = (struct version){.before = now->number};
	now->number = (uint32_t)++f->n_processes;
	return process_at(f, now->number);
}

int versions_process(struct versions *f, struct process *told)
{
	struct now *now = ids_get(&f->pids, told->pid);
	struct version *p = now ? process_at(f, now->number) : NULL;
	uint32_t program = p ? p->program : 0;
	bool other = !p || is_other(p, told);
	uint64_t exe = p && !other ? p->exe : 0;
	int err = now ? 0 : -ENOMEM;

	if (err)
		return err;
	if (!other)
		fill(told, p);
	if (!p || (p->used && (other || texts_differ(p->name, told->name))))
		p = process_new(f, now, &err);
	if (!p)
		return err;
	p->exe = exe;
	p->program = other ? ++f->programs : program;
	err = set(p, told);
	told->name = p->name ?: "";
	told->host = p->host ?: "";
	return err;
}

const struct version *versions_last(const struct versions *f, uint32_t pid)
{
	const struct now *now = ids_find(&f->pids, pid);

	return now ? process_at(f, now->number) : NULL;
}

/* Is it one of a list with ", " between them? */
static bool is_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ','))
			return true;
	return false;
}

const char *versions_names(const struct versions *f, uint32_t pid, char buf[VERSIONS_NAMES_MAX])
{
	const struct version *p = versions_last(f, pid);
	char *at = buf + VERSIONS_NAMES_MAX - 1;
	const char *between = "";
	unsigned int left = NAMED;

	*at = '\0';
	for (; p && left; p = process_at(f, p->before), left--) {
		size_t n = p->name ? strlen(p->name) : 0, room = (size_t)(at - buf);

		if (!n || (*at && !p->used) || is_listed(at, p->name))
			continue;
		if (n + strlen(between) > room)
			break;
		at -= strlen(between);
		memcpy(at, between, strlen(between));
		at -= n;
		memcpy(at, p->name, n);
		between = ", ";
	}
	return at;
}

struct process versions_all(const struct versions *f, const struct process *p,
			    char buf[VERSIONS_NAMES_MAX])
{
	struct process all = *p;

	all.name = versions_names(f, p->pid, buf);
	return all;
}

/* ---- Categories ---------------------------------------------------------------------------- */

/* The number of a text, 0 = there are too many. */
static int number_of(struct versions *f, const char *s, size_t n, uint32_t *number)
{
	int err = f->numbers ? 0 : intern_new(VERSIONS_NAMES, VERSIONS_BYTES, &f->numbers);
	char *copy;

	if (err)
		return err;
	*number = (uint32_t)intern_find(f->numbers, s, n);
	if (*number)
		return 0;
	if (grow_table(f->names, f->n_names, f->names_cap, 16))
		return -ENOMEM;
	copy = strndup(s, n);
	err = copy ? intern_add(f->numbers, s, n, f->n_names + 1) : -ENOMEM;
	if (err) {
		free(copy);
		return err == -ENOSPC ? 0 : err;
	}
	f->names[f->n_names++] = copy;
	*number = (uint32_t)f->n_names;
	return 0;
}

int versions_category(struct versions *f, const struct label *l)
{
	struct process nobody = {.pid = l->pid, .name = "", .rank = -1, .local_rank = -1};
	const struct version *p = versions_last(f, l->pid);
	int err = p ? 0 : versions_process(f, &nobody);
	struct now *now;

	p = p ?: versions_last(f, l->pid);
	if (err || !p)
		return err;
	now = ids_get(&f->categories, IDS_KEY(p->program, l->id));
	return now ? number_of(f, l->text, l->len, &now->number) : -ENOMEM;
}

/* ---- Of a span ----------------------------------------------------------------------------- */

uint64_t versions_of(struct versions *f, const struct span *sp)
{
	const struct now *now = ids_find(&f->pids, sp->pid);
	struct version *p = now ? process_at(f, now->number) : NULL;
	uint64_t of = p ? now->number : 0;

	if (p)
		p->used = true;
	if (!p || !f->categories.count || sp->domain || sp->kind == SPAN_MARKER_EX)
		return of;
	now = ids_find(&f->categories, IDS_KEY(p->program, sp->category));
	return now ? (uint64_t)now->number << PROCESS_BITS | of : of;
}

uint32_t versions_number(uint64_t of)
{
	return of & VERSIONS_PROCESSES;
}

const struct version *versions_owner(const struct versions *f, uint64_t of)
{
	return process_at(f, versions_number(of));
}

const char *versions_category_name(const struct versions *f, uint64_t of)
{
	return of >> PROCESS_BITS ? f->names[(of >> PROCESS_BITS) - 1] : NULL;
}
