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
const volatile __u32 no_cookies = 0;   /* before 5.15: the program is loaded once per cookie, */
const volatile __u64 fixed_cookie = 0; /* and this is it */
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

static __always_inline __u64 cookie_of(void *ctx)
{
	return no_cookies ? fixed_cookie : bpf_get_attach_cookie(ctx);
}

/*
 * -a, -n: a process becomes a traced one by its first call. The record is reserved before the map
 * has the process, so it comes before all others of it; when it is lost, they speak for it.
 */
static __noinline struct proc_state *join(__u32 tgid, __u64 by_return)
{
	struct proc_state fresh = {};
	struct comm_record *r;
	struct control *c;

	if (!may_join(tgid))
		return NULL;
	fresh.gen = bpf_ktime_get_ns() >> 10;
	r = reserve_comm(WIRE_JOINED);
	if (r)
		r->w.arg0 = by_return;
	else
		fresh.gap = GAP_NEW;
	if (!bpf_map_update_elem(&procs, &tgid, &fresh, BPF_NOEXIST)) {
		if (r)
			bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
		return bpf_map_lookup_elem(&procs, &tgid);
	}
	if (r)
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
	if (!bpf_map_lookup_elem(&procs, &tgid)) { /* not another thread: the map is full */
		c = switches();
		if (c)
			__sync_fetch_and_add(&c->no_room, 1);
	}
	return bpf_map_lookup_elem(&procs, &tgid);
}

static __always_inline struct proc_state *traced(__u32 tgid, __u64 by_return)
{
	struct control *c = switches();
	struct proc_state *proc;

	if (!c || !c->gate)
		return NULL;
	proc = bpf_map_lookup_elem(&procs, &tgid);
	if (!proc && c->joining)
		proc = join(tgid, by_return);
	return proc && !(proc->flags & PROC_IGNORED) ? proc : NULL;
}

/*
 * The argument of that number, 0 for none. All are loaded first, which the asm makes sure of:
 * selecting a field of ctx by number would be refused by the verifier.
 */
static __always_inline __u64 arg(struct pt_regs *ctx, __u32 n)
{
	__u64 a1 = PT_REGS_PARM1(ctx), a2 = PT_REGS_PARM2(ctx), a3 = PT_REGS_PARM3(ctx);

	asm volatile("" : "+r"(a1), "+r"(a2), "+r"(a3));
	return n == 1 ? a1 : n == 2 ? a2 : n == 3 ? a3 : 0;
}

/*
 * Which copy of the library: a number for where the file's address 0 is. Odd, so never 0, and by
 * pages, so that it has room up to 8 TB.
 */
static __always_inline __u32 copy_of(struct pt_regs *ctx, __u64 cookie)
{
	__u64 base = PT_REGS_IP(ctx) - COOKIE_ADDR(cookie);

	return COOKIE_ADDR(cookie) ? (__u32)(base >> 12) << 1 | 1 : 0;
}

static __always_inline void fill_call(struct wire *w, const struct thread_state *th,
				      struct proc_state *proc, __u32 got, __u16 flags)
{
	fill(w, WIRE_CALL, th->func, th->ids, proc, th);
	w->arg0 = th->arg0;
	w->arg1 = th->arg1;
	w->flags |= th->flags | flags;
	w->msg_len = got;
	w->len = sizeof(*w) + got;
}

static __always_inline int emit_plain(const struct thread_state *th, struct proc_state *proc)
{
	struct wire *w = bpf_ringbuf_reserve(&events, sizeof(*w), 0);

	if (!w)
		return -1;
	fill_call(w, th, proc, 0, 0);
	bpf_ringbuf_submit(w, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline void count_stateless(void)
{
	struct control *c = switches();

	if (c)
		__sync_fetch_and_add(&c->stateless, 1);
}

/* No room for the thread's state: what is left to say is that there was a call. */
static __noinline int emit_stateless(struct pt_regs *ctx, struct proc_state *proc)
{
	struct wire *w = bpf_ringbuf_reserve(&events, sizeof(*w), 0);
	__u64 cookie = cookie_of(ctx);

	if (!w)
		return -1;
	fill(w, WIRE_CALL, COOKIE_FUNC(cookie), current_ids(), proc, NULL);
	w->arg0 = arg(ctx, COOKIE_ARG0(cookie));
	w->arg1 = copy_of(ctx, cookie);
	if (COOKIE_MSG(cookie) != MSG_NONE)
		w->flags |= WIRE_F_UNREADABLE;
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
static __always_inline __u64 readable(const struct thread_state *c)
{
	__u64 left = page_size - (c->msg & (page_size - 1));

	if (left >= c->want)
		return 0; /* one page, and it cannot be read */
	if (c->msg_kind != MSG_VALUE)
		return left;
	return left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

/* Cut short: not whole, unless its end is in what was read (user space knows). */
static __always_inline __u16 cut_short(const struct thread_state *c)
{
	return c->msg_kind == MSG_VALUE ? 0 : WIRE_F_UNREADABLE;
}

/*
 * The page is not resident, or the text ends where its mapping does. No record may be held while a
 * page is brought in: one that never arrives would stall the ring. So the text goes to the thread's
 * own buffer first.
 */
static __noinline int emit_faulting(struct thread_state *th, struct proc_state *proc)
{
	struct msg_large *r;
	__u16 flags = 0;
	__u64 got;

	if (!th || !proc)
		return 0;
	got = at_most(th->want, MSG_LARGE - 1);
	if (bpf_copy_from_user(th->text, got, (void *)th->msg)) {
		flags = cut_short(th);
		got = at_most(readable(th), MSG_LARGE - 1);
		if (got && bpf_copy_from_user(th->text, got, (void *)th->msg)) {
			flags = WIRE_F_UNREADABLE;
			got = 0;
		}
	}
	r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);
	if (!r)
		return -1;
	__builtin_memcpy(r->msg, th->text, sizeof(r->msg));
	fill_call(&r->w, th, proc, got, got ? flags : WIRE_F_UNREADABLE);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * Reads c->want bytes into a record of constant size (which bpf_ringbuf_reserve() insists on); the
 * three outcomes are: done, no room, or a fault to be handled without a record in hand.
 */
#define EMIT_RESIDENT(type, room, c, proc)                                                         \
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
				fill_call(&r_->w, c, proc, n_, flags_);                            \
				bpf_ringbuf_submit(r_, BPF_RB_NO_WAKEUP);                          \
			}                                                                          \
		}                                                                                  \
		ret_;                                                                              \
	})

