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
int proc_uid(pid_t pid, uid_t *uid);	  /* effective */
int proc_nspid(pid_t pid, pid_t *nspid);  /* its PID in its own, innermost namespace */
int proc_pidns(pid_t pid, uint64_t *ino); /* which PID namespace it is in */
int proc_tgid(pid_t tid, pid_t *tgid);	  /* the process of a thread */

/*
 * From the environment it was started with; -1 = unknown. A local rank is one among the processes
 * of a host: it tells processes of several hosts not apart, so it never stands in for the rank.
 */
struct proc_rank {
	int rank;  /* RANK, OMPI_COMM_WORLD_RANK or SLURM_PROCID, in this order */
	int local; /* LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_RANK or SLURM_LOCALID */
};

/* Returns 0; -ENODATA when it has neither; -errno. *out is always set. */
int proc_rank(pid_t pid, struct proc_rank *out);

bool proc_is_stopped(pid_t pid); /* by a signal */
bool proc_is_zombie(pid_t pid);	 /* all of it: a process whose leader alone ended is not */
bool proc_is_kernel_thread(pid_t pid);

/* The program file, whatever became of its path. Returns a descriptor or -errno. */
int proc_open_exe(pid_t pid);

/* A piece of a file's code as one process has it. */
struct proc_text {
	uint64_t offset, size;	 /* in the file */
	const char *unprobeable; /* see proc_file */
	uint64_t key;		 /* of the mapping: see proc_scan_others() */
};

/* The environment it was started with, terminated by an empty string; to be freed. */
int proc_environ(pid_t pid, char **env, size_t *len);

/*
 * Opens a regular file by its path as the process sees it, for reading: symbolic links are resolved
 * inside its root, so that they lead nowhere else. Needs Linux 5.6. Returns a descriptor or -errno.
 */
int proc_open_in_root(pid_t pid, const char *path);

/* A file that the process maps with executable pages; valid during the callback. */
struct proc_file {
	int fd;		  /* opened through map_files, or -1 */
	int err;	  /* why not, -errno */
	const char *path; /* as the process sees it, terminated; for messages */
	/*
	 * Why the kernel puts no probe into its code, or into a piece of it: mapped "writable",
	 * "shared", or "as a copy in anonymous memory"; else NULL.
	 */
	const char *unprobeable;
	bool partly;		      /* another piece can be probed: proc_text_problem() tells */
	const struct proc_text *text; /* by offset; a file mapped twice has pieces twice */
	size_t n_text;
};

/* Why a probe at this offset has no effect in that process: NULL when it has one. */
const char *proc_text_problem(const struct proc_file *pf, uint64_t offset);

/*
 * Calls fn once per mapped executable file, by the real device and inode. fn returns 0 to go on.
 * Returns 0, fn's value, or -errno: -ESRCH, -EACCES ...
 */
int proc_scan_maps(pid_t pid, int (*fn)(void *ctx, const struct proc_file *pf), void *ctx);
/*
 * The same without the mappings that skip knows by their key, which costs no system call each. A
 * key comes again when the same piece of the same file is mapped at the same place.
 */
int proc_scan_others(pid_t pid, bool (*skip)(void *ctx, uint64_t key),
		     int (*fn)(void *ctx, const struct proc_file *pf), void *ctx);

/* All processes, and the living descendants of one, as of now. fn returns 0 to go on. */
int proc_for_each(int (*fn)(void *ctx, pid_t pid), void *ctx);
int proc_for_each_descendant(pid_t pid, int (*fn)(void *ctx, pid_t pid), void *ctx);

#endif
