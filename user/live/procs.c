// SPDX-License-Identifier: GPL-2.0-only
#include "live/procs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/entry.h"
#include "discover/proc.h"
#include "live/facts.h"
#include "live/guardian.h"
#include "live/prelook.h"
#include "live/stops.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/unit.h"

#define NUDGE_NS 2000000000ull

struct proc {
	pid_t pid;
	uint64_t start_time;  /* tells a re-used PID */
	bool settled;	      /* maps a probed file */
	bool stamped;	      /* has shown a stamp that is not NULL */
	bool failed;	      /* maps one that cannot be probed: told once */
	bool told;	      /* that some of what it maps has no effective probes */
	uint64_t nudge_until; /* CLOCK_MONOTONIC: a child was stopped; it may stop itself over it */
};

struct procs {
	struct procs_config cfg;
	struct recorder *rec;
	struct proc *v;
	size_t n, cap;
	bool any_settled;
	uint64_t looked_ns; /* when all were looked at last, or tracing began */
	uint32_t unseen;    /* changes that found no room in the ring, as of the last look */
	uint32_t expired;   /* waits that nobody answered in time, as of the last look */
	bool stamps_due;    /* some settled process has not shown a stamp; see watch_stamps() */
};

int procs_new(const struct procs_config *cfg, struct procs **out)
{
	struct procs *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return -ENOMEM;
	ps->cfg = *cfg;
	ps->looked_ns = clock_mono_ns();
	*out = ps;
	return 0;
}

void procs_free(struct procs *ps)
{
	if (!ps)
		return;
	free(ps->v);
	free(ps);
}

void procs_set_recorder(struct procs *ps, struct recorder *rec)
{
	ps->rec = rec;
}

/* ---- the set ---- */

static struct proc *find(const struct procs *ps, pid_t pid)
{
	for (size_t i = 0; i < ps->n; i++)
		if (ps->v[i].pid == pid)
			return &ps->v[i];
	return NULL;
}

static struct proc *add(struct procs *ps, pid_t pid)
{
	struct proc *p = find(ps, pid);

	if (p)
		return p;
	if (ps->n == ps->cap) {
		size_t cap = ps->cap ? 2 * ps->cap : 16;

		p = realloc(ps->v, cap * sizeof(*p));
		if (!p)
			return NULL;
		ps->v = p;
		ps->cap = cap;
	}
	p = &ps->v[ps->n++];
	*p = (struct proc){.pid = pid};
	proc_start_time(pid, &p->start_time);
	return p;
}

static void drop(struct procs *ps, struct proc *p)
{
	*p = ps->v[--ps->n];
}

/* ---- looking at mappings ---- */

struct look {
	struct procs *ps;
	struct proc *p;
	bool probed, failed;
};

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
		log_verbose("PID %d: cannot open '%s': %s", l->p->pid, pf->path,
			    strerror(-pf->err));
		return 0;
	}
	state = files_look(l->ps->cfg.files, pf->fd, pf->path);
	l->probed |= state == FILE_PROBED && verify(l, pf);
	l->failed |= state == FILE_FAILED;
	return state == -ENOMEM ? state : 0;
}

static void watch_stamps(struct procs *ps)
{
	bool due = false;

	for (size_t i = 0; i < ps->n; i++)
		due |= ps->v[i].settled && !ps->v[i].stamped;
	ps->stamps_due = due;
	files_watch_stamps(ps->cfg.files, due || !ps->any_settled);
}

/*
 * Where processes wait inside the probe only let_go() and the probe itself change the state of one:
 * anything else would race with a process that loads and unloads meanwhile.
 */
static void settle(struct procs *ps, struct proc *p)
{

	p->settled = true;
	ps->any_settled = true;
	watch_stamps(ps);
	if (!ps->cfg.bpf->waits && !stops_held(ps->cfg.bpf, p->pid))
		stops_forget(ps->cfg.bpf, p->pid);
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
	p = find(ps, (pid_t)w->tgid);
	if (!p || p->stamped)
		return;
	p->stamped = true;
	watch_stamps(ps);
}