static __always_inline int emit_message(struct thread_state *th, struct proc_state *proc)
{
	int ret;

	if (!th->want)
		return emit_plain(th, proc);
	if (th->want <= MSG_SMALL)
		ret = EMIT_RESIDENT(struct msg_small, MSG_SMALL, th, proc);
	else
		ret = EMIT_RESIDENT(struct msg_large, MSG_LARGE - 1, th, proc);
	if (ret > 0 && may_fault)
		ret = emit_faulting(th, proc);
	return ret;
}

static __always_inline void find_message(struct thread_state *th, __u64 msg, __u64 len)
{
	th->msg_kind = COOKIE_MSG(th->cookie);
	th->msg = msg;
	th->want = 0;
	th->flags = 0;
	if (th->msg_kind == MSG_VALUE) {
		th->want = 8;
	} else if (th->msg_kind == MSG_CSTRING) {
		th->want = WIRE_MSG_MAX;
	} else if (th->msg_kind == MSG_COUNTED) {
		/* aclprofSetStampTraceMessage passes 32 bits: what is above them is garbage. */
		th->want = (__u32)len > WIRE_MSG_MAX ? WIRE_MSG_MAX : (__u32)len;
		if ((__u32)len > WIRE_MSG_MAX)
			th->flags = WIRE_F_CUT;
	}
}

/* Does a push or pop of another copy of the library come while something is open? */
static __always_inline void note_copy(struct thread_state *th)
{
	if (COOKIE_DEPTH(th->cookie) == DEPTH_KEEP)
		return;
	if (th->depth && th->copy != th->arg1)
		th->mixed = WIRE_F_MIXED;
	th->copy = th->arg1;
}

/* The push depth after this call; see reconstruction of losses in wire.h (min_depth). */
static __always_inline void step(struct thread_state *th, int lost)
{
	__u32 depth = th->depth, effect = COOKIE_DEPTH(th->cookie);

	if (effect == DEPTH_PUSH)
		depth++;
	else if (effect == DEPTH_POP && depth)
		depth--;
	th->depth = depth;
	if (!lost || depth < th->min_depth)
		th->min_depth = depth;
}

/*
 * The first call of a thread, or since its process joined again: makes its state anew (NULL: the
 * map is full) and tells its name. One that finds no room in the ring is neither counted nor a gap:
 * it is no call, and no range depends on it. The thread then has no name.
 */
static __noinline struct thread_state *thread_new(__u32 tid, __u16 gen)
{
	struct thread_state *th, *fresh;
	struct comm_record *r;
	__u32 zero = 0;

	fresh = bpf_map_lookup_elem(&fresh_thread, &zero);
	if (!fresh)
		return NULL;
	th = bpf_map_lookup_elem(&threads, &tid);
	if (th) /* nobody else is at it: it is the current thread's */
		__builtin_memcpy(th, fresh, sizeof(*th));
	else
		bpf_map_update_elem(&threads, &tid, fresh, BPF_NOEXIST);
	th = bpf_map_lookup_elem(&threads, &tid);
	if (!th)
		return NULL;
	th->gen = gen;
	th->late = is_crowded();
	r = reserve_comm(WIRE_THREAD);
	if (r)
		bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return th;
}

