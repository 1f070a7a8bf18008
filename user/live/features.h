/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the running kernel lets this process do. Each answer is a try, not a look at a version
 * number: distributions move features between versions, and rights matter as well. Nothing stays
 * behind: every probe sits on a file in memory that nobody maps, and is removed again.
 */
#ifndef ACLTAP_LIVE_FEATURES_H
#define ACLTAP_LIVE_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Names of fields of struct features, separated by commas, that this kernel is to be taken not to
 * have: the way of older kernels on a newer one, for tests and around a kernel's bugs.
 */
#define FEATURES_DENIED "ACLTAP_WITHOUT"

enum feature {
	FEATURE_BPF,		/* bpf() and an array map */
	FEATURE_RINGBUF,	/* ring buffer map, 5.8 */
	FEATURE_UPROBE,		/* uprobe program */
	FEATURE_UPROBE_MULTI,	/* uprobe_multi link, 6.6 */
	FEATURE_PERF_UPROBE,	/* probe by perf_event_open() */
	FEATURE_SAFE_RETURN,	/* return probes in programs with a seccomp filter */
	FEATURE_RAW_TP,		/* sched_process_fork, _exec, _exit */
	FEATURE_COOKIE,		/* bpf_get_attach_cookie(), 5.15 */
	FEATURE_SLEEPABLE,	/* sleepable uprobe program, 6.0 */
	FEATURE_COPY_FROM_USER, /* bpf_copy_from_user() in it */
	FEATURE_BTF,		/* the kernel's types, readable by this libbpf */
	FEATURE_SEND_SIGNAL,	/* bpf_send_signal() */
	FEATURE_COUNT,
};

struct features {
	bool bpf, ringbuf, uprobe, uprobe_multi, perf_uprobe, safe_return, raw_tp, cookie,
		sleepable, copy_from_user, btf, send_signal;
	int err[FEATURE_COUNT]; /* why not, -errno; 0 for those that are there */
};

/*
 * Tries everything. Takes some 0.2 s, nearly all of it for removing the perf probe. Silences
 * libbpf's own messages meanwhile.
 */
void features_probe(struct features *f);

/* One only; *f keeps the rest. Returns 0 or -errno. */
int features_probe_one(struct features *f, enum feature which);

/* Is it named in FEATURES_DENIED? */
bool features_denied(enum feature which);

/* Whether programs can be loaded and attached at all: without the rest something is missing. */
bool features_can_trace(const struct features *f);

#endif
