// SPDX-License-Identifier: GPL-2.0-only
#include "live/procs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	struct proc_state state;

	if (procset_find(&d->ps->set, pid) ||
	    bpf_knows_process(d->ps->cfg.bpf, (uint32_t)pid, &state))
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
			procs_nudge(ps, p);
		return;
	}
	if (!settled || ps->cfg.bpf->waits)
		stops_set(ps->cfg.bpf, pid, settled ? STOP_SETTLED : STOP_ARMED, BPF_EXIST);
	kill(pid, SIGCONT);
	procs_nudge(ps,
		    p); /* the signal may come after ours: the map is written before it is sent */
	watch_parents(ps, pid);
	if (settled && !ps->cfg.bpf->waits)
		stops_forget(ps->cfg.bpf, p->pid);
}

/* A library that came while its process ran on: what was called meanwhile was not seen. */
void procs_tell_window(struct procs *ps, pid_t pid, uint64_t loaded_ns)
{
	uint64_t window = clock_mono_ns() - (loaded_ns ? loaded_ns : ps->looked_ns);
	char text[UNIT_MAX];

	ps->missed = true;
	log_info("PID %d loaded the library while it ran: calls in the first %s are not seen", pid,
		 unit_fmt_duration(text, window));
	facts_put(ps->rec, pid, FACT_UNPROBED, text, strlen(text));
}

/*
 * Attached processes go on when nobody answers. The programs count that; whose wait it was the age
 * of the record tells.
 */
static void tell_expired(struct procs *ps, struct proc *p, pid_t pid, uint64_t since_ns)
{
	static const char late[] = "probed late: calls may not be seen";
	uint32_t expired = __atomic_load_n(&ps->cfg.bpf->control->expired, __ATOMIC_RELAXED);

	if (expired == ps->expired || !since_ns || stops_held(ps->cfg.bpf, pid) ||
	    clock_mono_ns() - since_ns < STOP_WAIT_NS)
		return;
	ps->expired++;
	ps->missed = true;
	if (p && p->late)
		return;
	if (p)
		p->late = true;
	log_warn("PID %d waited for its probes too long and went on: calls may not be seen", pid);
	facts_put(ps->rec, pid, FACT_UNPROBED, late, sizeof(late) - 1);
}

bool procs_missed(const struct procs *ps)
{
	return ps->missed;
}

unsigned int procs_ended_early(const struct procs *ps)
{
	return ps->ended_early;
}

uint32_t procs_untold(const struct procs *ps)
{
	const struct control *c = ps->cfg.bpf->control;

	return __atomic_load_n(&c->expired, __ATOMIC_RELAXED) - ps->expired +
	       __atomic_load_n(&c->passed, __ATOMIC_RELAXED);
}

/* One whose fork record was lost is known to the programs only. */
static struct proc *find_traced(struct procs *ps, pid_t pid)
{
	struct proc *p = procset_find(&ps->set, pid);
	struct proc_state state;

	if (p || !bpf_knows_process(ps->cfg.bpf, (uint32_t)pid, &state) ||
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
	int err;

	if (!p && ps->cfg.join) {
		join_mapped(ps, pid, loaded_ns);
		return;
	}
	if (p && !how) /* it runs on: what is at a known place may be something else by now */
		map_free(&p->plain);
	err = p ? procs_look(ps, p) : 0;
	/* It has a library, so it was not held; whether that was another one nobody knows. */
	ps->ended_early += (err == -ESRCH || err == -ENOENT) && p->settled && !how;
	tell_expired(ps, p, pid, loaded_ns);
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
		procs_watch_stamps(ps);
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
		tell_expired(ps, p, p->pid, w->time_ns);
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

	ps->cfg.bpf->control->blocked_ns = 0;
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
