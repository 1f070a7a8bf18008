// SPDX-License-Identifier: GPL-2.0-only
#include "util/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "util/cleanup.h"

int regular_open(const char *path)
{
	_fd_ int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : regular_reopen(fd);
}

int regular_reopen(int path_fd)
{
	char link[32];
	struct stat st;
	int fd;

	if (fstat(path_fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	/* Not to wait for who holds a lease on it. */
	fd = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