/* Looks at what the process maps now and probes what is new. */
static int look(struct procs *ps, struct proc *p)
{
	struct look l = {.ps = ps, .p = p};
	int err = proc_scan_maps(p->pid, look_at, &l);

	if (l.probed && !p->settled)
		settle(ps, p);
	else if (!err && !l.probed && p->settled)
		unsettle(ps, p);
	if (l.failed && !p->failed && !l.probed) {
		p->failed = true;
		log_warn("PID %d maps a library whose functions cannot be probed", p->pid);
	}
	return err;
}

void procs_know_exe(struct procs *ps, int exe_fd, enum stop_state state)
{
	stops_know_exe(ps->cfg.bpf, exe_fd, state);
}

static void know_exe_of(struct procs *ps, pid_t pid, enum stop_state state)
{
	_fd_ int fd = proc_open_exe(pid);

	if (fd >= 0)
		procs_know_exe(ps, fd, state);
}

/* ---- joining ---- */

static int trace(struct procs *ps, pid_t pid, struct proc **out)
{
	struct proc *p = add(ps, pid);
	int err = p ? bpf_trace_process(ps->cfg.bpf, (uint32_t)pid) : -ENOMEM;

	if (err)
		return log_err(err, "cannot trace PID %d", pid);
	if (ps->cfg.may_stop)
		stops_set(ps->cfg.bpf, pid, STOP_ARMED, BPF_ANY);
	*out = p;
	return 0;
}

static int attach_one(struct procs *ps, pid_t pid)
{
	struct proc *p = NULL;
	int err = trace(ps, pid, &p);

	if (err)
		return err;
	err = look(ps, p);
	if (err) {
		bpf_untrace_process(ps->cfg.bpf, (uint32_t)pid);
		drop(ps, find(ps, pid));
		return err;
	}
	facts_write(ps->rec, pid);
	return 0;
}

static int attach_descendant(void *ctx, pid_t pid)
{
	struct procs *ps = ctx;

	if (!find(ps, pid))
		attach_one(ps, pid); /* it may have ended meanwhile */
	return 0;
}

int procs_attach(struct procs *ps, pid_t pid)
{
	size_t before;
	pid_t tgid;
	int err;

	if (!proc_tgid(pid, &tgid) && tgid != pid) {
		log_fail(-EINVAL, "cannot attach to %d: it is a thread of PID %d", pid, tgid);
		log_hint("-p %d traces all threads of the process", tgid);
		return -EINVAL;
	}
	if (pid == getpid())
		return log_fail(-EINVAL, "cannot attach to PID %d: that is acltap itself", pid);
	if (proc_is_kernel_thread(pid))
		return log_fail(-EINVAL, "cannot attach to PID %d: it is a kernel thread", pid);
	err = attach_one(ps, pid);
	if (err)
		return log_err(err, "cannot attach to PID %d", pid);
	prelook_root(ps->cfg.files, pid);
	if (!ps->cfg.follow)
		return 0;
	do { /* forks are followed from now on, so this ends */
		before = ps->n;
		proc_for_each_descendant(pid, attach_descendant, ps);
	} while (ps->n != before);
	return 0;
}

int procs_add_held(struct procs *ps, pid_t pid)
{
	struct proc *p;

	return trace(ps, pid, &p);
}

/* ---- their life ---- */

/*
 * su, script and the like stop themselves when their child is stopped, and go on only when they are
 * told to. Those that do so soon after we stopped a descendant are continued too.
 */
static void watch_parents(struct procs *ps, pid_t pid)
{
	uint64_t until = clock_mono_ns() + NUDGE_NS;
	struct proc *p;
	pid_t ppid;

	for (int depth = 0; depth < 64 && !proc_ppid(pid, &ppid); depth++, pid = ppid) {
		p = find(ps, ppid);
		if (!p)
			return;
		p->nudge_until = until;
	}
}

