// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/capture.h"
#include "store/capfmt.h"
#include "util/cleanup.h"
#include "util/safepath.h"
#include "wire.h"

struct capwrite {
	int fd;
	int err;
	uint64_t size; /* of the file up to its last whole block */
	struct capfmt_footer footer;
	uint32_t fill; /* payload bytes of the block begun */
	/* The block begun, as it will be written. */
	struct capfmt_block *block;
};

/*
 * Appends n bytes as a whole or not at all: when the disk is full, or the write fails half way,
 * the file is cut back to where it ended before.
 */
static int append(struct capwrite *w, const void *p, size_t n)
{
	size_t left = n;

	while (left) {
		ssize_t done = write(w->fd, p, left);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			w->err = done ? -errno : -EIO;
			/* A cut that fails leaves a part of a block, which readers pass over. */
			if (ftruncate(w->fd, (off_t)w->size))
				return w->err;
			return w->err;
		}
		p = (const char *)p + done;
		left -= (size_t)done;
	}
	w->size += n;
	return 0;
}

static int write_header(struct capwrite *w, uint32_t version)
{
	struct capfmt_header h = {
		.version = version,
		.wire_version = WIRE_VERSION,
		.header_size = CAPFMT_HEADER_SIZE,
	};

	memcpy(h.magic, CAPFMT_MAGIC, sizeof(h.magic));
	h.crc = capfmt_header_crc(&h);
	return append(w, &h, sizeof(h));
}

/*
 * A capture that is being recorded is locked: two recordings into one would destroy both, and a
 * reader can tell it from one that a crash left. Where the file system knows no locks, nobody can.
 */
static int lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK ? -EBUSY : 0;
}

static int refuse_locked(int dirfd, const char *base)
{
	_fd_ int fd = openat(dirfd, base, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? 0 : lock(fd); /* what is there otherwise, is said by who creates */
}

static int create(int dirfd, const char *base, bool overwrite)
{
	int err = overwrite ? refuse_locked(dirfd, base) : 0;
	int fd = err ? err : safepath_create(dirfd, base, overwrite);

	if (fd >= 0)
		lock(fd);
	return fd;
}

static int open_version(const char *path, bool overwrite, uint32_t version, struct capwrite **out)
{
	_fd_ int dirfd = -1;
	_free_ char *base = NULL;
	struct capwrite *w;
	int err;

	err = safepath_dir(path, &dirfd, &base);
	if (err)
		return err;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->footer.first_ns = UINT64_MAX;
	w->block = malloc(CAPTURE_BLOCK_MAX);
	w->fd = w->block ? create(dirfd, base, overwrite) : -ENOMEM;
	err = w->fd < 0 ? w->fd : write_header(w, version);
	if (err) {
		/* Not even a header: nobody can use the file. */
		if (w->fd >= 0)
			unlinkat(dirfd, base, 0);
		capwrite_abandon(w);
		return err;
	}
	*out = w;
	return 0;
}

int capwrite_open(const char *path, bool overwrite, struct capwrite **out)
{
	return open_version(path, overwrite, CAPFMT_VERSION, out);
}

int capwrite_open_merged(const char *path, bool overwrite, struct capwrite **out)
{
	return open_version(path, overwrite, CAPFMT_MERGED, out);
}

static int write_block(struct capwrite *w, struct capfmt_block *b, uint32_t type, uint32_t size)
{
	b->magic = CAPFMT_BLOCK_MAGIC;
	b->type = type;
	b->size = size;
	b->crc = capfmt_block_crc(b, b + 1);
	return append(w, b, sizeof(*b) + size);
}

int capwrite_flush(struct capwrite *w)
{
	if (w->err || !w->fill)
		return w->err;
	if (write_block(w, w->block, CAPFMT_RECORDS, w->fill))
		return w->err;
	w->footer.blocks++;
	w->fill = 0;
	return 0;
}

int capwrite_record(struct capwrite *w, const void *rec, size_t sz)
{
	struct wire head;
	uint32_t room;
	char *p;

	if (w->err)
		return w->err;
	if (sz < sizeof(head) || sz > UINT16_MAX)
		return -EINVAL;
	memcpy(&head, rec, sizeof(head));
	if (head.len != sz || head.msg_len != sz - sizeof(head))
		return -EINVAL;
	room = capfmt_padded((uint32_t)sz);
	if (room > CAPFMT_PAYLOAD_MAX - w->fill && capwrite_flush(w))
		return w->err;
	p = (char *)(w->block + 1) + w->fill;
	memcpy(p, rec, sz);
	memset(p + sz, 0, room - sz);
	w->fill += room;
	w->footer.records++;
	if (head.time_ns < w->footer.first_ns)
		w->footer.first_ns = head.time_ns;
	if (head.time_ns > w->footer.last_ns)
		w->footer.last_ns = head.time_ns;
	return 0;
}

uint64_t capwrite_bytes(const struct capwrite *w)
{
	return w->size;
}

int capwrite_free_bytes(const struct capwrite *w, uint64_t *bytes)
{
	struct statvfs st;

	if (fstatvfs(w->fd, &st))
		return -errno;
	*bytes = (uint64_t)st.f_bavail * st.f_frsize;
	return 0;
}

static int write_footer(struct capwrite *w)
{
	struct {
		struct capfmt_block block;
		struct capfmt_footer footer;
	} f = {.footer = w->footer};

	if (!w->footer.records)
		f.footer.first_ns = 0;
	return write_block(w, &f.block, CAPFMT_FOOTER, sizeof(f.footer));
}

int capwrite_close(struct capwrite *w)
{
	int err;

	if (!capwrite_flush(w))
		write_footer(w);
	if (!w->err && fsync(w->fd) && errno != EINVAL)
		w->err = -errno;
	err = w->err;
	if (close(w->fd) && !err && errno != EINTR)
		err = -errno;
	w->fd = -1;
	capwrite_abandon(w);
	return err;
}

void capwrite_abandon(struct capwrite *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	free(w->block);
	free(w);
}
