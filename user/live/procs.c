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
#include "discover/elfsym.h"
#include "discover/proc.h"
#include "live/facts.h"
#include "live/guardian.h"
#include "live/prelook.h"
#include "live/procs_in.h"
#include "live/stops.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/unit.h"

#define NUDGE_NS 2000000000ull
#define MARGIN_NS 50000000ull
#define TASK_COMM_LEN 16
#define RESCAN_NS 1000000000ull
#define DESCENT_ROUNDS 16

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
	procset_free(&ps->set);
	free(ps);
}

void procs_set_recorder(struct procs *ps, struct recorder *rec)
{
	ps->rec = rec;
}

/* ---- looking at mappings ---- */

struct look {
	struct procs *ps;
	struct proc *p;
	bool probed, failed;
	size_t n_probed;   /* files */
	char by_name[256]; /* path of one that may pass calls on to another, "" = none */
};

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
	l->failed |= state == FILE_FAILED;
	return state == -ENOMEM ? state : 0;
}

static void watch_stamps(struct procs *ps)
{
	bool due = false;

	for (size_t i = 0; i < ps->set.n; i++)
		due |= ps->set.v[i].settled && !ps->set.v[i].stamped;
	ps->stamps_due = due;
	files_watch_stamps(ps->cfg.files, due || !ps->any_settled);
}

/* A SIGSTOP of ours may be on its way to it: if it is stopped soon it is continued. */
static void nudge(const struct procs *ps, struct proc *p)
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
	watch_stamps(ps);
	if (!ps->cfg.bpf->waits && !stops_held(ps->cfg.bpf, p->pid)) {
		stops_forget(ps->cfg.bpf, p->pid);
		nudge(ps, p); /* it may have been stopped between the two */
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
	watch_stamps(ps);
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
	*l = (struct look){.ps = ps, .p = p};
	return proc_scan_maps(p->pid, look_at, l);
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
	struct proc unknown = {.pid = pid, .told = true, .unreadable = true};
	struct look l;
	int err = scan_maps(ps, &unknown, &l);

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

/* ---- joining ---- */

static int trace(struct procs *ps, pid_t pid, struct proc **out)
{
	struct proc *p = procset_add(&ps->set, pid);
	int err = p ? bpf_trace_process(ps->cfg.bpf, (uint32_t)pid) : -ENOMEM;

	if (err && p)
		procset_drop(&ps->set, p);
	if (err == -E2BIG)
		return log_fail(err, "cannot trace PID %d: there is room for %u processes only",
				pid, ps->cfg.bpf->max_procs);
	if (err)
		return log_err(err, "cannot trace PID %d", pid);
	if (ps->cfg.may_stop)
		stops_set(ps->cfg.bpf, pid, STOP_ARMED, BPF_NOEXIST); /* it may be held already */
	*out = p;
	return 0;
}

int procs_attach_one(struct procs *ps, pid_t pid)
{
	struct proc *p = NULL;
	int err = trace(ps, pid, &p);

	if (err)
		return err;
	err = procs_look(ps, p);
	if (err) {
		bpf_untrace_process(ps->cfg.bpf, (uint32_t)pid);
		procset_drop(&ps->set, procset_find(&ps->set, pid));
		return err;
	}
	facts_write(ps->rec, pid);
	return 0;
}

struct descent {
	struct procs *ps;
	bool found;
};

/* One that the programs know is a child of a traced one: its record comes. */
static int attach_descendant(void *ctx, pid_t pid)
{
	struct descent *d = ctx;

	if (procset_find(&d->ps->set, pid) || bpf_is_traced(d->ps->cfg.bpf, (uint32_t)pid))
		return 0;
	d->found |= !procs_attach_one(d->ps, pid); /* it may have ended meanwhile */
	return 0;
}

/* Until all are known whose forks are not followed; where none is, later ones join. */
void procs_attach_descendants(struct procs *ps, pid_t pid)
{
	struct descent d;
	int rounds = 0;

	do {
		d = (struct descent){.ps = ps};
		proc_for_each_descendant(pid, attach_descendant, &d);
	} while (d.found && ++rounds < DESCENT_ROUNDS);
}

/* Unknown is no. */
static bool is_foreign(pid_t pid)
{
	_fd_ int fd = proc_open_exe(pid);
	_free_ struct elf_scan *scan = malloc(sizeof(*scan));

	return fd >= 0 && scan && elfsym_scan(fd, scan) == -ENOTSUP;
}

int procs_attach(struct procs *ps, pid_t pid)
{
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
	if (is_foreign(pid))
		return log_fail(-ENOTSUP, "cannot attach to PID %d: 32-bit or of another processor",
				pid);
	err = procs_attach_one(ps, pid);
	if (err)
		return log_err(err, "cannot attach to PID %d", pid);
	prelook_root(ps->cfg.files, pid);
	if (ps->cfg.follow)
		procs_attach_descendants(ps, pid);
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
		p = procset_find(&ps->set, ppid);
		if (!p)
			return;
		p->nudge_until = until;
	}
}

