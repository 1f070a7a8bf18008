// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes on the traced functions and on the dynamic loader. Only pt_regs and helpers: this object
 * loads on kernels without BTF. What a probe does is in its cookie (include/probe_config.h), so one
 * program serves every row of the table.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "emit.bpf.h"

#define SIGSTOP 19
#define MSG_SMALL 32
#define MSG_LARGE 256

/* Set before load. */
const volatile __u64 fixed_cookie = 0; /* for kernels without attach cookies: one load per row */
const volatile __u32 may_fault = 0;    /* sleepable: a page that is not resident is brought in */
const volatile __u32 page_size = 4096;
const volatile __u32 may_signal = 0; /* launch mode: SIGSTOP is the last resort */

struct msg_small {
	struct wire w;
	__u8 msg[MSG_SMALL];
};

struct msg_large {
	struct wire w;
	__u8 msg[MSG_LARGE];
};

/* One call, as the probe found it. */
struct call {
	__u64 pid_tgid;
	__u64 arg0;
	__u64 msg; /* address in the target */
	__u32 arg1;
	__u32 want; /* message bytes to read */
	__u16 flags;
	__u8 func;
	__u8 msg_kind;
	struct proc_state *proc;
	struct thread_state *th;
	struct func_count *count;
};

static __always_inline __u64 cookie_of(void *ctx)
{
	return fixed_cookie ? fixed_cookie : bpf_get_attach_cookie(ctx);
}

static __always_inline struct proc_state *traced(__u32 tgid)
{
	struct control *c;
	__u32 zero = 0;

	c = bpf_map_lookup_elem(&control, &zero);
	if (!c || !c->gate)
		return NULL;
	return bpf_map_lookup_elem(&procs, &tgid);
}

/* All loaded first: selecting a field of ctx by number would be refused by the verifier. */
struct args {
	__u64 a1, a2, a3;
};

static __always_inline __u64 pick(const struct args *a, __u32 n)
{
	__u64 v = 0;

	if (n == 1)
		v = a->a1;
	if (n == 2)
		v = a->a2;
	if (n == 3)
		v = a->a3;
	return v;
}

static __always_inline void fill_call(struct wire *w, const struct call *c, __u32 got, __u16 flags)
{
	fill(w, WIRE_CALL, c->func, c->pid_tgid, c->proc, c->th);
	w->arg0 = c->arg0;
	w->arg1 = c->arg1;
	w->flags |= c->flags | flags;
	w->msg_len = got;
	w->len = sizeof(*w) + got;
}

