/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The wire format: what the BPF programs put into the ring buffer and, byte for byte, what a
 * capture file holds. Fixed-width types only, little endian, no implicit padding. Enum values are
 * written to disk: append, never renumber. A change of layout raises WIRE_VERSION.
 */
#ifndef ACLTAP_WIRE_H
#define ACLTAP_WIRE_H

#include <linux/types.h>

#define WIRE_VERSION 1

/* Longest message that is kept, in bytes; a longer one is cut and flagged WIRE_F_CUT. */
#define WIRE_MSG_MAX 255

enum wire_kind {
	/* Written by the kernel side. */
	WIRE_CALL = 1,	 /* a traced function was entered; see below for copies of the library */
	WIRE_RETURN = 2, /* it returned: arg0 = return value, arg1 = range id (range_start only) */
	WIRE_FORK = 3,	 /* tgid/tid made process arg0; message = comm of the child */
	WIRE_EXEC = 4,	 /* tgid replaced its program; message = the new comm */
	WIRE_EXIT = 5,	 /* thread tid ended; WIRE_F_LAST when the whole process did */
	WIRE_LOADED = 6, /* the dynamic loader changed the mappings of tgid */
	/* In the ring only: user space writes facts instead. */
	WIRE_JOINED =
		7, /* -a, -n: tgid may be asked for; arg0 = enum wire_joined; message = comm */
	WIRE_THREAD = 8, /* first call of tid is about to come; message = the thread's comm */

	/* Written by user space. */
	WIRE_CLOCK = 16, /* time_ns = monotonic, arg0 = realtime ns, message = __u64 boottime ns */
	WIRE_WATERMARK = 17, /* every record older than time_ns has been written before this one */
	WIRE_LOSS = 18,	     /* arg1 calls of func were lost between arg0 and time_ns */
	WIRE_COUNT = 19,     /* totals of func at the end: message = struct wire_count */
	WIRE_FACT = 20,	     /* a text about process tgid (0: the capture); arg1 = enum wire_fact */
	/* --last, or forks unseen: not all is known of tgid at time_ns; arg1 = enum wire_dropped */
	WIRE_DROPPED = 21,
};

enum wire_flag {
	WIRE_F_UNREADABLE = 1 << 0, /* the message could not be read, or not up to its end */
	WIRE_F_CUT = 1 << 1,	    /* the message was longer than WIRE_MSG_MAX */
	WIRE_F_NO_STATE = 1 << 2,   /* no room for the thread's state: depth and seq are unknown */
	WIRE_F_NO_ID = 1 << 3,	    /* WIRE_RETURN of range_start: the range id could not be read */
	WIRE_F_LAST = 1 << 4,	    /* WIRE_EXIT: the last thread of the process */
	WIRE_F_RETURNS = 1 << 5,    /* WIRE_LOSS: return records were lost, not calls */
	WIRE_F_LATE_STATE =
		1 << 6,	       /* state since there is room: there may have been calls before */
	WIRE_F_MIXED = 1 << 7, /* copies of the library take turns: depths are of all together */
};

/*
 * A process can have several copies of the library, each with ranges of its own. Which one a call
 * belongs to is in arg1 of push, pop, start and stop, and above the 32 bits of the return value in
 * arg0 of a start's return: equal in one process for one copy, 0 = not known. It is a
 * number for where the file's address 0 is, so that two copies can be equal only when they lie 8 TB
 * apart, or were linked for different addresses.
 */

/* Why: arg0 of WIRE_JOINED. */
enum wire_joined {
	JOINED_CALL = 0,   /* its first call of a traced function */
	JOINED_RETURN = 1, /* the first thing seen of it is the return from one */
	JOINED_NAME = 2,   /* -n: it got that name; it need not have called anything */
};

/* What is not known: bits of arg1 of WIRE_DROPPED. */
enum wire_dropped {
	DROPPED_STAMPS = 1 << 0, /* what was set on stamps */
	DROPPED_RANGES = 1 << 1, /* which start/end ranges had begun */
};

