// SPDX-License-Identifier: GPL-2.0-only
#include "util/readall.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "util/cleanup.h"

/* at NULL: where the descriptor stands. */
static ssize_t read_up_to(int fd, char *p, size_t n, const uint64_t *at)
{
	size_t got = 0;

	while (got < n) {
		ssize_t done = at ? pread(fd, p + got, n - got, (off_t)(*at + got))
				  : read(fd, p + got, n - got);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (!done)
			break;
		got += (size_t)done;
	}
	return (ssize_t)got;
}

ssize_t readall(int fd, void *p, size_t n)
{
	return read_up_to(fd, p, n, NULL);
}

ssize_t readall_at(int fd, void *p, size_t n, uint64_t at)
{
	return read_up_to(fd, p, n, &at);
}

ssize_t readall_text(const char *path, char *buf, size_t sz)
{
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : readall(fd, buf, sz - 1);

	buf[n < 0 ? 0 : n] = '\0';
	return n;
}
