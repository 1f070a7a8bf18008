// SPDX-License-Identifier: GPL-2.0-only
/* Looking at what a process maps: probes what is new, tells what of it cannot be seen. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#include "core/entry.h"
#include "discover/proc.h"
#include "live/facts.h"
#include "live/procs_in.h"
#include "live/stops.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"

struct look {
	struct procs *ps;
	struct proc *p;
	bool probed, failed;
	size_t n_probed;   /* files */
	char by_name[256]; /* path of one that may pass calls on to another, "" = none */
	struct map plain;  /* what was seen to have no functions; without memory it is seen again */
};

/* Nothing to be seen there the last time: a process may map hundreds of files. */
static bool is_plain(void *ctx, uint64_t key)
{
	struct look *l = ctx;

	if (!map_get(&l->p->plain, key))
		return false;
	map_set(&l->plain, key, 1);
	return true;
}

static void note_plain(struct look *l, const struct proc_file *pf)
{
	for (size_t i = 0; i < pf->n_text && !pf->unprobeable; i++)
		map_set(&l->plain, pf->text[i].key, 1);
}

/* Not for a reason that lies in the process: it ended, or mapped something else meanwhile. */
static bool is_failure(int err)
{
	return err && err != -ESRCH && err != -ENOENT && err != -ESTALE && err != -ENOEXEC;
}

/* What it is nobody knows: it may be the library. */
static void tell_unreadable(struct proc *p, const struct proc_file *pf)
{
	char text[LOG_ERROR_MAX];
	const char *why =
		pf->err == -EAGAIN ? "somebody has a lease on it" : log_error_text(pf->err, text);

	if (is_failure(pf->err) && !p->unreadable) {
		p->unreadable = true;
		log_warn("PID %d: cannot look into '%s': %s; calls of it are not seen", p->pid,
			 pf->path, why);
	} else {
		log_verbose("PID %d: cannot open '%s': %s", p->pid, pf->path, why);
	}
}

/* Probes are in the file; are they in what this process runs of it? */
static bool verify(struct look *l, const struct proc_file *pf)
{
	const char *why = NULL;
	size_t all, n = files_ineffective(l->ps->cfg.files, pf, &all, &why);

	if (!n)
		return true;
	if (!l->p->told) {
		l->p->told = true;
		log_warn("PID %d: %zu of %zu functions of '%s' cannot be seen: its code is mapped "
			 "%s",
			 l->p->pid, n, all, pf->path, why);
		facts_put(l->ps->rec, l->p->pid, FACT_UNPROBED, pf->path, strlen(pf->path));
	}
	return n < all;
}

static int look_at(void *ctx, const struct proc_file *pf)
{
	struct look *l = ctx;
	int state;

	if (pf->fd < 0) {
		tell_unreadable(l->p, pf);
		return 0;
	}
	state = files_look(l->ps->cfg.files, pf->fd, pf->path);
	if (state == FILE_PROBED && verify(l, pf)) {
		l->probed = true;
		l->n_probed++;
		if (files_by_name(l->ps->cfg.files, pf))
			snprintf(l->by_name, sizeof(l->by_name), "%s", pf->path);
	}
	if (state == FILE_PLAIN)
		note_plain(l, pf);
	l->failed |= state == FILE_FAILED;
	return state == -ENOMEM ? state : 0;
}

void procs_watch_stamps(struct procs *ps)
{
	bool due = false;

	for (size_t i = 0; i < ps->set.n; i++)
		due |= ps->set.v[i].settled && !ps->set.v[i].stamped;
	ps->stamps_due = due;
	files_watch_stamps(ps->cfg.files, due || !ps->any_settled);
}

void procs_nudge(const struct procs *ps, struct proc *p)
{
	if (p && ps->cfg.launched)
		p->nudge_until = clock_mono_ns() + NUDGE_NS;
}

/*
 * Where processes wait inside the probe only procs_let_go() and the probe itself change the state
 * of one: anything else would race with a process that loads and unloads meanwhile.
 */
