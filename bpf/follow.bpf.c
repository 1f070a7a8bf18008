// SPDX-License-Identifier: GPL-2.0-only
/*
 * Following processes: fork, exec, exit and new names. Raw tracepoints need no tracefs; the
 * fields come by CO-RE, so this object needs kernel BTF and is optional.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "emit.bpf.h"
#include "ktypes.h"

#define SIGSTOP 19
#define AT_BASE 7
#define PID_LEVELS 8
#define AUXV_PAIRS 16

/* Set before load. */
const volatile __u32 follow = 1; /* children are traced as well */
const volatile __u32 launch = 0; /* a new program is stopped until user space has seen it */

static __always_inline struct func_count *lifecycle_count(void)
{
	__u32 func = PROBE_FUNC_LIFECYCLE;

	return bpf_map_lookup_elem(&counts, &func);
}

static __always_inline void fill_comm(struct comm_record *r, __u8 kind, __u64 pid_tgid,
				      struct proc_state *proc, struct task_struct *task)
{
	fill(&r->w, kind, 0, pid_tgid, proc, NULL);
	r->w.flags = 0;
	bpf_core_read(r->comm, sizeof(r->comm), &task->comm);
	r->w.msg_len = sizeof(r->comm);
	r->w.len = sizeof(*r);
}

static __always_inline int emit_comm(__u8 kind, __u64 pid_tgid, struct proc_state *proc, __u64 arg0,
				     struct task_struct *task, __u64 wakeup)
{
	struct comm_record *r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);

	if (!r) {
		count_lost(proc, lifecycle_count(), kind);
		return -1;
	}
	fill_comm(r, kind, pid_tgid, proc, task);
	r->w.arg0 = arg0;
	bpf_ringbuf_submit(r, wakeup);
	return 0;
}

/* The process number of a task as acltap's namespace counts; 0 = not in it. */
static __always_inline __u32 tgid_of(struct task_struct *task)
{
	struct pid *pid;

	if (!ns_ino)
		return BPF_CORE_READ(task, tgid);
	pid = BPF_CORE_READ(task, group_leader, thread_pid);
	for (int i = 0; i < PID_LEVELS; i++) {
		struct upid upid = {};

		bpf_core_read(&upid, sizeof(upid), &pid->numbers[i]);
		if (i > (int)BPF_CORE_READ(pid, level))
			break;
		if (BPF_CORE_READ(upid.ns, ns.inum) == ns_ino)
			return upid.nr;
	}
	return 0;
}

/* Too many at once: what the child does is not seen, as if its fork had been lost. */
static __always_inline void count_unfollowed(struct proc_state *parent)
{
	struct control *c = switches();

	count_lost(parent, lifecycle_count(), WIRE_FORK);
	if (c)
		__sync_fetch_and_add(&c->unfollowed, 1);
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (struct task_struct *)ctx->args[1];
	__u64 pid_tgid = current_ids();
	__u32 parent = pid_tgid >> 32, tgid = tgid_of(child), *stop;
	struct proc_state *proc = bpf_map_lookup_elem(&procs, &parent);
	struct proc_state fresh = {.flags = PROC_FOLLOWED};

	if (!proc || proc->flags & PROC_IGNORED || !follow || tgid == parent || !tgid)
		return 0; /* not traced, not wanted, a new thread, or in a namespace of its own */
	/* The child's texts are unknown when this record is lost: its gap says so. */
	if (emit_comm(WIRE_FORK, pid_tgid, proc, tgid, child, BPF_RB_FORCE_WAKEUP))
		fresh.gap = GAP_NEW;
	if (bpf_map_update_elem(&procs, &tgid, &fresh, BPF_ANY)) {
		count_unfollowed(proc);
		return 0;
	}
	stop = bpf_map_lookup_elem(&stops, &parent);
	if (stop) {
		__u32 state = *stop == STOP_SETTLED ? STOP_SETTLED : STOP_ARMED;

		bpf_map_update_elem(&stops, &tgid, &state, BPF_ANY);
	}
	return 0;
}

/*
 * The root directory (its dentry) of the command when it starts, which is acltap's: the dynamic
 * loaders that lie there are probed beforehand.
 */
__u64 own_root = 0;

/* The address where the dynamic loader was mapped; 0 for a static program. */
static __always_inline __u64 loader_base(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	unsigned long pair[2];

	for (int i = 0; i < AUXV_PAIRS; i++) {
		if (bpf_probe_read_kernel(pair, sizeof(pair),
					  (char *)__builtin_preserve_access_index(&mm->saved_auxv) +
						  i * sizeof(pair)))
			break;
		if (pair[0] == AT_BASE)
			return pair[1];
	}
	return 0;
}

/* How the program file that the task runs now is to be treated, if it is known. */
static __always_inline __u32 *known_exe(struct task_struct *task)
{
	struct exe_key key = {};

	key.ino = BPF_CORE_READ(task, mm, exe_file, f_inode, i_ino);
	key.dev = BPF_CORE_READ(task, mm, exe_file, f_inode, i_sb, s_dev);
	return bpf_map_lookup_elem(&known_exes, &key);
}

/*
 * A program file that was not looked at yet is stopped before its first instruction, unless it
 * will call a dynamic loader that is probed: that is early enough.
 */
