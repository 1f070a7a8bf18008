/* SPDX-License-Identifier: GPL-2.0-only */
/* Opens, configures and loads the two BPF objects. Owns their maps and programs. */
#ifndef ACLTAP_LIVE_BPFLOAD_H
#define ACLTAP_LIVE_BPFLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "live/features.h"
#include "probe_config.h"

/* Environment: less room than PROBE_MAX_PROCS, for a test of what happens then. */
#define BPF_MAX_PROCS "ACLTAP_MAX_PROCS"

struct bpf_config {
	struct features feat;
	uint64_t ring_size; /* bytes; a power of two, at least a page */
	bool follow;	    /* children are traced as well */
	bool named;	    /* processes are found by their name, which can change */
	bool launch;	    /* processes may be stopped by a signal when their mappings change */
	bool hold;	    /* they may wait inside the loader's probe */
	bool may_fault;	    /* pages of messages may be brought in */
};

/* The program of a probe. */
enum attach_prog { ATTACH_ENTRY, ATTACH_LEAVE, ATTACH_LOADED };

struct bpf_variant;

struct bpf {
	struct bpf_config cfg;
	struct events_bpf *events;
	/* Without attach cookies: a load of its own for each program and cookie, made when needed.
	 */
	struct bpf_variant *variants;
	size_t n_variants;
	struct follow_bpf *follow; /* NULL where the kernel has no BTF */
	struct control *control;   /* shared with the programs, and with a guardian after fork */
	bool multi;		   /* programs are for uprobe_multi links */
	bool waits;		   /* a process waits inside the loader's probe, see loaded_wait */
	__u32 max_procs;	   /* room in the map of processes */
	int ring_fd, procs_fd, threads_fd, counts_fd, stops_fd, known_exes_fd;
};

/* From now on libbpf prints nothing; before what follows, and before there are threads. */
void bpf_quiet(void);

/* Loads what records calls. Returns 0 and *out, or -errno after telling the user why. */
int bpf_load(const struct bpf_config *cfg, struct bpf **out);
void bpf_unload(struct bpf *b); /* NULL is fine */

/*
 * What following processes needs of the kernel's types: a file, or -errno. Silent, and needs
 * nothing that is loaded: another thread may do it.
 */
int bpf_follow_types(void);
/*
 * Loads and attaches what follows processes. That is optional: if it fails b->follow is NULL, and
 * the user is told what is not seen. types: from bpf_follow_types(), stays the caller's; negative:
 * all types of the kernel are looked through, which takes long.
 */
void bpf_follow(struct bpf *b, int types);

/* The program to attach with that cookie. Valid until bpf_unload(). Returns 0 or -errno. */
struct bpf_program;
int bpf_program_for(struct bpf *b, enum attach_prog prog, uint64_t cookie,
		    struct bpf_program **out);

/* Opens or closes the gate: calls are recorded only while it is open. */
void bpf_gate(struct bpf *b, bool open);

int bpf_trace_process(struct bpf *b, uint32_t tgid); /* -E2BIG: too many processes */
/* Have the programs an entry for it, traced or ignored? */
bool bpf_knows_process(const struct bpf *b, uint32_t tgid, struct proc_state *state);
void bpf_untrace_process(struct bpf *b, uint32_t tgid);
/* Removes the state of its threads, where no program sees them end. */
void bpf_forget_threads(struct bpf *b, uint32_t tgid);
void bpf_ignore_process(struct bpf *b, uint32_t tgid); /* one that joined by itself */

/*
 * Visits every key of a map by PID, which visit may remove. The programs change the map meanwhile:
 * when they remove the key just visited it begins anew, so one can be visited twice.
 */
void bpf_each_pid(int map_fd, void (*visit)(void *ctx, pid_t pid), void *ctx);

/*
 * Where the kernel can preempt a program at a tracepoint (Linux 7), one that another task brings
 * about on that CPU meanwhile is not run. How often that was, of all tasks of the machine: whether
 * one of ours was among them nobody knows.
 */
uint64_t bpf_skipped(const struct bpf *b);
/* Sums the counters of a function over all CPUs. */
int bpf_counts(const struct bpf *b, unsigned int func, struct func_count *out);

#endif
