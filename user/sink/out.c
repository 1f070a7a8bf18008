// SPDX-License-Identifier: GPL-2.0-only
#include "sink/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sink/escape.h"
#include "util/cleanup.h"
#include "util/safepath.h"

#define BUFFER_SIZE (256u << 10)

struct out {
	char *buf;
	size_t len;
	size_t cap;
	size_t limit; /* of memory; 0 = a descriptor */
	int err;
	int fd;
	/* Of a file: where it is, and its temporary name unless it grows under its own. */
	int dirfd;
	char *base;
	char *temp;
	bool growing;
	bool overwrite;
	bool published;
	int (*wait)(int fd);
};

static void out_free(struct out *o)
{
	if (!o)
		return;
	if (o->fd >= 0)
		close(o->fd);
	if (o->dirfd >= 0)
		close(o->dirfd);
	free(o->base);
	free(o->temp);
	free(o->buf);
	free(o);
}

static struct out *out_new(size_t cap)
{
	struct out *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->fd = -1;
	o->dirfd = -1;
	o->cap = cap;
	o->buf = malloc(cap);
	if (!o->buf) {
		out_free(o);
		return NULL;
	}
	return o;
}

/* What is there under the final name: 0 = nothing in the way, 1 = a device or FIFO, or -errno. */
static int look_at_target(int dirfd, const char *base, bool overwrite)
{
	struct stat st;

	if (fstatat(dirfd, base, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode))
		return 1;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!overwrite)
		return -EEXIST;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

/* A FIFO that nobody reads is -ENXIO: it would be waited for in open(). Writing may wait. */
static int open_as_it_is(int dirfd, const char *base)
{
	_fd_ int fd =
		openat(dirfd, base, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK))
		return -1;
	return take_fd(&fd);
}

static int open_target(struct out *o, const char *path)
{
	int kind, err;

	if (!strcmp(path, "-")) {
		/* A duplicate, so that an error that only close() reports is seen. */
		o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return o->fd < 0 ? -errno : 0;
	}
	err = safepath_dir(path, &o->dirfd, &o->base);
	if (err)
		return err;
	kind = look_at_target(o->dirfd, o->base, o->overwrite);
	if (kind < 0)
		return kind;
	if (kind)
		o->fd = open_as_it_is(o->dirfd, o->base);
	else
		o->fd = safepath_temp(o->dirfd, o->base, &o->temp);
	if (o->fd < 0)
		return kind ? -errno : o->fd;
	return 0;
}

int out_file(const char *path, bool overwrite, struct out **out)
{
	struct out *o = out_new(BUFFER_SIZE);
	int err;

	if (!o)
		return -ENOMEM;
	o->overwrite = overwrite;
	err = open_target(o, path);
	if (err)
		out_free(o);
	else
		*out = o;
	return err;
}

int out_stream(int fd, struct out **out)
{
	struct out *o = out_new(BUFFER_SIZE);

	if (!o)
		return -ENOMEM;
	o->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (o->fd < 0) {
		int err = -errno;

		out_free(o);
		return err;
	}
	*out = o;
	return 0;
}

int out_growing(const char *path, bool overwrite, struct out **out)
{
	_fd_ int dirfd = -1;
	_free_ char *base = NULL;
	struct out *o;
	int err = safepath_dir(path, &dirfd, &base);

	if (err)
		return err;
	/* Devices and FIFOs are opened as by out_file(), which gives them no other name. */
	if (look_at_target(dirfd, base, overwrite) == 1)
		return out_file(path, overwrite, out);
	o = out_new(BUFFER_SIZE);
	if (!o)
		return -ENOMEM;
	o->fd = safepath_create(dirfd, base, overwrite);
	if (o->fd < 0) {
		err = o->fd;
		out_free(o);
		return err;
	}
	o->dirfd = take_fd(&dirfd);
	o->base = take_ptr(base);
	o->growing = true;
	*out = o;
	return 0;
}

int out_memory(size_t limit, struct out **out)
{
	struct out *o;

	if (!limit)
		return -EINVAL;
	o = out_new(4 * OUT_ROOM);
	if (!o)
		return -ENOMEM;
	o->limit = limit;
	*out = o;
	return 0;
}

const char *out_data(const struct out *o, size_t *sz)
{
	*sz = o->len;
	return o->buf;
}