static __always_inline int emit_plain(const struct call *c, __u16 flags)
{
	struct wire *w = bpf_ringbuf_reserve(&events, sizeof(*w), 0);

	if (!w)
		return -1;
	fill_call(w, c, 0, flags);
	bpf_ringbuf_submit(w, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Keeps the compiler from hiding the bound of a length from the verifier. */
static __always_inline __u64 at_most(__u64 n, __u64 max)
{
	asm volatile("" : "+r"(n));
	if (n > max)
		n = max;
	asm volatile("" : "+r"(n));
	return n;
}

/* What can be read of a message that does not lie on one resident page: up to the page's end. */
static __always_inline __u64 readable(const struct call *c)
{
	__u64 left = page_size - (c->msg & (page_size - 1));

	if (left >= c->want)
		return 0; /* one page, and it cannot be read */
	if (c->msg_kind != MSG_VALUE)
		return left;
	return left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* Cut short: not whole, unless its end is in what was read (user space knows). */
static __always_inline __u16 cut_short(const struct call *c)
{
	return c->msg_kind == MSG_VALUE ? 0 : WIRE_F_UNREADABLE;
}

/*
 * The page is not resident, or the text ends where its mapping does. No record may be held while a
 * page is brought in: one that never arrives would stall the ring. So the text goes to the stack
 * first.
 */
static __noinline int emit_faulting(struct call *c)
{
	__u8 buf[MSG_LARGE] = {};
	struct msg_large *r;
	__u16 flags = 0;
	__u64 got;

	if (!c)
		return 0;
	got = at_most(c->want, MSG_LARGE - 1);
	if (bpf_copy_from_user(buf, got, (void *)c->msg)) {
		flags = cut_short(c);
		got = at_most(readable(c), MSG_LARGE - 1);
		if (got && bpf_copy_from_user(buf, got, (void *)c->msg)) {
			flags = WIRE_F_UNREADABLE;
			got = 0;
		}
	}
	r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);
	if (!r)
		return -1;
	__builtin_memcpy(r->msg, buf, sizeof(r->msg));
	fill_call(&r->w, c, got, got ? flags : WIRE_F_UNREADABLE);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * Reads c->want bytes into a record of constant size (which bpf_ringbuf_reserve() insists on); the
 * three outcomes are: done, no room, or a fault to be handled without a record in hand.
 */
#define EMIT_RESIDENT(type, room, c)                                                               \
	({                                                                                         \
		type *r_ = bpf_ringbuf_reserve(&events, sizeof(type), 0);                          \
		__u64 n_ = at_most((c)->want, room);                                               \
		__u16 flags_ = 0;                                                                  \
		int ret_ = -1;                                                                     \
                                                                                                   \
		if (r_) {                                                                          \
			ret_ = bpf_probe_read_user(r_->msg, n_, (void *)(c)->msg) ? 1 : 0;         \
			if (ret_ && !may_fault) {                                                  \
				flags_ = cut_short(c);                                             \
				n_ = at_most(readable(c), room);                                   \
				if (!n_ || bpf_probe_read_user(r_->msg, n_, (void *)(c)->msg)) {   \
					flags_ = WIRE_F_UNREADABLE;                                \
					n_ = 0;                                                    \
				}                                                                  \
				ret_ = 0;                                                          \
			}                                                                          \
			if (ret_) {                                                                \
				bpf_ringbuf_discard(r_, BPF_RB_NO_WAKEUP);                         \
			} else {                                                                   \
				fill_call(&r_->w, c, n_, flags_);                                  \
				bpf_ringbuf_submit(r_, BPF_RB_NO_WAKEUP);                          \
			}                                                                          \
		}                                                                                  \
		ret_;                                                                              \
	})

static __always_inline int emit_message(struct call *c)
{
	int ret;

	if (!c->want)
		return emit_plain(c, 0);
	if (c->want <= MSG_SMALL)
		ret = EMIT_RESIDENT(struct msg_small, MSG_SMALL, c);
	else
		ret = EMIT_RESIDENT(struct msg_large, MSG_LARGE - 1, c);
	if (ret > 0 && may_fault)
		ret = emit_faulting(c);
	return ret;
}

static __always_inline void find_message(struct call *c, const struct args *a, __u64 cookie)
{
	c->msg_kind = COOKIE_MSG(cookie);
	c->msg = pick(a, COOKIE_MSG_ARG(cookie));
	c->want = 0;
	if (c->msg_kind == MSG_VALUE) {
		c->want = 8;
	} else if (c->msg_kind == MSG_CSTRING) {
		c->want = WIRE_MSG_MAX;
	} else if (c->msg_kind == MSG_COUNTED) {
		__u64 len = pick(a, COOKIE_ARG1(cookie));

		/* aclprofSetStampTraceMessage passes 32 bits: what is above them is garbage. */
		c->want = (__u32)len > WIRE_MSG_MAX ? WIRE_MSG_MAX : (__u32)len;
		if ((__u32)len > WIRE_MSG_MAX)
			c->flags |= WIRE_F_CUT;
	}
}

/* The push depth after this call; see reconstruction of losses in wire.h (min_depth). */
static __always_inline void step(struct call *c, __u64 cookie, int lost)
{
	struct thread_state *th = c->th;
	__u32 depth;

	if (!th)
		return;
	depth = th->depth;
	if (COOKIE_DEPTH(cookie) == DEPTH_PUSH)
		depth++;
	else if (COOKIE_DEPTH(cookie) == DEPTH_POP && depth)
		depth--;
	th->depth = depth;
	if (!lost || depth < th->min_depth)
		th->min_depth = depth;
}

SEC("uprobe")
int entry(struct pt_regs *ctx)
{
	struct args a = { PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx) };
	__u64 cookie = cookie_of(ctx);
	struct call c = {};
	__u32 func = COOKIE_FUNC(cookie);
	int ret;

	c.pid_tgid = current_ids();
	c.proc = traced(c.pid_tgid >> 32);
	if (!c.proc)
		return 0;
	c.count = bpf_map_lookup_elem(&counts, &func);
	if (!c.count)
		return 0;
	__sync_fetch_and_add(&c.count->calls, 1);
	c.func = func;
	c.th = thread_get((__u32)c.pid_tgid);
	if (c.th) {
		c.th->seq++;
		c.th->out = pick(&a, COOKIE_OUT(cookie) ? COOKIE_OUT(cookie) : COOKIE_ARG0(cookie));
	}
	c.arg0 = pick(&a, COOKIE_ARG0(cookie));
	c.arg1 = pick(&a, COOKIE_ARG1(cookie));
	find_message(&c, &a, cookie);
	ret = emit_message(&c);
	if (ret)
		count_lost(c.proc, c.count, WIRE_CALL);
	step(&c, cookie, ret);
	return 0;
}

/* A push that failed on a real stamp opened nothing. */
static __always_inline void undo_push(struct thread_state *th)
{
	if (!th->out || !th->depth)
		return;
	th->depth--;
	if (th->depth < th->min_depth)
		th->min_depth = th->depth;
}

SEC("uretprobe")
int leave(struct pt_regs *ctx)
{
	__u64 cookie = cookie_of(ctx);
	__u64 pid_tgid = current_ids();
	struct proc_state *proc = traced(pid_tgid >> 32);
	__u32 func = COOKIE_FUNC(cookie);
	struct thread_state *th;
	__u64 ret = PT_REGS_RC(ctx);
	__u32 id = 0;
	__u16 flags = 0;
	struct wire *w;

	if (!proc)
		return 0;
	th = thread_get((__u32)pid_tgid);
	if (!(cookie & COOKIE_POINTER))
		ret = (__s64)(__s32)ret;
	if (COOKIE_OUT(cookie)) {
		if (!th || !th->out || bpf_probe_read_user(&id, sizeof(id), (void *)th->out))
			flags = WIRE_F_NO_ID;
	} else if (th && COOKIE_DEPTH(cookie) == DEPTH_PUSH && ret) {
		undo_push(th);
	}
	w = bpf_ringbuf_reserve(&events, sizeof(*w), 0);
	if (!w) {
		count_lost(proc, bpf_map_lookup_elem(&counts, &func), WIRE_RETURN);
		return 0;
	}
	fill(w, WIRE_RETURN, func, pid_tgid, proc, th);
	w->arg0 = ret;
	w->arg1 = id;
	w->flags |= flags;
	bpf_ringbuf_submit(w, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Is the loader in the middle of a change? The cookie is the way from the probe to _r_debug. */
static __always_inline int loader_busy(struct pt_regs *ctx, __s64 delta)
{
	__u64 at = PT_REGS_IP(ctx) + delta + R_DEBUG_STATE;
	__u32 state = R_DEBUG_CONSISTENT;

	if (!delta || bpf_probe_read_user(&state, sizeof(state), (void *)at))
		return 0;
	return state != R_DEBUG_CONSISTENT;
}

static __always_inline int may_stop(void)
{
	__u32 zero = 0;
	struct control *c = bpf_map_lookup_elem(&control, &zero);

	return c && c->may_stop;
}

/* Should this process be held? Then its state becomes held. */
static __always_inline int hold(__u32 tgid, __u32 held)
{
	__u32 *stop = bpf_map_lookup_elem(&stops, &tgid);

	if (!stop || !may_stop())
		return 0;
	if (*stop == STOP_QUIET)
		*stop = STOP_ARMED;
	else if (*stop == STOP_ARMED)
		*stop = held;
	return *stop == held;
}

/* User space looks at the mappings from time to time too, should there be no room. */
static __always_inline void tell_loaded(__u64 pid_tgid, struct proc_state *proc)
{
	struct wire *w = bpf_ringbuf_reserve(&events, sizeof(*w), 0);

	if (!w)
		return;
	fill(w, WIRE_LOADED, 0, pid_tgid, proc, NULL);
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
	__u64 pid_tgid = current_ids();
	__u32 tgid = pid_tgid >> 32;
	struct proc_state *proc = bpf_map_lookup_elem(&procs, &tgid);

	if (!proc || loader_busy(ctx, (__s64)cookie_of(ctx)))
		return 0;
	if (hold(tgid, STOP_SENT))
		bpf_send_signal(SIGSTOP);
	tell_loaded(pid_tgid, proc);
	return 0;
}

struct wait {
	__u64 until;
	__u32 tgid;
	__u32 state; /* in the end */
};

static long wait_step(__u32 i, struct wait *w)
{
	__u32 *stop = bpf_map_lookup_elem(&stops, &w->tgid);

	(void)i;
	w->state = stop ? *stop : STOP_FREE;
	return w->state != STOP_WAIT || !may_stop() || bpf_ktime_get_ns() > w->until;
}

/*
 * The same without a signal, which parents and other threads would notice: the thread waits here.
 * Sleepable, so that the RCU grace periods that attaching needs go on meanwhile. When user space
 * does not answer in time, a launched process is stopped by the signal, others go on.
 */
SEC("uprobe")
int loaded_wait(struct pt_regs *ctx)
{
	__u64 pid_tgid = current_ids();
	struct wait w = { .tgid = pid_tgid >> 32 };
	struct proc_state *proc = bpf_map_lookup_elem(&procs, &w.tgid);
	__u32 *stop;

	if (!proc || loader_busy(ctx, (__s64)cookie_of(ctx)))
		return 0;
	w.until = bpf_ktime_get_ns() + STOP_WAIT_NS;
	if (!hold(w.tgid, STOP_WAIT)) {
		tell_loaded(pid_tgid, proc);
		return 0;
	}
	tell_loaded(pid_tgid, proc);
	bpf_loop(1 << 23, wait_step, &w, 0);
	if (w.state == STOP_FREE) {
		bpf_map_delete_elem(&stops, &w.tgid);
	} else if (w.state == STOP_WAIT) {
		stop = bpf_map_lookup_elem(&stops, &w.tgid);
		if (!stop)
			return 0;
		*stop = may_signal && may_stop() ? STOP_SENT : STOP_ARMED;
		if (*stop == STOP_SENT)
			bpf_send_signal(SIGSTOP);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