/* The state of the current thread with what both programs put there. */
static __always_inline struct thread_state *thread_here(void *ctx, const struct proc_state *proc)
{
	__u32 tid = thread_key();
	struct thread_state *th = bpf_map_lookup_elem(&threads, &tid);

	if (!th || th->gen != proc->gen)
		th = thread_new(tid, proc->gen);
	if (!th)
		return NULL;
	th->ids = current_ids();
	th->cookie = cookie_of(ctx);
	th->func = COOKIE_FUNC(th->cookie);
	return th;
}

SEC("uprobe")
int entry(struct pt_regs *ctx)
{
	struct proc_state *proc = traced(current_ids() >> 32, 0);
	__u32 func = COOKIE_FUNC(cookie_of(ctx));
	struct func_count *count;
	struct thread_state *th;
	int ret;

	if (!proc)
		return 0;
	count = bpf_map_lookup_elem(&counts, &func);
	if (!count)
		return 0;
	__sync_fetch_and_add(&count->calls, 1);
	th = thread_here(ctx, proc);
	if (!th) {
		count_stateless();
		if (emit_stateless(ctx, proc))
			count_lost(proc, count, WIRE_CALL);
		return 0;
	}
	th->seq++;
	th->arg0 = arg(ctx, COOKIE_ARG0(th->cookie));
	th->arg1 = COOKIE_ARG1(th->cookie) ? arg(ctx, COOKIE_ARG1(th->cookie))
					   : copy_of(ctx, th->cookie);
	th->stamp = th->arg0;
	if (COOKIE_OUT(th->cookie)) {
		th->out = arg(ctx, COOKIE_OUT(th->cookie));
		th->started = th->arg1;
	}
	note_copy(th);
	find_message(th, arg(ctx, COOKIE_MSG_ARG(th->cookie)), arg(ctx, COOKIE_ARG1(th->cookie)));
	ret = emit_message(th, proc);
	if (ret)
		count_lost(proc, count, WIRE_CALL);
	step(th, ret);
	return 0;
}

/* A push that failed on a real stamp opened nothing. */
static __always_inline void undo_push(struct thread_state *th)
{
	if (!th->stamp || !th->depth)
		return;
	th->depth--;
	if (th->depth < th->min_depth)
		th->min_depth = th->depth;
}

/*
 * What range_start stored, into arg1; the flags of the record. Once for each entry: when a signal
 * handler started a range meanwhile, the place of the interrupted one is gone.
 */
static __always_inline __u16 read_id(struct thread_state *th)
{
	__u64 out = th->out;

	th->arg1 = 0;
	if (!COOKIE_OUT(th->cookie))
		return 0;
	th->out = 0;
	if (!out || bpf_probe_read_user(&th->arg1, sizeof(th->arg1), (void *)out))
		return WIRE_F_NO_ID;
	return 0;
}

/* A return in a thread whose state found no room. */
static __always_inline int emit_stateless_return(struct proc_state *proc, __u64 cookie, __u64 ret)
{
	struct wire *w = bpf_ringbuf_reserve(&events, sizeof(*w), 0);

	if (!w)
		return -1;
	fill(w, WIRE_RETURN, COOKIE_FUNC(cookie), current_ids(), proc, NULL);
	w->arg0 = cookie & COOKIE_POINTER ? ret : (__u64)(__s64)(__s32)ret;
	w->flags |= COOKIE_OUT(cookie) ? WIRE_F_NO_ID : 0;
	bpf_ringbuf_submit(w, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline int emit_return(struct thread_state *th, struct proc_state *proc)
{
	__u16 flags = read_id(th);
	struct wire *w;

	if (COOKIE_DEPTH(th->cookie) == DEPTH_PUSH && th->arg0)
		undo_push(th);
	w = bpf_ringbuf_reserve(&events, sizeof(*w), 0);
	if (!w)
		return -1;
	fill(w, WIRE_RETURN, th->func, th->ids, proc, th);
	w->arg0 = th->arg0;
	w->arg1 = th->arg1;
	if (COOKIE_OUT(th->cookie))
		w->arg0 = (__u32)th->arg0 | (__u64)th->started << 32;
	w->flags |= flags;
	bpf_ringbuf_submit(w, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("uretprobe")
int leave(struct pt_regs *ctx)
{
	struct proc_state *proc = traced(current_ids() >> 32, 1);
	struct thread_state *th;
	__u32 func;

	if (!proc)
		return 0;
	th = thread_here(ctx, proc);
	if (th) {
		/* The call is over: its argument's place takes the return value. */
		th->arg0 = PT_REGS_RC(ctx);
		if (!(th->cookie & COOKIE_POINTER))
			th->arg0 = (__s64)(__s32)th->arg0;
		if (!emit_return(th, proc))
			return 0;
	} else if (!emit_stateless_return(proc, cookie_of(ctx), PT_REGS_RC(ctx))) {
		return 0;
	}
	func = COOKIE_FUNC(cookie_of(ctx));
	count_lost(proc, bpf_map_lookup_elem(&counts, &func), WIRE_RETURN);
	return 0;
}

#include "loader.bpf.h"

char LICENSE[] SEC("license") = "GPL";