static int write_all(struct out *o, const char *p, size_t n)
{
	while (n && !o->err) {
		ssize_t done;

		o->err = o->wait ? o->wait(o->fd) : 0;
		if (o->err)
			break;
		done = write(o->fd, p, o->wait && n > PIPE_BUF ? PIPE_BUF : n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return o->err = -errno;
		if (done == 0)
			return o->err = -EIO;
		p += done;
		n -= (size_t)done;
	}
	return o->err;
}

/* Makes room for n bytes, which a buffer for a descriptor can always hold when empty. */
static int make_room(struct out *o, size_t n)
{
	size_t cap = o->cap;
	char *p;

	if (!o->limit) {
		write_all(o, o->buf, o->len);
		o->len = 0;
		return o->err;
	}
	if (n > SIZE_MAX / 2 - o->len)
		return o->err = -ENOSPC;
	while (cap < o->len + n)
		cap *= 2;
	p = realloc(o->buf, cap);
	if (!p) {
		o->len = 0;
		return o->err = -ENOMEM;
	}
	o->buf = p;
	o->cap = cap;
	return 0;
}

static void check_limit(struct out *o)
{
	if (o->limit && o->len > o->limit && !o->err)
		o->err = -ENOSPC;
}

void out_write(struct out *o, const void *p, size_t n)
{
	if (o->err || !n)
		return;
	if (n > o->cap - o->len) {
		if (!o->limit && n >= o->cap) {
			if (!make_room(o, 0))
				write_all(o, p, n);
			return;
		}
		if (make_room(o, n))
			return;
	}
	memcpy(o->buf + o->len, p, n);
	o->len += n;
	check_limit(o);
}

void out_str(struct out *o, const char *s)
{
	out_write(o, s, strlen(s));
}

void out_char(struct out *o, char c)
{
	out_write(o, &c, 1);
}

char *out_room(struct out *o)
{
	if (o->err)
		o->len = 0;
	else if (o->cap - o->len < OUT_ROOM)
		make_room(o, OUT_ROOM);
	return o->buf + o->len;
}

void out_advance(struct out *o, size_t n)
{
	if (o->err)
		return;
	o->len += n;
	check_limit(o);
}

void out_u64(struct out *o, uint64_t v)
{
	char *p = out_room(o);

	out_advance(o, (size_t)(put_u64(p, v) - p));
}

void out_set_wait(struct out *o, int (*wait)(int fd))
{
	o->wait = wait;
}

int out_flush(struct out *o)
{
	if (!o->limit && o->fd >= 0) {
		write_all(o, o->buf, o->len);
		o->len = 0;
	}
	return o->err;
}

int out_error(const struct out *o)
{
	return o->err;
}

int out_regular_fd(const struct out *o)
{
	return o->temp && o->fd >= 0 ? o->fd : -ESPIPE;
}

int out_seal(struct out *o)
{
	if (o->limit || o->fd < 0)
		return o->err;
	if (!o->err)
		write_all(o, o->buf, o->len);
	o->len = 0;
	/* What a network file system could not write is told here at the latest. */
	if (close(o->fd) && !o->err && errno != EINTR)
		o->err = -errno;
	o->fd = -1;
	free(o->buf);
	o->buf = NULL;
	o->cap = 0;
	return o->err;
}

int out_rename(struct out *o, const char *base)
{
	char *copy;

	if (!o->temp || o->published)
		return 0;
	if (strchr(base, '/'))
		return -EINVAL;
	copy = strdup(base);
	if (!copy)
		return -ENOMEM;
	free(o->base);
	o->base = copy;
	return 0;
}

static int give_final_name(struct out *o)
{
	if (o->overwrite) {
		if (renameat(o->dirfd, o->temp, o->dirfd, o->base))
			return -errno;
		return 0;
	}
	if (!renameat2(o->dirfd, o->temp, o->dirfd, o->base, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* A file system without it: a link never replaces either. */
	if (linkat(o->dirfd, o->temp, o->dirfd, o->base, 0))
		return -errno;
	return unlinkat(o->dirfd, o->temp, 0) ? -errno : 0;
}

int out_publish(struct out *o)
{
	out_seal(o);
	if (!o->err && o->temp && !o->published) {
		o->err = give_final_name(o);
		o->published = !o->err;
	}
	return o->err;
}

int out_close(struct out *o)
{
	int err = out_publish(o);

	if (err)
		out_discard(o);
	else
		out_free(o);
	return err;
}

void out_discard(struct out *o)
{
	struct stat st;

	if (o && o->temp)
		unlinkat(o->dirfd, o->published ? o->base : o->temp, 0);
	if (o && o->growing && !fstat(o->fd, &st) && !st.st_size)
		unlinkat(o->dirfd, o->base, 0);
	out_free(o);
}
