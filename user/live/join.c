// SPDX-License-Identifier: GPL-2.0-only
/*
 * -a and -n, and children where forks are not seen: processes become traced ones by themselves. The
 * programs let a process join at its first call of a probed function, so nothing of it is missed as
 * long as its library is probed; user space looks at every program that starts and at what its
 * loader maps, to find libraries that are not. Who joined under a name that was not asked for is
 * ignored, by the programs too.
 */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "discover/proc.h"
#include "live/facts.h"
#include "live/prelook.h"
#include "live/procs_in.h"
#include "live/stops.h"

#include <bpf/bpf.h>

#define MAX_DEPTH 64 /* PIDs that were re-used meanwhile can make a ring */

/* ---- who is asked for ---- */

static bool fits(const struct procs *ps, const char *name)
{
	for (size_t i = 0; i < ps->cfg.n_names; i++)
		if (!fnmatch(ps->cfg.names[i], name, 0))
			return true;
	return false;
}

/* The file that the process runs: its name without the folder, whatever became of the file. */
static bool exe_fits(const struct procs *ps, pid_t pid)
{
	static const char deleted[] = " (deleted)";
	char path[PATH_MAX];
	ssize_t n = proc_exe(pid, path, sizeof(path) - 1);
	const char *slash;

	if (n < 0)
		return false;
	path[n] = '\0';
	slash = strrchr(path, '/');
	n -= (ssize_t)(sizeof(deleted) - 1);
	if (n > 0 && !strcmp(path + n, deleted))
		path[n] = '\0';
	return fits(ps, slash ? slash + 1 : path);
}

static bool is_same(const struct proc *p)
{
	uint64_t start;

	return !proc_start_time(p->pid, &start) && start == p->start_time;
}

/* One whose parents ended before it was looked at is nobody's any more. */
static bool is_descendant(const struct procs *ps, pid_t pid)
{
	const struct proc *p;

	for (int depth = 0; depth < MAX_DEPTH && !proc_ppid(pid, &pid) && pid > 1; depth++) {
		p = procset_find(&ps->set, pid);
		if (p && !p->ignored && is_same(p))
			return true;
	}
	return false;
}

/* told: a name that a record told, for processes that are gone by now; may be "". */
static bool is_asked_for(const struct procs *ps, pid_t pid, const char *told)
{
	char comm[64];
	ssize_t n;

	if (ps->cfg.join == JOIN_ALL)
		return true;
	if (ps->cfg.join == JOIN_CHILDREN)
		return is_descendant(ps, pid);
	n = proc_comm(pid, comm, sizeof(comm) - 1);
	if (n < 0)
		return fits(ps, told);
	comm[n] = '\0';
	return fits(ps, comm) || exe_fits(ps, pid);
}

/* ---- joining ---- */

/* Held for us: nothing of what it maps is of interest, or all of it is probed. */
static void forget_stop(const struct procs *ps, pid_t pid)
{
	if (ps->cfg.may_stop)
		stops_forget(ps->cfg.bpf, pid);
}

/* The name as long as it can be had: the process may end before the other facts are read. */
static void put_name(struct procs *ps, pid_t pid, const char *told)
{
	char comm[64];

	if (proc_comm(pid, comm, sizeof(comm)) < 0)
		facts_put(ps->rec, pid, FACT_NAME, told, strlen(told));
}

/* One that made its first call: the programs record it already. */
static struct proc *admit(struct procs *ps, pid_t pid, const char *told, bool followed,
			  bool stamped)
{
	bool wanted = followed || is_asked_for(ps, pid, told);
	struct proc *p = procset_find(&ps->set, pid);

	if (p) { /* an ignored one; the number may be another's now */
		ps->unlooked -= p->ended;
		procset_drop(&ps->set, p);
	}
	p = procset_add(&ps->set, pid);
	if (!p)
		return NULL;
	p->ignored = !wanted;
	if (!wanted) {
		ps->unproven += !ps->cfg.bpf->follow && !is_same(p);
		bpf_ignore_process(ps->cfg.bpf, (uint32_t)pid);
		forget_stop(ps, pid);
		return p;
	}
	p->stamped = stamped;
	procs_look(ps, p);
	if (!p->settled) /* it ended, or cannot be looked at; but a probed function was called */
		procs_settle(ps, p);
	if (ps->cfg.may_stop)
		stops_set(ps->cfg.bpf, pid, STOP_SETTLED, BPF_ANY);
	facts_write(ps->rec, pid);
	put_name(ps, pid, told);
	return p;
}

/* A process of which no record came before. */
static struct proc *admit_unknown(struct procs *ps, pid_t pid)
{
	struct proc_state state = {0};

	if (!bpf_knows_process(ps->cfg.bpf, (uint32_t)pid, &state))
		state.flags = 0;
	return admit(ps, pid, "", state.flags & PROC_FOLLOWED, true);
}

bool procs_wants(struct procs *ps, const struct wire *w)
{
	const struct proc *p = procset_find(&ps->set, (pid_t)w->tgid);

	if ((!p || p->ended) &&
	    (w->kind == WIRE_CALL || w->kind == WIRE_RETURN || w->kind == WIRE_THREAD))
		p = admit_unknown(ps, (pid_t)w->tgid);
	return p && !p->ignored;
}

/* ---- looking for libraries ---- */

/*
 * Probes what the process maps and what it will probably map. When that probed a dynamic loader,
 * the process may have passed it before: then all it loaded is mapped by now.
 */
static int scan(struct procs *ps, pid_t pid, bool *probed)
{
	size_t before = files_loaders(ps->cfg.files);
	int err = procs_scan(ps, pid, probed);

	prelook_root(ps->cfg.files, pid);
	if (!err && files_loaders(ps->cfg.files) != before)
		err = procs_scan(ps, pid, probed);
	return err;
}

