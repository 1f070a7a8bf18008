/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this process may do, as far as tracing is concerned: capabilities and what can forbid
 * tracing in spite of them. Parsing and explaining are pure; rights_read() reads /proc and /sys.
 */
#ifndef ACLTAP_UTIL_RIGHTS_H
#define ACLTAP_UTIL_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bit numbers as in linux/capability.h, whose older versions lack some. */
enum right {
	RIGHT_DAC_OVERRIDE = 1,	   /* outputs where only another user may write */
	RIGHT_DAC_READ_SEARCH = 2, /* environ and map_files of other users' processes */
	RIGHT_KILL = 5,		   /* stop and continue other users' processes */
	RIGHT_SYS_PTRACE = 19,	   /* /proc/PID/root, maps */
	RIGHT_SYS_ADMIN = 21,	   /* perf uprobes, map_files */
	RIGHT_SYS_RESOURCE = 24,   /* lift the limit of locked memory */
	RIGHT_PERFMON = 38,
	RIGHT_BPF = 39,
};

enum lockdown { LOCKDOWN_UNKNOWN, LOCKDOWN_NONE, LOCKDOWN_INTEGRITY, LOCKDOWN_CONFIDENTIALITY };

struct rights {
	uint64_t caps; /* effective set */
	bool seccomp;  /* a filter is on: it may refuse bpf() and perf_event_open() */
	bool user_ns;  /* not in the initial user namespace: capabilities count only inside */
	bool pid_ns;   /* not in the initial PID namespace */
	bool selinux;  /* enforcing */
	bool memlock;  /* the limit of locked memory holds for BPF (before 5.11) and cannot go */
	enum lockdown lockdown;
	int perf_paranoid; /* kernel.perf_event_paranoid, -2 = unknown */
	int unpriv_bpf;	   /* kernel.unprivileged_bpf_disabled, -1 = unknown */
	char lsm[128];	   /* names of the active security modules, "" = unknown */
};

void rights_read(struct rights *r);

/* From the text of /proc/self/status: caps and seccomp. -EBADMSG when CapEff is not there. */
int rights_parse_status(const char *text, struct rights *r);
/* "none [integrity] confidentiality" */
enum lockdown rights_parse_lockdown(const char *text);

/* Does that kernel ("5.10.0-46-cloud-amd64") count BPF maps as locked memory? */
bool rights_counts_memlock(const char *release);

bool rights_has(const struct rights *r, enum right right);

/*
 * Why the kernel refused something that needs the rights in need (bits 1 << enum right) with err
 * (-errno), and what to do: one line, "" when rights are not the reason. Returns buf.
 */
const char *rights_explain(const struct rights *r, uint64_t need, int err, char *buf, size_t sz);

#define RIGHT_BIT(right) (1ULL << (right))
/* What loading the programs and a uprobe_multi link need; perf uprobes need SYS_ADMIN as well. */
#define RIGHTS_TRACE (RIGHT_BIT(RIGHT_BPF) | RIGHT_BIT(RIGHT_PERFMON))

/* What is kept while tracing; see also RIGHT_DAC_*. */
#define RIGHTS_RUNNING                                                                             \
	(RIGHTS_TRACE | RIGHT_BIT(RIGHT_SYS_ADMIN) | RIGHT_BIT(RIGHT_SYS_PTRACE) |                 \
	 RIGHT_BIT(RIGHT_KILL))

/* The names of the rights of want that r lacks: "CAP_BPF and CAP_PERFMON"; "" = none. */
const char *rights_missing(const struct rights *r, uint64_t want, char *buf, size_t sz);

#endif