/* A SIGSTOP of ours may be on its way to it: whoever is stopped soon is continued. */
static void nudge(const struct procs *ps, struct proc *p, bool signalled)
{
	if (p && ps->cfg.launched && signalled)
		p->nudge_until = clock_mono_ns() + NUDGE_NS;
}

/*
 * Lets a process that was held for us go on. One that was stopped by a signal keeps its entry until
 * after SIGCONT, so that the guardian can take over at any moment; it is armed before, since the
 * process may be stopped again at once.
 */
static void let_go(struct procs *ps, pid_t pid, enum stop_state how, bool expired)
{
	struct proc *p = find(ps, pid);
	bool settled = p && p->settled;

	if (how == STOP_WAIT)
		how = stops_held(ps->cfg.bpf,
				 pid); /* looking took a while: it may be stopped by now */
	if (how != STOP_SENT) {
		stops_set(ps->cfg.bpf, pid, settled ? STOP_SETTLED : STOP_ARMED, BPF_EXIST);
		nudge(ps, p, expired);
		return;
	}
	if (!settled || ps->cfg.bpf->waits)
		stops_set(ps->cfg.bpf, pid, settled ? STOP_SETTLED : STOP_ARMED, BPF_EXIST);
	kill(pid, SIGCONT);
	nudge(ps, p,
	      true); /* the signal may come after ours: the map is written before it is sent */
	watch_parents(ps, pid);
	if (settled && !ps->cfg.bpf->waits)
		stops_forget(ps->cfg.bpf, p->pid);
}

/* A library that came while its process ran on: what was called meanwhile was not seen. */
static void tell_window(struct procs *ps, pid_t pid, uint64_t loaded_ns)
{
	uint64_t window = clock_mono_ns() - (loaded_ns ? loaded_ns : ps->looked_ns);
	char text[UNIT_MAX];

	log_info("PID %d loaded the library while it ran: calls in the first %s are not seen", pid,
		 unit_fmt_duration(text, window));
	facts_put(ps->rec, pid, FACT_UNPROBED, text, strlen(text));
}

/* Attached processes go on when nobody answers; launched ones are stopped by a signal then. */
static bool tell_expired(struct procs *ps, pid_t pid)
{
	uint32_t expired = __atomic_load_n(&ps->cfg.bpf->control->expired, __ATOMIC_RELAXED);

	if (expired == ps->expired)
		return false;
	ps->expired = expired;
	if (!ps->cfg.launched)
		log_warn("PID %d waited for its probes too long and went on: calls may not be seen",
			 pid);
	return true;
}

/* One whose fork record was lost is known to the programs only. */
static struct proc *find_traced(struct procs *ps, pid_t pid)
{
	struct proc *p = find(ps, pid);
	uint32_t tgid = (uint32_t)pid;
	struct proc_state state;

	if (p || bpf_map_lookup_elem(ps->cfg.bpf->procs_fd, &tgid, &state))
		return p;
	p = add(ps, pid);
	facts_write(ps->rec, pid);
	return p;
}

static void changed(struct procs *ps, pid_t pid, uint64_t loaded_ns)
{
	struct proc *p = find_traced(ps, pid);
	enum stop_state how = stops_held(ps->cfg.bpf, pid);
	size_t before = files_probed(ps->cfg.files);
	bool expired;

	if (p)
		look(ps, p);
	expired = tell_expired(ps, pid);
	if (how)
		let_go(ps, pid, how, expired);
	else if (files_probed(ps->cfg.files) != before)
		tell_window(ps, pid, loaded_ns);
}

static void forked(struct procs *ps, const struct wire *w)
{
	pid_t pid = (pid_t)w->arg0;
	struct proc *parent = find(ps, (pid_t)w->tgid), *p;
	bool settled = parent && parent->settled;

	p = add(ps, pid);
	if (p && settled) {
		p->settled = true; /* the mappings are copied */
		watch_stamps(ps);
	}
	facts_write(ps->rec, pid);
}

