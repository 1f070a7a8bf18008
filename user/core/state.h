/* SPDX-License-Identifier: GPL-2.0-only */
/* What the reconstruction knows about processes and threads: lookup, memory, limits. Internal. */
#ifndef ACLTAP_CORE_STATE_H
#define ACLTAP_CORE_STATE_H

#include "core/names.h"
#include "core/range.h"
#include "core/stack.h"
#include "util/map.h"

#define STAMPS_MAX 65536	  /* a process */
#define ALL_STAMPS_MAX (1u << 22) /* in all: forked children have copies */
#define OPEN_IDS_MAX 65536	  /* a process */
#define OPEN_MAX 1000000	  /* in all */
#define CATEGORIES_MAX 65536	  /* names kept, a process; further ones are told each time */
#define ALL_NAMES_MAX (1u << 20)  /* in all, with those inherited */
/* At forks, of stamps and names: so many in all, and more for each record that came. */
#define COPIES_MAX (1u << 22)
#define COPIES_A_RECORD 256
#define WAITERS_MAX 4096 /* stops of a process that wait for starts in flight */
#define PROCS_MAX 262144 /* at the same time; garbage only, the kernel side holds fewer */
#define THREADS_MAX 1048576

/* No loss count ever equals it: what was set under it proves nothing. */
#define GAP_UNKNOWN UINT64_MAX

/* What the program set on a stamp; each part with the process's gap at that time. */
struct stamp {
	uint64_t base_gap; /* of what was never set */
	struct text *text; /* NULL = never set */
	uint64_t text_gap;
	uint64_t category_gap, payload_gap;
	uint32_t category;
	uint32_t version; /* counts changes */
	struct payload payload;
	bool has_category, has_payload;
};

/* The last call of a thread while its return is to come. */
struct pending {
	bool active;
	uint8_t func;
	uint32_t seq; /* of the call */
	uint64_t stamp;
	struct open o;	/* range_start; with returns also marks */
	uint64_t level; /* push: id of its level */
	uint64_t no;	/* range_start: number in its process, in order of entry */
	uint32_t id_doubt;
	uint32_t version;	    /* setters: of the stamp after it */
	struct stamp undo;	    /* setters: the stamp before it */
	struct thread *prev, *next; /* range_start: those in flight, in order of entry */
};

struct thread {
	uint32_t tgid, tid;
	struct proc *proc;
	struct thread *prev, *next; /* of the process, in order of appearance */
	uint32_t seq;		    /* of its last record */
	uint64_t gap;		    /* of its process at its last record */
	uint64_t last_ns;	    /* time of its last call: it never goes back */
	bool stateless;		    /* once without state: depths in its records prove nothing */
	bool mixed;		    /* copies take turns: nor do they then */
	bool headless;		    /* and something may have been open that is not known */
	struct stack stack;
	struct stamp null; /* what was set on a NULL stamp */
	struct pending pending;
};

struct open_range {
	struct open o;
	uint64_t id; /* decode_range_id() */
	uint32_t id_doubt;
	bool lost; /* its entry record was lost: no span, but a stop of it is no orphan */
	struct open_range *prev, *next;
};

/*
 * A stop that found no open id while starts of its process were in flight; or (doubtful) one that
 * found an id which may have been stopped before, unseen, so that it may belong to one of them.
 */
struct waiter {
	struct waiter *next;
	uint64_t upto; /* number of the youngest start in flight */
	uint64_t time_ns, gap, id;
	uint32_t tid, id_doubt;
	uint8_t func;
	bool uncertain, doubtful;
};

struct proc {
	uint32_t tgid;
	struct proc *prev, *next;
	struct thread *threads, *last_thread;
	struct map stamps;			   /* address -> struct stamp */
	struct map opens;			   /* range id -> struct open_range */
	struct open_range *open_first, *open_last; /* in order of opening */
	struct thread *flight_first, *flight_last;
	uint64_t flight_no;
	struct names names;		/* of categories */
	struct map closed, closed_last; /* see startstop.c; only while starts are in flight */
	struct waiter *wait_first, **wait_end;
	uint32_t n_wait;
	uint32_t lost;	   /* highest gap seen in its records */
	uint32_t doubt;	   /* late records: adds to every gap */
	uint32_t id_doubt; /* starts of which the id is not known */
	uint32_t limited;  /* starts of unknown id, or beyond a limit: their stops find nothing */
	uint64_t base_gap; /* of stamps never seen */
	uint64_t null_stamps;
	bool stamps_full;
	bool dropped; /* ranges may have begun in what was dropped before */
};

struct range {
	struct range_config cfg;
	struct range_next next;
	struct counts *counts;
	int err;	   /* first error, sticky */
	uint64_t *last_id; /* of the trace: shared with other sources */
	size_t n_open, n_stamps, n_names;
	uint64_t records, copied;
	struct map procs, threads;
	struct proc *first, *last; /* in order of appearance */
	struct thread *recent;
	bool uses_category, uses_payload;
};

static inline void range_fail(struct range *r, int err)
{
	if (err && !r->err)
		r->err = err;
}

/* A few bytes of a capture, a fork and an exit, must not cost a copy of all there is each. */
static inline bool may_copy(struct range *r, size_t n)
{
	if (r->copied + n > COPIES_MAX + COPIES_A_RECORD * r->records)
		return false;
	r->copied += n;
	return true;
}

/* Compares equal only when no record of the process was lost or late in between. */
static inline uint64_t gap_at(const struct proc *p, uint32_t gap)
{
	return (uint64_t)p->doubt << 32 | gap;
}

static inline uint64_t gap_now(const struct proc *p)
{
	return gap_at(p, p->lost);
}

static inline uint64_t gap_of(const struct thread *t, const struct event *ev)
{
	return gap_at(t->proc, ev->w->gap);
}

/* NULL when there is none, or (creating) on error, which is kept, or beyond the limit. */
struct proc *proc_get(struct range *r, uint32_t tgid, bool create);
struct thread *thread_get(struct range *r, uint32_t tgid, uint32_t tid, bool create);
/* Forgets what it holds; emits nothing. */
void thread_drop(struct range *r, struct thread *t);
void proc_drop(struct range *r, struct proc *p);

/* The state of the stamp, or NULL: never set (or, creating, no memory, or too many). */
struct stamp *stamp_get(struct range *r, struct proc *p, uint64_t addr, bool create);
void stamps_free(struct range *r, struct proc *p);
void stamp_clear(struct stamp *s, uint64_t base_gap);
/* dst = src with its own reference to the text. */
void stamp_copy(struct stamp *dst, const struct stamp *src);
/* The child's copy of the parent's memory; gap: of the parent at the fork. */
void stamps_fork(struct range *r, const struct proc *parent, struct proc *child, uint64_t gap);
void stamp_inherit(struct stamp *dst, const struct stamp *src, uint64_t gap);

/* Begun start/end ranges. open_add takes over the text of *o, also when it fails (NULL). */
struct open_range *open_add(struct range *r, struct proc *p, uint64_t id, const struct open *o);
struct open_range *open_find(const struct proc *p, uint64_t id);
void open_drop(struct range *r, struct proc *p, struct open_range *o);

#endif
