/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading what was asked for, however many calls that takes. */
#ifndef ACLTAP_UTIL_READALL_H
#define ACLTAP_UTIL_READALL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* n bytes from here on, or from offset at; fewer only at the end. The number, or -errno. */
ssize_t readall(int fd, void *p, size_t n);
ssize_t readall_at(int fd, void *p, size_t n, uint64_t at);

/*
 * What a small text file has, up to sz - 1 bytes, terminated (an error: ""). Returns the length or
 * -errno.
 */
ssize_t readall_text(const char *path, char *buf, size_t sz);

#endif