static __always_inline void stop_new_program(__u32 tgid, struct task_struct *task)
{
	__u32 state, *known;
	struct control *c = switches();
	__u64 root = (__u64)BPF_CORE_READ(task, fs, root.dentry);
	int here;

	if (!own_root)
		own_root = root;
	here = root == own_root;
	known = known_exe(task);
	state = known ? *known : here && loader_base(task) ? STOP_ARMED : STOP_SENT;
	if (!c || !c->may_stop)
		return;
	bpf_map_update_elem(&stops, &tgid, &state, BPF_ANY);
	if (state == STOP_SENT)
		bpf_send_signal(SIGSTOP);
}

/*
 * -a, -n: a program starts that is not traced. Until user space has looked at it the loader's probe
 * holds it. One whose file is known (arg0) is not looked at again when its loader is done.
 */
static __noinline int new_program(__u32 tgid, struct task_struct *task)
{
	__u32 state = STOP_ARMED;
	struct control *c = switches();
	struct comm_record *r;

	if (!c || !may_join(tgid))
		return 0;
	bpf_map_delete_elem(&procs, &tgid); /* ignored so far: it may have another name now */
	if (c->may_stop && bpf_ktime_get_ns() - c->hurried_ns > STOP_PAUSE_NS)
		bpf_map_update_elem(&stops, &tgid, &state, BPF_ANY);
	else if (c->may_stop)
		__sync_fetch_and_add(&c->hurried, 1);
	r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);
	if (!r) {
		count_unseen();
		return 0;
	}
	fill_comm(r, WIRE_EXEC, current_ids(), NULL, task);
	r->w.arg0 = !!known_exe(task);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	__u32 old_tid = (__u32)ctx->args[1];
	__u64 pid_tgid = current_ids();
	__u32 tgid = pid_tgid >> 32, tid = thread_key();
	struct proc_state *proc = bpf_map_lookup_elem(&procs, &tgid);

	if (!proc || proc->flags & PROC_IGNORED)
		return new_program(tgid, task);
	bpf_map_delete_elem(&threads, &old_tid);
	bpf_map_delete_elem(&threads, &tid);
	emit_comm(WIRE_EXEC, pid_tgid, proc, 0, task, BPF_RB_FORCE_WAKEUP);
	if (launch)
		stop_new_program(tgid, task);
	return 0;
}

/* The maps forget a process, or a thread, of which nothing is recorded. */
static __always_inline int leave_untraced(__u32 tgid, __u32 tid, struct task_struct *task)
{
	bpf_map_delete_elem(&threads, &tid);
	if (may_join(tgid) && !BPF_CORE_READ(task, signal, live.counter)) {
		bpf_map_delete_elem(&procs, &tgid);
		bpf_map_delete_elem(&stops, &tgid);
	}
	return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	__u64 pid_tgid = current_ids();
	__u32 tgid = pid_tgid >> 32, tid = thread_key();
	struct proc_state *proc = bpf_map_lookup_elem(&procs, &tgid);
	struct thread_state *th;
	struct wire *w;
	int last;

	if (!proc || proc->flags & PROC_IGNORED) /* or its last thread was faster */
		return leave_untraced(tgid, tid, task);
	th = bpf_map_lookup_elem(&threads, &tid);
	last = BPF_CORE_READ(task, signal, live.counter) == 0;
	/* Of one without state it is not known whether it has called anything. */
	if (th || last || is_crowded()) {
		w = bpf_ringbuf_reserve(&events, sizeof(*w), 0);
		if (w) {
			fill(w, WIRE_EXIT, 0, pid_tgid, proc, th);
			w->flags &= WIRE_F_LATE_STATE | WIRE_F_MIXED;
			w->flags |= last ? WIRE_F_LAST : 0;
			bpf_ringbuf_submit(w, last ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
		} else {
			count_lost(proc, lifecycle_count(), WIRE_EXIT);
		}
	}
	bpf_map_delete_elem(&threads, &tid);
	if (last) {
		bpf_map_delete_elem(&procs, &tgid);
		bpf_map_delete_elem(&stops, &tgid);
	}
	return 0;
}

/* exec gives a name as well, and on_exec tells it. */
static __always_inline int is_renamed(struct task_struct *task)
{
	if (bpf_core_field_exists(task->in_execve) &&
	    BPF_CORE_READ_BITFIELD_PROBED(task, in_execve))
		return 0;
	return BPF_CORE_READ(task, pid) == BPF_CORE_READ(task, tgid) && BPF_CORE_READ(task, mm);
}

/*
 * -n: a process gets another name, which is that of its main thread. User space looks whether it is
 * asked for now. One that was not so far joins anew by its next call: nothing is missed meanwhile.
 */
SEC("raw_tp/task_rename")
int on_rename(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	__u32 tgid = tgid_of(task);
	struct proc_state *proc;
	struct comm_record *r;

	if (!may_join(tgid) || !is_renamed(task))
		return 0;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	if (proc && proc->flags & PROC_IGNORED)
		bpf_map_delete_elem(&procs, &tgid);
	r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);
	if (!r) {
		count_unseen();
		return 0;
	}
	fill_comm(r, WIRE_JOINED, (__u64)tgid << 32 | tgid, NULL, task);
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), (void *)ctx->args[1]);
	r->w.arg0 = JOINED_NAME;
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
