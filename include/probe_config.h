/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What user space tells the BPF programs: the attach cookie, the read-only configuration, and the
 * keys and values of the maps. Not stored anywhere; same rules as wire.h.
 */
#ifndef ACLTAP_PROBE_CONFIG_H
#define ACLTAP_PROBE_CONFIG_H

#include <linux/types.h>

/* How a function's message is read; column msg of entrypoints.def. */
enum probe_msg { MSG_NONE, MSG_COUNTED, MSG_CSTRING, MSG_VALUE };

/* What a call does to the push depth of its thread. */
enum probe_depth { DEPTH_KEEP, DEPTH_PUSH, DEPTH_POP };

/*
 * The cookie of a probe says all that a program needs to know about its function, so that one
 * program serves every row of the table. Argument numbers count from 1, 0 = none.
 */
#define COOKIE(func, arg0, arg1, msg, msg_arg, out, depth)                                         \
	((__u64)(func) | (__u64)(arg0) << 8 | (__u64)(arg1) << 12 | (__u64)(msg_arg) << 16 |       \
	 (__u64)(out) << 20 | (__u64)(msg) << 24 | (__u64)(depth) << 26)
#define COOKIE_FUNC(c) ((__u32)((c) & 0xff))
#define COOKIE_ARG0(c) ((__u32)((c) >> 8 & 0xf))
#define COOKIE_ARG1(c) ((__u32)((c) >> 12 & 0xf))
#define COOKIE_MSG_ARG(c) ((__u32)((c) >> 16 & 0xf))
#define COOKIE_OUT(c) ((__u32)((c) >> 20 & 0xf))
#define COOKIE_MSG(c) ((__u32)((c) >> 24 & 0x3))
#define COOKIE_DEPTH(c) ((__u32)((c) >> 26 & 0x3))

/* Room in the map of per-function counters; ids in entrypoints.def stay below. */
#define PROBE_FUNCS 64

/* Threads and processes of which state is kept at the same time. */
#define PROBE_MAX_THREADS 65536
#define PROBE_MAX_PROCS 16384

/* State of a traced process; key: tgid. Made by user space or at fork, removed at exit. */
struct proc_state {
	__u32 gap;   /* records lost so far */
	__u32 flags; /* enum proc_flag */
};

enum proc_flag {
	PROC_FOLLOW = 1 << 0,  /* children are traced as well */
	PROC_STOP = 1 << 1,    /* stopped by SIGSTOP when its mappings change (launch mode) */
	PROC_SETTLED = 1 << 2, /* maps a probed library: never stopped again */
};

/* State of a thread that called a traced function; key: tid. Removed at thread exit. */
struct thread_state {
	__u32 seq;
	__u32 depth;
	__u32 min_depth;
	__u32 pad;
	__u64 out; /* where range_start, in flight, will store the range id */
};

/* Counters of a function, one set per CPU; key: func. */
struct func_count {
	__u64 calls;
	__u64 lost;
	__u64 lost_returns;
};

/* Switches that user space turns while the programs run; one array element, key 0. */
struct control {
	__u32 gate;     /* events are recorded */
	__u32 may_stop; /* processes may be stopped; the guardian clears it */
};

_Static_assert(sizeof(struct proc_state) == 8, "map value layout");
_Static_assert(sizeof(struct thread_state) == 24, "map value layout");
_Static_assert(sizeof(struct func_count) == 24, "map value layout");

#endif