/*
 * Lets a process that was held for us go on. One that was stopped by a signal keeps its entry until
 * after SIGCONT, so that the guardian can take over at any moment; it is armed before, since the
 * process may be stopped again at once.
 */
void procs_let_go(struct procs *ps, pid_t pid, enum stop_state how, uint64_t since_ns)
{
	struct proc *p = procset_find(&ps->set, pid);
	bool settled = p && p->settled;

	if (how == STOP_WAIT)
		how = stops_held(ps->cfg.bpf,
				 pid); /* looking took a while: it may be stopped by now */
	if (how != STOP_SENT) {
		stops_set(ps->cfg.bpf, pid, settled ? STOP_SETTLED : STOP_ARMED, BPF_EXIST);
		/* Was the wait over before that was stored? Then it is stopped all the same. */
		if (clock_mono_ns() - since_ns > STOP_WAIT_NS - MARGIN_NS)
			nudge(ps, p);
		return;
	}
	if (!settled || ps->cfg.bpf->waits)
		stops_set(ps->cfg.bpf, pid, settled ? STOP_SETTLED : STOP_ARMED, BPF_EXIST);
	kill(pid, SIGCONT);
	nudge(ps, p); /* the signal may come after ours: the map is written before it is sent */
	watch_parents(ps, pid);
	if (settled && !ps->cfg.bpf->waits)
		stops_forget(ps->cfg.bpf, p->pid);
}

/* A library that came while its process ran on: what was called meanwhile was not seen. */
void procs_tell_window(struct procs *ps, pid_t pid, uint64_t loaded_ns)
{
	uint64_t window = clock_mono_ns() - (loaded_ns ? loaded_ns : ps->looked_ns);
	char text[UNIT_MAX];

	log_info("PID %d loaded the library while it ran: calls in the first %s are not seen", pid,
		 unit_fmt_duration(text, window));
	facts_put(ps->rec, pid, FACT_UNPROBED, text, strlen(text));
}

/*
 * Attached processes go on when nobody answers; launched ones are stopped by a signal then. The
 * programs count waits that nobody answered; whose they were the age of the record tells.
 */
static void tell_expired(struct procs *ps, pid_t pid, uint64_t since_ns)
{
	static const char late[] = "probed late: calls may not be seen";
	uint32_t expired = __atomic_load_n(&ps->cfg.bpf->control->expired, __ATOMIC_RELAXED);

	if (expired == ps->expired || clock_mono_ns() - since_ns < STOP_WAIT_NS)
		return;
	ps->expired++;
	if (!ps->cfg.launched) {
		log_warn("PID %d waited for its probes too long and went on: calls may not be seen",
			 pid);
		facts_put(ps->rec, pid, FACT_UNPROBED, late, sizeof(late) - 1);
	}
}

/* One whose fork record was lost is known to the programs only. */
static struct proc *find_traced(struct procs *ps, pid_t pid)
{
	struct proc *p = procset_find(&ps->set, pid);
	uint32_t tgid = (uint32_t)pid;
	struct proc_state state;

	if (p || bpf_map_lookup_elem(ps->cfg.bpf->procs_fd, &tgid, &state) ||
	    (ps->cfg.join && !(state.flags & PROC_FOLLOWED)))
		return p;
	p = procset_add(&ps->set, pid);
	facts_write(ps->rec, pid);
	return p;
}

static void changed(struct procs *ps, pid_t pid, uint64_t loaded_ns)
{
	struct proc *p = find_traced(ps, pid);
	enum stop_state how = stops_held(ps->cfg.bpf, pid);
	size_t before = files_probed(ps->cfg.files);

	if (!p && ps->cfg.join) {
		join_mapped(ps, pid, loaded_ns);
		return;
	}
	if (p)
		procs_look(ps, p);
	tell_expired(ps, pid, loaded_ns);
	if (how)
		procs_let_go(ps, pid, how, loaded_ns);
	else if (files_probed(ps->cfg.files) != before)
		procs_tell_window(ps, pid, loaded_ns);
}

static void forked(struct procs *ps, const struct wire *w)
{
	pid_t pid = (pid_t)w->arg0;
	struct proc *parent = procset_find(&ps->set, (pid_t)w->tgid), *p;
	bool settled = parent && parent->settled;

	p = procset_add(&ps->set, pid);
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
	procs_look(ps, p);
	if (how) {
		/* Its loader is probed now; when it starts again, nothing has to be waited for. */
		procs_know_exe_of(ps, p->pid, STOP_QUIET);
		tell_expired(ps, p->pid, w->time_ns);
		procs_let_go(ps, p->pid, how, w->time_ns);
	} else if (files_probed(ps->cfg.files) != before && !stops_held(ps->cfg.bpf, p->pid)) {
		/* Not held by its loader meanwhile either: that is before any call. */
		procs_tell_window(ps, p->pid, w->time_ns);
	}
	facts_write(ps->rec, p->pid);
}

