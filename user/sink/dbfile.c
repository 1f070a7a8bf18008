// SPDX-License-Identifier: GPL-2.0-only
#include "sink/dbfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/cleanup.h"
#include "util/readall.h"
#include "util/safepath.h"

struct dbfile {
	sqlite3_vfs vfs; /* registered while this lives */
	char name[32];
	char *path;
	int fd;
	int err; /* first error of a file */
	sqlite3 *db;
};

/* What SQLite holds as an open file; begins with its own part. */
struct handle {
	sqlite3_file base;
	struct dbfile *owner;
	int fd;
	bool scratch; /* ours to close */
};

static struct handle *handle_of(sqlite3_file *file)
{
	return (struct handle *)file;
}

static int failed(struct handle *h, int err, int rc)
{
	if (!h->owner->err)
		h->owner->err = err;
	return err == -ENOSPC || err == -EDQUOT ? SQLITE_FULL : rc;
}

static int file_close(sqlite3_file *file)
{
	struct handle *h = handle_of(file);

	if (h->scratch)
		close(take_fd(&h->fd));
	return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *buf, int n, sqlite3_int64 at)
{
	struct handle *h = handle_of(file);
	ssize_t got = readall_at(h->fd, buf, (size_t)n, (uint64_t)at);

	if (got < 0)
		return failed(h, (int)got, SQLITE_IOERR_READ);
	if (got == n)
		return SQLITE_OK;
	/* What lies behind the end is zero, and SQLite wants to know of it. */
	memset((char *)buf + got, 0, (size_t)(n - got));
	return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *file, const void *buf, int n, sqlite3_int64 at)
{
	struct handle *h = handle_of(file);
	const char *p = buf;

	while (n > 0) {
		ssize_t done = pwrite(h->fd, p, (size_t)n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return failed(h, done ? -errno : -EIO, SQLITE_IOERR_WRITE);
		p += done;
		at += done;
		n -= (int)done;
	}
	return SQLITE_OK;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct handle *h = handle_of(file);

	return ftruncate(h->fd, size) ? failed(h, -errno, SQLITE_IOERR_TRUNCATE) : SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	struct handle *h = handle_of(file);
	struct stat st;

	if (fstat(h->fd, &st))
		return failed(h, -errno, SQLITE_IOERR_FSTAT);
	*size = st.st_size;
	return SQLITE_OK;
}

/* The sink flushes once, when all is written. */
static int file_sync(sqlite3_file *file, int flags)
{
	(void)file, (void)flags;
	return SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level)
{
	(void)file, (void)level;
	return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *file, int *reserved)
{
	(void)file;
	*reserved = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
	(void)file, (void)op, (void)arg;
	return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *file)
{
	(void)file;
	return 4096;
}

static int file_characteristics(sqlite3_file *file)
{
	(void)file;
	return 0;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_lock,
	.xCheckReservedLock = file_is_reserved,
	.xFileControl = file_control,
	.xSectorSize = file_sector_size,
	.xDeviceCharacteristics = file_characteristics,
};

/* The database itself, or a file of SQLite's own that nobody else is to see. */
static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		    int *out_flags)
{
	struct handle *h = handle_of(file);
	struct dbfile *f = vfs->pAppData;

	(void)name;
	memset(h, 0, sizeof(*h));
	h->owner = f;
	h->fd = f->fd;
	if (!(flags & SQLITE_OPEN_MAIN_DB)) {
		h->fd = safepath_scratch(f->path);
		if (h->fd < 0)
			return failed(h, h->fd, SQLITE_CANTOPEN);
		h->scratch = true;
	}
	h->base.pMethods = &methods;
	if (out_flags)
		*out_flags = flags;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs, (void)name, (void)sync;
	return SQLITE_OK;
}

/* There is no journal or log of an earlier time. */
static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
	(void)vfs, (void)name, (void)flags;
	*result = 0;
	return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	(void)vfs;
	return snprintf(out, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int register_vfs(struct dbfile *f)
{
	const sqlite3_vfs *standard = sqlite3_vfs_find(NULL);

	if (!standard)
		return -ENOSYS;
	/* Time, sleep and random numbers as ever; files only by the functions above. */
	f->vfs = *standard;
	f->vfs.pNext = NULL;
	f->vfs.szOsFile = sizeof(struct handle);
	f->vfs.zName = f->name;
	f->vfs.pAppData = f;
	f->vfs.xOpen = vfs_open;
	f->vfs.xDelete = vfs_delete;
	f->vfs.xAccess = vfs_access;
	f->vfs.xFullPathname = vfs_full_path;
	return sqlite3_vfs_register(&f->vfs, 0) == SQLITE_OK ? 0 : -ENOMEM;
}

static void dbfile_free(struct dbfile *f)
{
	sqlite3_vfs_unregister(&f->vfs);
	free(f->path);
	free(f);
}

int dbfile_open(int fd, const char *path, struct dbfile **out)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	struct dbfile *f;
	int err, rc;

	if (sqlite3_initialize() != SQLITE_OK)
		return -ENOMEM;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->fd = fd;
	/* One name for each, so that several can be open. */
	snprintf(f->name, sizeof(f->name), "acltap-%p", (void *)f);
	f->path = strdup(path);
	err = f->path ? register_vfs(f) : -ENOMEM;
	if (err) {
		free(f->path);
		free(f);
		return err;
	}
	rc = sqlite3_open_v2("acltap.db", &f->db, flags, f->name);
	if (rc == SQLITE_OK) {
		*out = f;
		return 0;
	}
	err = dbfile_error(f, rc);
	sqlite3_close(f->db);
	dbfile_free(f);
	return err;
}

sqlite3 *dbfile_db(const struct dbfile *f)
{
	return f->db;
}

int dbfile_error(const struct dbfile *f, int rc)
{
	if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
		return 0;
	if (f->err)
		return f->err;
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_TOOBIG:
		return -EFBIG;
	default:
		return -EIO;
	}
}

int dbfile_close(struct dbfile *f)
{
	int rc = sqlite3_close(f->db), err = dbfile_error(f, rc);

	/* Not closed, it would go on using what is freed here: it goes when its statements do. */
	if (rc == SQLITE_BUSY)
		return err;
	dbfile_free(f);
	return err;
}