static void attach(struct procs *ps, pid_t pid, const char *name)
{
	if (procs_attach_one(ps, pid)) {
		forget_stop(ps, pid); /* it ended */
		return;
	}
	procs_let_go(ps, pid, STOP_WAIT, 0);
	put_name(ps, pid, name);
}

/*
 * One whose library was probed joins by its call, of which the record comes behind. Of the others,
 * static programs mostly, nothing is known.
 */
static void note_ended(struct procs *ps, pid_t pid)
{
	struct proc *p = procset_add(&ps->set, pid);

	ps->unlooked++;
	if (p)
		p->ignored = p->ended = true;
}

void join_exec(struct procs *ps, const struct wire *w, const char *comm)
{
	pid_t pid = (pid_t)w->tgid;
	struct proc *p = procset_find(&ps->set, pid);
	size_t before = files_probed(ps->cfg.files);
	bool probed = false;
	int err;

	if (p)
		procset_drop(&ps->set, p);
	if (!is_asked_for(ps, pid, comm)) {
		forget_stop(ps, pid);
		return;
	}
	err = scan(ps, pid, &probed);
	/* One that was asked for is from here on like one that was given by its number. */
	if (!err && (probed || ps->cfg.join != JOIN_ALL))
		attach(ps, pid, comm);
	else if (w->arg0)
		forget_stop(ps, pid);
	if ((err == -ESRCH || err == -ENOENT) && ps->cfg.join == JOIN_NAMED)
		note_ended(ps, pid);
	if (probed && files_probed(ps->cfg.files) != before && !stops_held(ps->cfg.bpf, pid))
		procs_tell_window(ps, pid, w->time_ns);
}

/* It may have been ignored after its new name was seen: then the programs do so still. */
static void notice_again(struct procs *ps, struct proc *ignored)
{
	uint32_t tgid = (uint32_t)ignored->pid;
	struct proc_state state;

	if (!bpf_knows_process(ps->cfg.bpf, tgid, &state) && state.flags & PROC_IGNORED)
		bpf_untrace_process(ps->cfg.bpf, tgid);
	procset_drop(&ps->set, ignored);
}

/* -n: from here on it is like one that was given by its number. */
static void renamed(struct procs *ps, const struct wire *w, const char *comm)
{
	pid_t pid = (pid_t)w->tgid;
	struct proc *p = procset_find(&ps->set, pid);
	size_t before = files_probed(ps->cfg.files);
	bool probed = false;

	if (!fits(ps, comm))
		return;
	if (p)
		notice_again(ps, p);
	if (!scan(ps, pid, &probed))
		attach(ps, pid, comm);
	if (probed && files_probed(ps->cfg.files) != before)
		procs_tell_window(ps, pid, w->time_ns);
}

void join_call(struct procs *ps, const struct wire *w, const char *comm)
{
	if (w->arg0 == JOINED_NAME)
		renamed(ps, w, comm);
	else
		admit(ps, (pid_t)w->tgid, comm, false, w->arg0 == JOINED_CALL);
}

void join_mapped(struct procs *ps, pid_t pid, uint64_t loaded_ns)
{
	enum stop_state how;
	size_t before = files_probed(ps->cfg.files);
	bool probed = false;
	char name[64];
	ssize_t n = proc_comm(pid, name, sizeof(name) - 1);
	int err;

	name[n > 0 ? n : 0] = '\0';
	if (!is_asked_for(ps, pid, name)) {
		forget_stop(ps, pid);
		return;
	}
	err = scan(ps, pid, &probed);
	how = stops_held(ps->cfg.bpf, pid); /* still: nothing was called meanwhile */
	if (!err && (probed || ps->cfg.join != JOIN_ALL)) {
		attach(ps, pid, name);
	} else {
		if (how)
			procs_know_exe_of(ps, pid, STOP_QUIET);
		forget_stop(ps, pid);
	}
	if (probed && files_probed(ps->cfg.files) != before && !how)
		procs_tell_window(ps, pid, loaded_ns);
}

/* ---- those that run ---- */

struct running {
	struct procs *ps;
	size_t unreadable;
};

static int look_at_running(void *ctx, pid_t pid)
{
	struct running *r = ctx;
	struct procs *ps = r->ps;
	bool probed = false;
	int err;

	if (pid == getpid() || procset_find(&ps->set, pid) || proc_is_kernel_thread(pid) ||
	    !is_asked_for(ps, pid, ""))
		return 0;
	err = scan(ps, pid, &probed);
	r->unreadable += err == -EACCES || err == -EPERM;
	if (err || (!probed && ps->cfg.join == JOIN_ALL))
		return 0;
	if (!procs_attach_one(ps, pid) && ps->cfg.follow && ps->cfg.join == JOIN_NAMED)
		procs_attach_descendants(ps, pid);
	return 0;
}

int join_running(struct procs *ps, size_t *unreadable)
{
	struct running r = {.ps = ps};
	int err = proc_for_each(look_at_running, &r);

	*unreadable = r.unreadable;
	return err;
}

unsigned int procs_unproven(const struct procs *ps)
{
	return ps->unproven;
}

unsigned int procs_unlooked(const struct procs *ps)
{
	return ps->unlooked;
}

void procs_start_joining(struct procs *ps)
{
	struct control *c = ps->cfg.bpf->control;

	c->own = (uint32_t)getpid();
	c->hold_new = !ps->cfg.bpf->follow && ps->cfg.join != JOIN_CHILDREN;
	c->joining = 1;
}

int procs_attach_running(struct procs *ps, size_t *unreadable)
{
	procs_start_joining(ps);
	prelook_here(ps->cfg.files);
	return join_running(ps, unreadable);
}