void procs_life(struct procs *ps, const struct wire *w, const char *msg)
{
	struct proc *p = procset_find(&ps->set, (pid_t)w->tgid);
	char comm[TASK_COMM_LEN + 1] = "";

	memcpy(comm, msg, w->msg_len < TASK_COMM_LEN ? w->msg_len : TASK_COMM_LEN);
	switch (w->kind) {
	case WIRE_FORK:
		forked(ps, w);
		break;
	case WIRE_EXEC:
		if (ps->cfg.join && (!p || p->ignored))
			join_exec(ps, w, comm);
		else
			executed(ps, w);
		break;
	case WIRE_JOINED:
		if (!p || p->ignored)
			join_call(ps, w, comm);
		break;
	case WIRE_LOADED:
		if (!ps->ending)
			changed(ps, (pid_t)w->tgid, w->time_ns);
		break;
	case WIRE_EXIT:
		if (p && w->flags & WIRE_F_LAST)
			procset_drop(&ps->set, p);
		break;
	}
}

static bool is_left(const struct proc *p)
{
	return !p->ignored && !p->gone;
}

size_t procs_left(const struct procs *ps)
{
	size_t n = 0;

	for (size_t i = 0; i < ps->set.n; i++)
		n += is_left(&ps->set.v[i]);
	return n;
}

/* For want of descriptors or memory nobody ends. */
static bool gone(struct proc *p)
{
	uint64_t start;
	int err = proc_start_time(p->pid, &start);

	if (err)
		return err == -ESRCH || err == -ENOENT;
	if (!p->start_time)
		p->start_time = start;
	return start != p->start_time || proc_is_zombie(p->pid);
}

void procs_check_alive(struct procs *ps)
{
	size_t unreadable;

	if (ps->cfg.join == JOIN_CHILDREN)
		join_running(ps, &unreadable);
	for (size_t i = ps->set.n; i-- > 0;) {
		if (!gone(&ps->set.v[i]))
			continue;
		/* Its last records may still be in the ring, and want to know who it was. */
		if (ps->cfg.join && !ps->set.v[i].gone) {
			ps->set.v[i].gone = true;
			continue;
		}
		bpf_untrace_process(ps->cfg.bpf, (uint32_t)ps->set.v[i].pid);
		if (!ps->cfg.bpf->follow)
			bpf_forget_threads(ps->cfg.bpf, (uint32_t)ps->set.v[i].pid);
		procset_drop(&ps->set, &ps->set.v[i]);
	}
}

/* Changes of which no record came. */
static void look_at_all(struct procs *ps)
{
	uint32_t unseen = __atomic_load_n(&ps->cfg.bpf->control->unseen, __ATOMIC_RELAXED);
	size_t unreadable;

	if (unseen == ps->unseen || (ps->cfg.join && clock_mono_ns() - ps->looked_ns < RESCAN_NS))
		return;
	ps->unseen = unseen;
	if (ps->cfg.join)
		join_running(ps, &unreadable);
	for (size_t i = 0; i < ps->set.n; i++)
		changed(ps, ps->set.v[i].pid, 0);
	ps->looked_ns = clock_mono_ns();
}

static void answer_held(void *ctx, pid_t pid)
{
	struct procs *ps = ctx;

	if (stops_held(ps->cfg.bpf, pid))
		changed(ps, pid, 0);
}

void procs_continue_stopped(struct procs *ps)
{
	uint64_t now = clock_mono_ns();

	look_at_all(ps);
	if (!ps->cfg.may_stop)
		return;
	bpf_each_pid(ps->cfg.bpf->stops_fd, answer_held, ps);
	for (size_t i = 0; i < ps->set.n; i++) {
		struct proc *p = &ps->set.v[i];

		if (p->nudge_until > now && proc_is_stopped(p->pid) &&
		    !stops_held(ps->cfg.bpf, p->pid))
			kill(p->pid, SIGCONT);
	}
}

void procs_stop_stopping(struct procs *ps)
{
	ps->cfg.bpf->control->may_stop = 0;
	ps->cfg.bpf->control->joining = 0;
	ps->ending = true;
	guardian_continue_all(ps->cfg.bpf, false);
}

bool procs_any_settled(const struct procs *ps)
{
	return ps->any_settled;
}

void procs_names(const struct procs *ps, pid_t except, char *buf, size_t sz)
{
	size_t len = 0;

	*buf = '\0';
	for (size_t i = 0; i < ps->set.n && len < sz; i++) {
		if (ps->set.v[i].pid == except || !is_left(&ps->set.v[i]))
			continue;
		len += (size_t)snprintf(buf + len, sz - len, "%s%d", len ? ", " : "",
					ps->set.v[i].pid);
	}
}
