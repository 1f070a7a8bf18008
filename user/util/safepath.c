// SPDX-License-Identifier: GPL-2.0-only
#include "util/safepath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "util/cleanup.h"
#include "util/privs.h"
#include "util/regular.h"

#define MAX_LINKS 40

/* State of the walk: the directory reached, and the text still to be followed. */
struct walk {
	int fd;
	char *rest; /* owned */
	int links;
};

static int walk_restart(struct walk *w, const char *path)
{
	int fd = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
	return 0;
}

/* The link fd, found in the directory w->fd, replaces itself in the text to follow. */
static int walk_link(struct walk *w, int fd, const char *after)
{
	char target[PATH_MAX];
	struct stat dir;
	ssize_t n;
	char *rest;

	if (fstat(w->fd, &dir))
		return -errno;
	if (dir.st_mode & S_IWOTH || ++w->links > MAX_LINKS)
		return -ELOOP;
	/* Whoever owns the directory could place it, for somebody else's rights to follow. */
	if (dir.st_uid && (dir.st_uid != privs_owner_uid() || !privs_is_owner()))
		return -ELOOP;
	n = readlinkat(fd, "", target, sizeof(target) - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (asprintf(&rest, "%s/%s", target, after) < 0)
		return -ENOMEM;
	free(w->rest);
	w->rest = rest;
	return target[0] == '/' ? walk_restart(w, "/") : 0;
}

/* One component that is a directory, or a link to one. */
static int walk_step(struct walk *w, const char *name, const char *after)
{
	_fd_ int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	char *rest;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (S_ISLNK(st.st_mode))
		return walk_link(w, fd, after);
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	rest = strdup(after);
	if (!rest)
		return -ENOMEM;
	free(w->rest);
	w->rest = rest;
	close(w->fd);
	w->fd = take_fd(&fd);
	return 0;
}

static int walk_run(struct walk *w, char **base)
{
	for (;;) {
		char *name = w->rest + strspn(w->rest, "/");
		char *slash = strchr(name, '/');
		int err;

		if (!slash) {
			if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
				return -EISDIR;
			*base = strdup(name);
			return *base ? 0 : -ENOMEM;
		}
		*slash = '\0';
		err = walk_step(w, name, slash + 1);
		if (err)
			return err;
	}
}

int safepath_dir(const char *path, int *dirfd, char **base)
{
	struct walk w = {.fd = -1};
	int err;

	if (!*path)
		return -ENOENT;
	w.rest = strdup(path);
	if (!w.rest)
		return -ENOMEM;
	err = walk_restart(&w, path);
	if (!err)
		err = walk_run(&w, base);
	free(w.rest);
	if (!err)
		*dirfd = w.fd;
	else if (w.fd >= 0)
		close(w.fd);
	return err;
}

int safepath_create(int dirfd, const char *base, bool overwrite)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dirfd, base, flags, 0666);
	struct stat st;

	if (fd >= 0)
		return fd;
	if (errno != EEXIST || !overwrite)
		return -errno;
	if (fstatat(dirfd, base, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	/* Not O_TRUNC: another name of the file, or a reader of it, keeps what it has. */
	if (unlinkat(dirfd, base, 0))
		return -errno;
	fd = openat(dirfd, base, flags, 0666);
	return fd < 0 ? -errno : fd;
}

int safepath_open(const char *path)
{
	_fd_ int dirfd = -1, fd = -1;
	_free_ char *base = NULL;
	int err = safepath_dir(path, &dirfd, &base);
	struct stat st;

	if (err)
		return err;
	fd = openat(dirfd, base, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	return S_ISLNK(st.st_mode) ? -ELOOP : regular_reopen(fd);
}

int safepath_remove(const char *path)
{
	_fd_ int dirfd = -1;
	_free_ char *base = NULL;
	int err = safepath_dir(path, &dirfd, &base);

	return err ?: unlinkat(dirfd, base, 0) ? -errno : 0;
}

static int random_suffix(char out[7])
{
	static const char set[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint8_t bytes[6];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (int i = 0; i < 6; i++)
		out[i] = set[bytes[i] & 31];
	out[6] = '\0';
	return 0;
}

int safepath_temp(int dirfd, const char *base, char **name)
{
	char suffix[7];

	for (int tries = 0; tries < 64; tries++) {
		_free_ char *path = NULL;
		int fd, err = random_suffix(suffix);

		if (err)
			return err;
		/* A long name is cut so that the temporary one is not too long. */
		if (asprintf(&path, ".%.*s.%s", NAME_MAX - 16, base, suffix) < 0)
			return -ENOMEM;
		fd = openat(dirfd, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd >= 0) {
			*name = take_ptr(path);
			return fd;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int scratch_in(int dirfd)
{
	_free_ char *name = NULL;
	int fd = openat(dirfd, ".", O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* Not every file system has files without a name. */
	fd = safepath_temp(dirfd, "acltap", &name);
	if (fd >= 0 && unlinkat(dirfd, name, 0)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

int safepath_scratch(const char *path)
{
	_fd_ int dirfd = -1;
	_free_ char *base = NULL;
	int err;

	if (path && strcmp(path, "-")) {
		err = safepath_dir(path, &dirfd, &base);
		return err ? err : scratch_in(dirfd);
	}
	err = safepath_dir("/var/tmp/x", &dirfd, &base);
	if (!err) {
		err = scratch_in(dirfd);
		if (err >= 0)
			return err;
		close(take_fd(&dirfd));
	}
	free(take_ptr(base));
	err = safepath_dir("/tmp/x", &dirfd, &base);
	return err ? err : scratch_in(dirfd);
}
