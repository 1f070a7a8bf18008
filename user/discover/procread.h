/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the texts of /proc/PID. For the files proc*.c only. */
#ifndef ACLTAP_DISCOVER_PROCREAD_H
#define ACLTAP_DISCOVER_PROCREAD_H

#include <stddef.h>
#include <sys/types.h>

/* Opens /proc/PID/name. Returns a descriptor or -errno, -ESRCH when the process is gone. */
int procread_open(pid_t pid, const char *name);

/* Up to sz bytes, not terminated. Returns the length or -errno. */
ssize_t procread(pid_t pid, const char *name, char *buf, size_t sz);

/* All of it, terminated, to be freed. Returns 0, -EFBIG above 64 MiB, or -errno. */
int procread_whole(pid_t pid, const char *name, char **text, size_t *len);

/* A thread of the process that has not ended, although its leader may have; 0 = none. */
pid_t procread_living_thread(pid_t pid);

#endif