static void executed(struct procs *ps, const struct wire *w)
{
	struct proc *p = find_traced(ps, (pid_t)w->tgid);
	enum stop_state how = stops_held(ps->cfg.bpf, (pid_t)w->tgid);
	size_t before = files_probed(ps->cfg.files);

	if (!p)
		return;
	p->settled = false;
	p->stamped = false;
	p->failed = false;
	look(ps, p);
	if (how) {
		/* Its loader is probed now; when it starts again, nothing has to be waited for. */
		know_exe_of(ps, p->pid, STOP_QUIET);
		let_go(ps, p->pid, how, tell_expired(ps, p->pid));
	} else if (files_probed(ps->cfg.files) != before) {
		tell_window(ps, p->pid, w->time_ns);
	}
	facts_write(ps->rec, p->pid);
}

void procs_life(struct procs *ps, const struct wire *w, const char *msg)
{
	struct proc *p;

	(void)msg;
	switch (w->kind) {
	case WIRE_FORK:
		forked(ps, w);
		break;
	case WIRE_EXEC:
		executed(ps, w);
		break;
	case WIRE_LOADED:
		changed(ps, (pid_t)w->tgid, w->time_ns);
		break;
	case WIRE_EXIT:
		p = find(ps, (pid_t)w->tgid);
		if (p && w->flags & WIRE_F_LAST)
			drop(ps, p);
		break;
	}
}

size_t procs_left(const struct procs *ps)
{
	return ps->n;
}

static bool gone(const struct proc *p)
{
	uint64_t start;

	return proc_start_time(p->pid, &start) || start != p->start_time || proc_is_zombie(p->pid);
}

void procs_check_alive(struct procs *ps)
{
	for (size_t i = ps->n; i-- > 0;) {
		if (!gone(&ps->v[i]))
			continue;
		bpf_untrace_process(ps->cfg.bpf, (uint32_t)ps->v[i].pid);
		drop(ps, &ps->v[i]);
	}
}

/* Changes of which no record came. */
static void look_at_all(struct procs *ps)
{
	uint32_t unseen = __atomic_load_n(&ps->cfg.bpf->control->unseen, __ATOMIC_RELAXED);

	if (unseen == ps->unseen)
		return;
	ps->unseen = unseen;
	for (size_t i = 0; i < ps->n; i++)
		changed(ps, ps->v[i].pid, 0);
	ps->looked_ns = clock_mono_ns();
}

void procs_continue_stopped(struct procs *ps)
{
	uint64_t now = clock_mono_ns();
	uint32_t key, next, *prev = NULL;

	look_at_all(ps);
	if (!ps->cfg.may_stop)
		return;
	while (!bpf_map_get_next_key(ps->cfg.bpf->stops_fd, prev, &next)) {
		key = next;
		prev = &key;
		if (stops_held(ps->cfg.bpf, (pid_t)key))
			changed(ps, (pid_t)key, 0);
	}
	for (size_t i = 0; i < ps->n; i++) {
		struct proc *p = &ps->v[i];

		if (p->nudge_until > now && proc_is_stopped(p->pid) &&
		    !stops_held(ps->cfg.bpf, p->pid))
			kill(p->pid, SIGCONT);
	}
}

void procs_stop_stopping(struct procs *ps)
{
	ps->cfg.bpf->control->may_stop = 0;
	guardian_continue_all(ps->cfg.bpf->stops_fd, false);
}

bool procs_any_settled(const struct procs *ps)
{
	return ps->any_settled;
}

void procs_names(const struct procs *ps, pid_t except, char *buf, size_t sz)
{
	size_t len = 0;

	*buf = '\0';
	for (size_t i = 0; i < ps->n && len < sz; i++) {
		if (ps->v[i].pid == except)
			continue;
		len += (size_t)snprintf(buf + len, sz - len, "%s%d", len ? ", " : "", ps->v[i].pid);
	}
}
