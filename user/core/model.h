/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The nouns of the core: what the reconstruction makes of wire records and every output is made of.
 * Values only; whoever emits one owns the memory it points to, and it is valid during the call.
 * Times are nanoseconds: of CLOCK_MONOTONIC where the reconstruction emits them, of the Unix epoch
 * where a sink receives them (pipeline.c converts).
 */
#ifndef ACLTAP_CORE_MODEL_H
#define ACLTAP_CORE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum span_kind { SPAN_MARKER, SPAN_PUSH_POP, SPAN_START_END, SPAN_MARKER_EX };

/* Meaning of each: shared words of all outputs. A mark is always complete or uncertain. */
enum span_status {
	SPAN_COMPLETE,	 /* begin and end are known and proven */
	SPAN_UNFINISHED, /* its thread, process or program ended first; end_ns is that time */
	SPAN_OPEN,	 /* still open when tracing ended; no end */
	SPAN_SUPERSEDED, /* start/end: a second start on the open id; end_ns is that start */
	SPAN_UNCERTAIN,	 /* records were lost that it depends on; no end unless a mark */
};

struct payload {
	int32_t type;	  /* as passed by the program */
	uint8_t len;	  /* readable bytes, 0 to 8; 0 = never set */
	uint8_t bytes[8]; /* as in the program's memory */
};

/* A mark (start_ns == end_ns) or a range. */
struct span {
	uint64_t id;	 /* running number in order of opening, from 1; unique in a trace */
	uint64_t parent; /* id of the enclosing push/pop span of the start thread, 0 = none */
	uint64_t start_ns;
	uint64_t end_ns; /* only with has_end */
	uint32_t pid;
	uint32_t start_tid;
	uint32_t end_tid; /* the thread of the end call; start_tid where there was none */
	uint32_t depth;	  /* enclosing push/pop ranges of the start thread, 0 = outermost */
	uint32_t seq;	  /* sequence number of the opening record in its thread */
	uint32_t category;
	struct payload payload;
	int32_t ret;	    /* of the opening call, only with has_ret */
	const char *name;   /* message bytes as passed, not terminated, any bytes but NUL */
	const char *domain; /* NULL for stamp events, else "default" or the domain's name */
	uint16_t name_len;
	uint8_t kind;	/* enum span_kind */
	uint8_t status; /* enum span_status */
	bool has_end;
	bool has_ret;
	bool unreadable; /* the message could not be read (whole): name is what was got */
	bool cut;	 /* the message was longer than WIRE_MSG_MAX */
};

/* What is not an event, as counts. */
enum tally_kind {
	TALLY_CALL,	    /* calls of func seen by the kernel side; ret unused */
	TALLY_ORPHAN,	    /* ends without a begin */
	TALLY_FAILED,	    /* calls that returned ret != 0 */
	TALLY_UNREADABLE,   /* messages that could not be read */
	TALLY_CUT,	    /* messages longer than WIRE_MSG_MAX */
	TALLY_LOSS,	    /* calls of func lost between from_ns and to_ns */
	TALLY_LOST_RETURN,  /* return records of func lost between from_ns and to_ns */
	TALLY_LOST_PROCESS, /* records of fork, exec or exit lost between from_ns and to_ns */
	TALLY_LOST_START,   /* ends whose begin was lost */
	TALLY_LIMIT,	    /* calls that went beyond a limit of the reconstruction */
	TALLY_NULL_STAMP,   /* create_stamp calls that returned NULL; per process */
	TALLY_LATE,	    /* records that came later than their watermark: an error of acltap */
	TALLY_BAD,	    /* records that could not be decoded */
	TALLY_MISMATCH,	    /* calls of func neither delivered nor counted as lost (or too many) */
};

struct tally {
	enum tally_kind kind;
	uint8_t func;		 /* row of the table, where it applies */
	uint32_t pid;		 /* process, 0 = all */
	uint32_t source;	 /* of a merged trace: which of its captures; else 0 */
	int32_t ret;		 /* TALLY_FAILED */
	uint64_t count;		 /* never 0 */
	uint64_t from_ns, to_ns; /* of records that were lost; else 0 */
};

/*
 * What is known about a process; texts are never NULL, "" = unknown. In all of a trace pid, ppid
 * and the PIDs of spans, tallies and labels tell processes apart: in a merged one a PID that
 * another host has used already is replaced by a free number, and host_pid says what it was.
 */
struct process {
	uint32_t pid;	/* in acltap's pid namespace */
	uint32_t nspid; /* in the process's own, 0 = unknown */
	uint32_t ppid;	/* the traced parent that forked it, 0 = none */
	int32_t rank;	/* -1 = none */
	const char *name;
	const char *cmdline; /* arguments joined by blanks */
	const char *exe;
	const char *host;
	int32_t local_rank; /* among the processes of its host, -1 = none */
	uint32_t host_pid;  /* its PID there: pid, unless that was replaced */
	uint32_t source;    /* of a merged trace: which of its captures; else 0 */
	uint32_t image; /* another number: another process of that PID, or program of it; 0 = ? */
};

/* A thread's name, or a category's. */
struct label {
	uint32_t pid;
	uint32_t id; /* tid, or category number */
	const char *text;
	uint16_t len;
};

struct clock_triple {
	uint64_t mono_ns, real_ns, boot_ns;
};

/* One of the captures that a merged trace was made of. Texts are never NULL, "" = unknown. */
struct trace_source {
	uint32_t number;  /* from 1 */
	const char *name; /* of its file */
	const char *host, *boot_id, *version, *kernel;
	const char *ended;		 /* "" = it was whole; "truncated", "damaged" */
	struct clock_triple first, last; /* as it read them, by its own clocks */
	int64_t shift_ns;		 /* added to its monotonic times */
};

/* Facts about the whole trace. In sink begin() the last_* part is not known yet (all 0). */
struct trace_meta {
	const char *host;	   /* "" = unknown */
	const char *version;	   /* acltap's version that recorded */
	const char *kernel;	   /* release and machine, "" = unknown, also of a merged trace */
	struct clock_triple first; /* epoch = monotonic + (first.real_ns - first.mono_ns) */
	struct clock_triple last;
	bool complete;	 /* the capture has its footer, and those it was merged from had theirs */
	const char *cut; /* how it ends without: "truncated", "running", "damaged"; NULL: no word */
	uint64_t filtered;   /* spans that a filter kept from the output; not known in begin() */
	uint32_t sources;    /* of a merged trace, else 0; not known in begin() */
	const char *aligned; /* of a merged trace: "clock", or a name; "" */
};

/*
 * A message that could not be read is shown as what was got of it and this text, so that it is
 * never taken for an empty or a whole one.
 */
#define UNREADABLE_TEXT "<unreadable>"

#define SPAN_NAME_MAX (255 + sizeof(UNREADABLE_TEXT))
/* The name as it is shown, terminated; bytes after a NUL are left out. Returns its length. */
unsigned int span_shown_name(const struct span *sp, char buf[SPAN_NAME_MAX]);

const char *span_kind_name(enum span_kind kind);   /* marker, push/pop, start/end, marker_ex */
const char *span_status_name(enum span_status st); /* complete, unfinished, ... */
const char *tally_kind_name(enum tally_kind kind); /* call, orphan, failed, ... */
/* Records that were lost in some time? */
bool tally_is_loss(enum tally_kind kind);

#endif