void procs_settle(struct procs *ps, struct proc *p)
{
	p->settled = true;
	ps->any_settled = true;
	procs_watch_stamps(ps);
	if (!ps->cfg.bpf->waits && !stops_held(ps->cfg.bpf, p->pid)) {
		stops_forget(ps->cfg.bpf, p->pid);
		procs_nudge(ps, p); /* it may have been stopped between the two */
	}
}

/* The last probed file was unmapped: the next one must not be missed. */
static void unsettle(struct procs *ps, struct proc *p)
{
	p->settled = false;
	if (!ps->cfg.bpf->waits && ps->cfg.may_stop && !stops_held(ps->cfg.bpf, p->pid))
		stops_set(ps->cfg.bpf, p->pid, STOP_ARMED, BPF_NOEXIST);
}

static bool shows_stamp(const struct wire *w)
{
	const struct entry *e = entry_get(w->func);

	if (!e || !w->arg0)
		return false;
	if (w->kind == WIRE_RETURN)
		return e->op == OP_CREATE;
	return e->op == OP_MESSAGE || e->op == OP_MARK || e->op == OP_PUSH || e->op == OP_START;
}

void procs_call(struct procs *ps, const struct wire *w)
{
	struct proc *p;

	if (!ps->stamps_due || !shows_stamp(w))
		return;
	p = procset_find(&ps->set, (pid_t)w->tgid);
	if (!p || p->stamped)
		return;
	p->stamped = true;
	procs_watch_stamps(ps);
}

/* Without return probes that would slow all calls there is no proof either way. */
static void tell_doubled(const struct look *l)
{
	if (l->n_probed < 2 || !*l->by_name || l->p->doubled)
		return;
	l->p->doubled = true;
	log_warn("PID %d: '%s' looks the traced functions up by name: if it passes calls on to "
		 "another library, each is seen twice",
		 l->p->pid, l->by_name);
}

static int scan_maps(struct procs *ps, struct proc *p, struct look *l)
{
	int err;

	*l = (struct look){.ps = ps, .p = p};
	err = proc_scan_others(p->pid, is_plain, look_at, l);
	map_free(&p->plain);
	p->plain = l->plain;
	return err;
}

/*
 * Again when that probed a dynamic loader: the process may have passed it between, and what it
 * mapped there nobody tells.
 */
static int scan_all(struct procs *ps, struct proc *p, struct look *l)
{
	size_t before = files_loaders(ps->cfg.files);
	int err = scan_maps(ps, p, l);

	if (!err && files_loaders(ps->cfg.files) != before)
		err = scan_maps(ps, p, l);
	return err;
}

static void tell_unlooked(struct proc *p, int err)
{
	char why[LOG_ERROR_MAX];

	if (!is_failure(err) || p->unreadable)
		return;
	p->unreadable = true;
	log_warn("PID %d: cannot see what it maps: %s; calls of a library that is new are not seen",
		 p->pid, log_error_text(err, why));
}

/* Looks at what the process maps now and probes what is new. */
int procs_look(struct procs *ps, struct proc *p)
{
	struct look l;
	int err = scan_all(ps, p, &l);

	tell_unlooked(p, err);
	tell_doubled(&l);
	if (l.probed && !p->settled)
		procs_settle(ps, p);
	else if (!err && !l.probed && p->settled)
		unsettle(ps, p);
	if (l.failed && !p->failed && !l.probed) {
		p->failed = true;
		log_warn("PID %d maps a library whose functions cannot be probed", p->pid);
	}
	return err;
}

int procs_scan(struct procs *ps, pid_t pid, bool *probed)
{
	struct proc unknown = {.pid = pid, .told = true, .unreadable = ps->scan_told};
	struct look l;
	int err = scan_maps(ps, &unknown, &l);

	map_free(&unknown.plain);
	tell_unlooked(&unknown, err);
	ps->scan_told = unknown.unreadable;
	*probed = l.probed;
	return err;
}

void procs_know_exe(struct procs *ps, int exe_fd, enum stop_state state)
{
	stops_know_exe(ps->cfg.bpf, exe_fd, state);
}

void procs_know_exe_of(struct procs *ps, pid_t pid, enum stop_state state)
{
	_fd_ int fd = proc_open_exe(pid);

	if (fd >= 0)
		procs_know_exe(ps, fd, state);
}
