/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probe on the dynamic loader's notification: tells user space that a process maps something
 * new, and holds the process there until user space has looked. Part of events.bpf.c.
 */
#ifndef ACLTAP_LOADER_BPF_H
#define ACLTAP_LOADER_BPF_H

/* What the loader is doing: r_state. The cookie is the way from the probe to _r_debug. */
static __always_inline __u32 loader_state(struct pt_regs *ctx)
{
	__s64 delta = (__s64)cookie_of(ctx);
	__u64 at = PT_REGS_IP(ctx) + delta + R_DEBUG_STATE;
	__u32 state = R_DEBUG_CONSISTENT;

	if (delta)
		bpf_probe_read_user(&state, sizeof(state), (void *)at);
	return state;
}

struct task_struct;

static __always_inline int may_stop(void)
{
	struct control *c = switches();

	return c && c->may_stop;
}

/* Is it of interest what that process maps? proc is its entry, NULL for none. */
static __always_inline int is_watched(const struct proc_state *proc, __u32 tgid)
{
	return proc ? !(proc->flags & PROC_IGNORED) : may_join(tgid);
}

/* The guardian let somebody go on, and acltap has not been back since: nobody is held for a while.
 */
static __always_inline int is_blocked(void)
{
	struct control *c = switches();

	if (!c || !c->blocked_ns || bpf_ktime_get_ns() - c->blocked_ns > STOP_BLOCKED_NS)
		return 0;
	__sync_fetch_and_add(&c->passed, 1);
	return 1;
}

/* Should this process be held? Then its state becomes held. */
static __always_inline int hold(__u32 tgid, __u32 held)
{
	__u32 *stop = bpf_map_lookup_elem(&stops, &tgid);

	if (!stop || !may_stop())
		return 0;
	if (*stop == STOP_QUIET)
		*stop = STOP_ARMED;
	else if (*stop == STOP_ARMED && !is_blocked())
		*stop = held;
	return *stop == held;
}

/*
 * -a, -n where no program sees exec: whoever loads something may be a new program, so it is held
 * until user space has looked, which then takes its state away.
 */
static __noinline int arm_new(__u32 tgid)
{
	struct control *c = switches();
	__u32 state = STOP_ARMED;

	if (!c || !c->hold_new || !c->may_stop)
		return 0;
	if (bpf_ktime_get_ns() - c->hurried_ns > STOP_PAUSE_NS)
		bpf_map_update_elem(&stops, &tgid, &state, BPF_NOEXIST);
	else
		__sync_fetch_and_add(&c->hurried, 1);
	return 0;
}

/* Without room user space is told by the counter to look at all processes. */
static __always_inline void tell_loaded(struct proc_state *proc)
{
	struct wire *w = bpf_ringbuf_reserve(&events, sizeof(*w), 0);

	if (!w) {
		count_unseen();
		return;
	}
	fill(w, WIRE_LOADED, 0, current_ids(), proc, NULL);
	w->flags = 0;
	bpf_ringbuf_submit(w, BPF_RB_FORCE_WAKEUP);
}

/*
 * The dynamic loader has mapped or unmapped something, and has not yet run any of its code. In
 * launch mode the process is stopped here until user space has looked.
 */
SEC("uprobe")
int loaded(struct pt_regs *ctx)
{
	__u32 tgid = current_ids() >> 32;
	struct proc_state *proc = bpf_map_lookup_elem(&procs, &tgid);

	if (!is_watched(proc, tgid) || loader_state(ctx) != R_DEBUG_CONSISTENT)
		return 0;
	if (may_signal && hold(tgid, STOP_SENT))
		bpf_send_signal(SIGSTOP);
	tell_loaded(proc);
	return 0;
}

struct wait {
	__u64 until;
	__u64 ip; /* of the waiting thread: its page was just run, so it is resident */
	__u32 tgid;
	__u32 state; /* in the end */
};

static long wait_step(__u32 i, struct wait *w)
{
	__u32 *stop;
	__u8 byte;

	(void)i;
	/*
	 * What is read does not matter: on the way there the kernel gives the CPU to others that
	 * want it (__get_user_pages() calls cond_resched()), also where it is not preemptible. A
	 * page that has gone meanwhile is not brought in: it may never come.
	 */
	if (!bpf_probe_read_user(&byte, sizeof(byte), (void *)w->ip))
		bpf_copy_from_user_task(&byte, sizeof(byte), (void *)w->ip,
					bpf_get_current_task_btf(), 0);
	stop = bpf_map_lookup_elem(&stops, &w->tgid);
	w->state = stop ? *stop : STOP_SETTLED;
	return w->state != STOP_WAIT || !may_stop() || bpf_ktime_get_ns() > w->until;
}

static __always_inline void count_expired(const struct proc_state *proc)
{
	struct control *c = switches();

	if (!c)
		return;
	__sync_fetch_and_add(proc ? &c->expired : &c->hurried, 1);
	if (!proc)
		c->hurried_ns = bpf_ktime_get_ns();
}

/* The probed library may be what is unmapped now: look again afterwards, before anything else. */
static __always_inline void rearm(__u32 tgid)
{
	__u32 *stop = bpf_map_lookup_elem(&stops, &tgid);

	if (stop && *stop == STOP_SETTLED)
		*stop = STOP_ARMED;
}

/*
 * The same without a signal, which parents and other threads would notice: the thread waits here.
 * Sleepable, so that the RCU grace periods that attaching needs go on meanwhile. When user space
 * does not answer in time, a launched process is stopped by the signal, others go on.
 */
SEC("uprobe")
int loaded_wait(struct pt_regs *ctx)
{
	struct wait w = {.ip = PT_REGS_IP(ctx), .tgid = current_ids() >> 32};
	struct proc_state *proc = bpf_map_lookup_elem(&procs, &w.tgid);
	__u32 *stop, state;

	if (!is_watched(proc, w.tgid))
		return 0;
	state = loader_state(ctx);
	if (state == R_DEBUG_DELETE)
		rearm(w.tgid);
	if (state != R_DEBUG_CONSISTENT)
		return 0;
	if (!proc)
		arm_new(w.tgid);
	w.until = bpf_ktime_get_ns() + (proc ? STOP_WAIT_NS : STOP_WAIT_ANY_NS);
	if (!hold(w.tgid, STOP_WAIT)) {
		tell_loaded(proc);
		return 0;
	}
	tell_loaded(proc);
	bpf_loop(1 << 23, wait_step, &w, 0);
	if (w.state != STOP_WAIT)
		return 0;
	stop = bpf_map_lookup_elem(&stops, &w.tgid);
	if (stop && may_signal && may_stop()) {
		*stop = STOP_SENT;
		bpf_send_signal(SIGSTOP);
		return 0;
	}
	if (may_stop()) /* else tracing ends: nothing is missed */
		count_expired(bpf_map_lookup_elem(&procs, &w.tgid));
	if (stop)
		*stop = STOP_ARMED;
	return 0;
}

#endif
