// SPDX-License-Identifier: GPL-2.0-only
#include "discover/procread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/readall.h"

#define LIMIT (64u << 20) /* of a text that the target can make as long as it likes */

int procread_open(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	/* "exe" leads to the file: not to wait for who holds a lease on it. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

ssize_t procread(pid_t pid, const char *name, char *buf, size_t sz)
{
	_fd_ int fd = procread_open(pid, name);

	return fd < 0 ? fd : readall(fd, buf, sz);
}

int procread_whole(pid_t pid, const char *name, char **text, size_t *len)
{
	_fd_ int fd = procread_open(pid, name);
	_free_ char *buf = NULL;
	size_t cap = 64 << 10, n = 0;
	ssize_t got;

	if (fd < 0)
		return fd;
	for (;;) {
		char *p = realloc(buf, cap + 1);

		if (!p)
			return -ENOMEM;
		buf = p;
		got = readall(fd, buf + n, cap - n);
		if (got < 0)
			return (int)got;
		n += (size_t)got;
		if (n < cap)
			break;
		if (cap >= LIMIT)
			return -EFBIG;
		cap *= 2;
	}
	buf[n] = '\0';
	*len = n;
	*text = take_ptr(buf);
	return 0;
}
