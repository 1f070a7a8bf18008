/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads /proc/PID of processes that may vanish at any moment (-ESRCH) and whose texts are hostile.
 * PIDs are those of acltap's own namespace.
 */
#ifndef ACLTAP_DISCOVER_PROC_H
#define ACLTAP_DISCOVER_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Each returns the length written (not terminated), or -errno. */
ssize_t proc_comm(pid_t pid, char *buf, size_t sz);
ssize_t proc_cmdline(pid_t pid, char *buf, size_t sz); /* arguments end with NUL each */
ssize_t proc_exe(pid_t pid, char *buf, size_t sz);     /* a path as the process sees it */

/* Each returns 0 or -errno. */
int proc_start_time(pid_t pid, uint64_t *ticks); /* since boot: tells a re-used PID */
int proc_ppid(pid_t pid, pid_t *ppid);
int proc_uid(pid_t pid, uid_t *uid);     /* effective */
int proc_nspid(pid_t pid, pid_t *nspid); /* its PID in its own, innermost namespace */
int proc_tgid(pid_t tid, pid_t *tgid);   /* the process of a thread */
int proc_rank(pid_t pid, int *rank);     /* from RANK and its kin in its first environment */

bool proc_is_zombie(pid_t pid); /* all of it: a process whose leader alone ended is not */

/* The program file, whatever became of its path. Returns a descriptor or -errno. */
int proc_open_exe(pid_t pid);

/* A file that the process maps with executable pages; valid during the callback. */
struct proc_file {
	int fd;  /* opened through map_files, or -1 */
	int err; /* why not, -errno */
	const char *path;        /* as the process sees it, terminated; for messages */
	const char *unprobeable; /* "writable" or "shared": the kernel puts no probe there; or NULL */
};

/*
 * Calls fn once per mapped executable file. fn returns 0 to go on. Returns 0, fn's value, or
 * -errno: -ESRCH, -EACCES ...
 */
int proc_scan_maps(pid_t pid, int (*fn)(void *ctx, const struct proc_file *pf), void *ctx);

/* All processes, and the living descendants of one, as of now. fn returns 0 to go on. */
int proc_for_each(int (*fn)(void *ctx, pid_t pid), void *ctx);
int proc_for_each_descendant(pid_t pid, int (*fn)(void *ctx, pid_t pid), void *ctx);

#endif
