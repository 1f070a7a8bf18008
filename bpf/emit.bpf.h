/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reserving and filling records: the only place where a record can be lost, and it is counted
 * there. The time of a record is taken after its reservation: with that, a consumer that reads the
 * clock first and the producer position second knows which times are final.
 */
#ifndef ACLTAP_EMIT_BPF_H
#define ACLTAP_EMIT_BPF_H

#include "maps.bpf.h"

#define COMM_LEN 16
/* The gap of a process whose first record was lost: equal to no other, also when a PID is re-used.
 */
#define GAP_NEW (1u << 31)

/* acltap's own PID namespace when that is not the initial one. Set before load. */
const volatile __u64 ns_dev = 0;
const volatile __u64 ns_ino = 0;

/* tgid << 32 | tid of the current thread as acltap's namespace counts; 0 = not in it. */
static __always_inline __u64 current_ids(void)
{
	struct bpf_pidns_info ids = {};

	if (!ns_ino)
		return bpf_get_current_pid_tgid();
	if (bpf_get_ns_current_pid_tgid(ns_dev, ns_ino, &ids, sizeof(ids)))
		return 0;
	return (__u64)ids.tgid << 32 | ids.pid;
}

static __always_inline struct control *switches(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&control, &zero);
}

/* A change of mappings, or a new program, that user space will not hear of: it looks at all. */
static __always_inline void count_unseen(void)
{
	struct control *c = switches();

	if (c)
		__sync_fetch_and_add(&c->unseen, 1);
}

/* The map of threads had no room: some have calls, but no state. */
static __always_inline int is_crowded(void)
{
	struct control *c = switches();

	return c && c->stateless;
}

/* -a, -n: may that process become a traced one? */
static __always_inline int may_join(__u32 tgid)
{
	struct control *c = switches();

	return c && c->joining && tgid && tgid != c->own;
}

static __always_inline void count_lost(struct proc_state *proc, struct func_count *n, __u8 kind)
{
	__sync_fetch_and_add(&proc->gap, 1);
	if (!n)
		return;
	if (kind == WIRE_RETURN)
		__sync_fetch_and_add(&n->lost_returns, 1);
	else
		__sync_fetch_and_add(&n->lost, 1);
}

static __always_inline __u16 depth16(__u32 depth)
{
	return depth > 65535 ? 65535 : depth;
}

/* proc NULL: of a process that is not traced. th NULL: the state of the thread is not known. */
static __always_inline void fill(struct wire *w, __u8 kind, __u8 func, __u64 pid_tgid,
				 struct proc_state *proc, const struct thread_state *th)
{
	w->tgid = pid_tgid >> 32;
	w->tid = (__u32)pid_tgid;
	w->len = sizeof(*w);
	w->kind = kind;
	w->func = func;
	w->gap = proc ? proc->gap : 0;
	w->arg0 = 0;
	w->arg1 = 0;
	w->msg_len = 0;
	if (th) {
		w->seq = th->seq;
		w->depth = depth16(th->depth);
		w->min_depth = depth16(th->min_depth);
		w->flags = th->mixed | (th->late ? WIRE_F_LATE_STATE : 0);
	} else {
		w->seq = 0;
		w->depth = 0;
		w->min_depth = 0;
		w->flags = WIRE_F_NO_STATE;
	}
	w->time_ns = bpf_ktime_get_ns();
}

/* The key of the current thread's state: as the initial namespace counts, as the kernel tells. */
static __always_inline __u32 thread_key(void)
{
	return (__u32)bpf_get_current_pid_tgid();
}

struct comm_record {
	struct wire w;
	char comm[COMM_LEN];
};

/* A record of the current thread with its name, still to be submitted; NULL: no room. */
static __always_inline struct comm_record *reserve_comm(__u8 kind)
{
	struct comm_record *r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);

	if (!r)
		return NULL;
	fill(&r->w, kind, 0, current_ids(), NULL, NULL);
	r->w.flags = 0;
	r->w.msg_len = sizeof(r->comm);
	r->w.len = sizeof(*r);
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	return r;
}

#endif