/* Keys of WIRE_FACT. With tgid 0 they describe the capture. */
enum wire_fact {
	FACT_NAME = 1,	      /* program name (comm) */
	FACT_CMDLINE = 2,     /* arguments, separated by NUL */
	FACT_EXE = 3,	      /* path of the executable as the process sees it */
	FACT_NSPID = 4,	      /* decimal pid inside the process's own pid namespace */
	FACT_RANK = 5,	      /* decimal rank from the environment */
	FACT_THREAD_NAME = 6, /* comm of thread tid at its first call */
	FACT_USER = 7,	      /* decimal uid */
	FACT_PROBED = 8,      /* a probed file: "path: function+offset ..." */
	FACT_UNPROBED = 9,    /* what cannot be probed there, and why */
	FACT_HOST = 10,	      /* host name */
	FACT_COMMAND = 11,    /* acltap's own command line, separated by NUL */
	FACT_VERSION = 12,    /* acltap's version */
	FACT_OPTION = 13,     /* "name=value" of an option that changes the meaning */
	FACT_BOOT_ID = 14,    /* of the kernel: the clocks of captures with the same one agree */
	FACT_CAPTURE_ID = 15, /* a random text, another one for each recording */
	FACT_PID_SPACE = 16,  /* decimal inode of the PID namespace that all PIDs here belong to */
	FACT_LOCAL_RANK = 17, /* decimal rank among the processes of its host */
	/* Merged captures only, about a source (see WIRE_PID_BITS) but for the last. */
	FACT_SOURCE = 18,  /* name of the capture it was */
	FACT_SHIFT = 19,   /* decimal ns, with sign, that were added to all its times */
	FACT_ENDED = 20,   /* it was not whole: "truncated" or "damaged" */
	FACT_ALIGNED = 21, /* of all: "clock", or the name whose ends were made to agree */
	/* Of any capture again. */
	FACT_KERNEL = 22, /* release and machine of the kernel that was traced */
};

/*
 * In a merged capture (store/capture.h) every tgid holds the number of its source, 1 to
 * WIRE_SOURCES_MAX, above the PID, of which Linux gives out none larger: records of different hosts
 * never look like those of one process. A source number with PID 0 is about the source itself, as
 * tgid 0 is about the whole capture. arg0 of WIRE_FORK stays a plain PID.
 */
#define WIRE_PID_BITS 22
#define WIRE_SOURCES_MAX ((1u << (32 - WIRE_PID_BITS)) - 1)

static inline __u32 wire_tgid(__u32 source, __u32 pid)
{
	return source << WIRE_PID_BITS | pid;
}

static inline __u32 wire_source(__u32 tgid)
{
	return tgid >> WIRE_PID_BITS;
}

static inline __u32 wire_pid(__u32 tgid)
{
	return tgid & ((1u << WIRE_PID_BITS) - 1);
}

/*
 * One record. Followed by msg_len message bytes; len = sizeof(struct wire) + msg_len, and the next
 * record in a capture block begins at the next multiple of 8.
 */
struct wire {
	__u64 time_ns;	 /* CLOCK_MONOTONIC, taken after the record was reserved */
	__u32 tgid;	 /* process */
	__u32 tid;	 /* thread */
	__u16 len;	 /* this record with its message, in bytes */
	__u8 kind;	 /* enum wire_kind */
	__u8 func;	 /* row number in entrypoints.def, where it applies */
	__u32 seq;	 /* number of the thread's call, from 1, lost ones counted; 0 = unknown */
	__u32 gap;	 /* records of this process lost so far */
	__u16 depth;	 /* push depth of the thread before this call; 65535: that or more */
	__u16 min_depth; /* lowest depth since the thread's last delivered call, before this call */
	__u64 arg0;	 /* stamp, range id, category or return value, as the table row says */
	__u32 arg1;	 /* message length as passed, category, payload type, copy or range id */
	__u16 flags;	 /* enum wire_flag */
	__u16 msg_len;	 /* message bytes that follow */
};

/* Message of WIRE_COUNT: calls == delivered records + lost. */
struct wire_count {
	__u64 calls;	    /* entry probes hit in traced processes while the gate was open */
	__u64 lost;	    /* calls whose entry record found no room */
	__u64 lost_returns; /* return records that found no room */
};

_Static_assert(sizeof(struct wire) == 48, "wire record layout");
_Static_assert(__builtin_offsetof(struct wire, len) == 16, "wire record layout");
_Static_assert(__builtin_offsetof(struct wire, seq) == 20, "wire record layout");
_Static_assert(__builtin_offsetof(struct wire, depth) == 28, "wire record layout");
_Static_assert(__builtin_offsetof(struct wire, arg0) == 32, "wire record layout");
_Static_assert(__builtin_offsetof(struct wire, msg_len) == 46, "wire record layout");
_Static_assert(sizeof(struct wire_count) == 24, "wire count layout");

#endif
