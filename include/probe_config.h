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
#define COOKIE_FUNC(c) ((__u32)((c)&0xff))
#define COOKIE_ARG0(c) ((__u32)((c) >> 8 & 0xf))
#define COOKIE_ARG1(c) ((__u32)((c) >> 12 & 0xf))
#define COOKIE_MSG_ARG(c) ((__u32)((c) >> 16 & 0xf))
#define COOKIE_OUT(c) ((__u32)((c) >> 20 & 0xf))
#define COOKIE_MSG(c) ((__u32)((c) >> 24 & 0x3))
#define COOKIE_DEPTH(c) ((__u32)((c) >> 26 & 0x3))
#define COOKIE_POINTER ((__u64)1 << 28) /* returns a pointer, not an int */
/*
 * Of push, pop, start and stop: the address of the probe as its file counts, so that the programs
 * can tell copies of a library apart (see wire.h). 0 = not told.
 */
#define COOKIE_ADDR(c) ((__u32)((c) >> 32))
#define COOKIE_WITH_ADDR(c, addr) ((c) | (__u64)(addr) << 32)
#define COOKIE_SAME(c) ((__u32)(c)) /* of a function, wherever it is */

/* Room in the map of per-function counters; ids in entrypoints.def stay below. */
#define PROBE_FUNCS 64

/*
 * Threads that have called, and processes, of which state is kept at the same time. Their room is
 * made when tracing begins, which takes time: 1 ms for 300 threads.
 */
#define PROBE_MAX_THREADS 4096
#define PROBE_MAX_PROCS 4096

/* State of a traced process; key: tgid. Made by user space or at fork, removed at exit. */
struct proc_state {
	__u32 gap;   /* records lost so far */
	__u16 flags; /* enum proc_flag */
	__u16 gen;   /* another one each time it joins: its threads begin anew */
};

enum proc_flag {
	PROC_IGNORED = 1,  /* -n: its name was not asked for; nothing of it is recorded */
	PROC_FOLLOWED = 2, /* the child of a traced process */
};

/*
 * What may be done to a process when its mappings change; key: tgid. One that maps a probed library
 * is not held again, until it unmaps something: programs load hundreds of others afterwards.
 */
enum stop_state {
	STOP_ARMED = 1,	  /* the next change stops it */
	STOP_QUIET = 2,	  /* the next change, that of program start, only notifies; then armed */
	STOP_SENT = 3,	  /* SIGSTOP was sent: whoever sees this continues it */
	STOP_WAIT = 4,	  /* it waits inside the probe; user space answers ARMED or SETTLED */
	STOP_SETTLED = 5, /* maps a probed library: changes only notify; armed by an unmapping */
};

/* How long a process waits inside the probe before it is stopped by a signal. */
#define STOP_WAIT_NS 500000000ull
/* -a, -n: one that nobody asked for by its number waits less for acltap. */
#define STOP_WAIT_ANY_NS 100000000ull
/* When one waited in vain, acltap is busy: nobody is held for so long. */
#define STOP_PAUSE_NS 1000000000ull
/* When one that was stopped was forgotten, acltap is blocked: it can take long. */
#define STOP_BLOCKED_NS 30000000000ull

/* A program file that has been looked at; the value is an enum stop_state for its next start. */
struct exe_key {
	__u64 ino;
	__u32 dev; /* as the kernel counts: major << 20 | minor */
	__u32 pad;
};

/*
 * State of a thread that called a traced function; key: tid. Removed at thread exit. It also holds
 * what a program would keep on its stack (see maps.bpf.h).
 */
struct thread_state {
	__u32 seq;
	__u32 depth;
	__u32 min_depth;
	__u32 func;
	__u64 ids; /* tgid << 32 | tid */
	/* The call in flight. */
	__u64 cookie;
	__u64 stamp;
	__u64 out; /* where range_start will store the id, 0 when no start is in flight */
	__u64 arg0;
	__u64 msg; /* address in the target */
	__u32 arg1;
	__u32 want; /* message bytes to read */
	__u16 flags;
	__u16 msg_kind;
	__u32 late;	/* made after some threads had found no room: this may be one of them */
	__u32 copy;	/* of the library, of the last push or pop */
	__u32 started;	/* and of the last start */
	__u16 mixed;	/* WIRE_F_MIXED once it is so */
	__u16 gen;	/* of its process when it was made */
	__u8 text[256]; /* a message whose page had to be brought in */
};

/* Counters of a function, one set per CPU; key: func. */
struct func_count {
	__u64 calls;
	__u64 lost;
	__u64 lost_returns;
};

/* Lost lifecycle records (fork, exec, exit) are counted under this number. */
#define PROBE_FUNC_LIFECYCLE (PROBE_FUNCS - 1)

/* Switches that user space turns while the programs run; one array element, key 0. */
struct control {
	__u32 gate;	/* events are recorded */
	__u32 may_stop; /* processes may be stopped; the guardian clears it */
	__u32 expired;	/* changes after which a process went on without an answer; they count */
	__u32 unseen;	/* changes of mappings that found no room in the ring; the programs count */
	__u32 joining;	/* -a, -n: a process that calls a traced function becomes a traced one */
	__u32 own;	/* acltap's own tgid: it never does */
	__u32 hurried;	/* processes that are not traced and were not waited for; programs count */
	__u32 no_room;	/* calls of processes for which the map has no room; the programs count */
	__u64 hurried_ns; /* when the last of them waited in vain */
	__u32 released;	  /* processes that the guardian continued: acltap was blocked */
	__u32 stateless;  /* calls of threads for which the map has no room; the programs count */
	__u32 unfollowed; /* children for which the map of processes has no room; they count too */
	__u32 hold_new;	  /* -a, -n where exec is not seen: a process that is not traced is held */
	__u64 blocked_ns; /* when the guardian continued one, 0 = acltap has been back since */
	__u32 passed;	  /* changes of processes that were not held since then; programs count */
};

/* Offset of r_state in struct r_debug (<link.h>), and its value when no change is under way. */
#define R_DEBUG_STATE 24
#define R_DEBUG_CONSISTENT 0
#define R_DEBUG_DELETE 2

_Static_assert(sizeof(struct proc_state) == 8, "map value layout");
_Static_assert(sizeof(struct thread_state) == 352, "map value layout");
_Static_assert(sizeof(struct exe_key) == 16, "map key layout");
_Static_assert(sizeof(struct func_count) == 24, "map value layout");

#endif
