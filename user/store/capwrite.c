// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store/capture.h"
#include "store/capfmt.h"
#include "store/keep.h"
#include "util/cleanup.h"
#include "util/privs.h"
#include "util/readall.h"
#include "util/safepath.h"
#include "wire.h"

#define KEEP_ROOM (4u << 20) /* of what a part repeats of stamps and ranges */

struct capwrite {
	int fd;
	int err;
	uint64_t size; /* of the file up to its last whole block */
	struct capfmt_footer footer;
	uint32_t fill; /* payload bytes of the block begun */
	/* The block begun, as it will be written. */
	struct capfmt_block *block;
	int dirfd;
	char *base, *older; /* its name in there, and that with CAPTURE_OLDER, owned */
	struct last *last;  /* NULL: everything is kept */
};

/* Of a capture that keeps its last part. The part before the one being written lies beside it. */
struct last {
	uint64_t part_max, part;
	uint64_t begin;		       /* of the part being written: where its own records begin */
	struct capfmt_footer repeated; /* the records before that */
	struct keep keep;
	bool as_owner; /* how files are created, see privs.h */
	int fd;	       /* of the part before, -1 = none */
	uint64_t size;
	struct capfmt_footer footer;
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

/* What an earlier recording left under the second name is as much a capture as under the first. */
static int clear_older(struct capwrite *w, bool overwrite)
{
	struct stat st;

	if (asprintf(&w->older, "%s" CAPTURE_OLDER, w->base) < 0) {
		w->older = NULL;
		return -ENOMEM;
	}
	if (fstatat(w->dirfd, w->older, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return overwrite ? refuse_locked(w->dirfd, w->older) : -EEXIST;
}

static int remove_older(struct capwrite *w)
{
	return unlinkat(w->dirfd, w->older, 0) && errno != ENOENT ? -errno : 0;
}

static int open_version(const char *path, bool overwrite, uint32_t version, struct capwrite **out)
{
	struct capwrite *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->fd = w->dirfd = -1;
	w->footer.first_ns = UINT64_MAX;
	w->block = malloc(CAPTURE_BLOCK_MAX);
	err = w->block ? safepath_dir(path, &w->dirfd, &w->base) : -ENOMEM;
	err = err ?: clear_older(w, overwrite);
	if (!err)
		w->fd = create(w->dirfd, w->base, overwrite);
	err = err ?: w->fd < 0 ? w->fd : remove_older(w);
	err = err ?: write_header(w, version);
	if (err) {
		capwrite_remove(w); /* not even a header: nobody can use the file */
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

static int flush(struct capwrite *w)
{
	if (w->err || !w->fill)
		return w->err;
	if (write_block(w, w->block, CAPFMT_RECORDS, w->fill))
		return w->err;
	w->footer.blocks++;
	w->fill = 0;
	return 0;
}

static int add_record(struct capwrite *w, const struct wire *head, const void *rec)
{
	uint32_t room = capfmt_padded(head->len);
	char *p;

	if (room > CAPFMT_PAYLOAD_MAX - w->fill && flush(w))
		return w->err;
	p = (char *)(w->block + 1) + w->fill;
	memcpy(p, rec, head->len);
	memset(p + head->len, 0, room - head->len);
	w->fill += room;
	w->footer.records++;
	if (head->time_ns < w->footer.first_ns)
		w->footer.first_ns = head->time_ns;
	if (head->time_ns > w->footer.last_ns)
		w->footer.last_ns = head->time_ns;
	return 0;
}

/* ---- only the last part ---- */

int capwrite_keep_last(struct capwrite *w, uint64_t max)
{
	struct last *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	w->last = l;
	l->fd = -1;
	l->part_max = max / 2;
	l->keep.room = l->part_max / 4 < KEEP_ROOM ? l->part_max / 4 : KEEP_ROOM;
	l->repeated.first_ns = UINT64_MAX; /* the first part repeats nothing */
	l->as_owner = privs_as_owner(true);
	privs_as_owner(l->as_owner);
	return 0;
}

static void footer_add(struct capfmt_footer *to, const struct capfmt_footer *f)
{
	to->records += f->records;
	to->blocks += f->blocks;
	to->first_ns = f->first_ns < to->first_ns ? f->first_ns : to->first_ns;
	to->last_ns = f->last_ns > to->last_ns ? f->last_ns : to->last_ns;
}

static int put_repeated(void *ctx, const void *rec, size_t sz)
{
	struct wire head;

	(void)sz;
	memcpy(&head, rec, sizeof(head));
	return add_record(ctx, &head, rec);
}

static int number_part(struct capwrite *w, uint64_t part, uint64_t begin, uint64_t end)
{
	const uint64_t v[] = {part, begin, end};
	ssize_t n = pwrite(w->fd, v, sizeof(v), offsetof(struct capfmt_header, part));

	if (n != sizeof(v))
		w->err = n < 0 ? -errno : -EIO;
	return w->err;
}

/* Header, and the records that later ones need. */
static int begin_part(struct capwrite *w)
{
	struct last *l = w->last;

	w->size = 0;
	w->footer = (struct capfmt_footer){.first_ns = UINT64_MAX};
	if (write_header(w, CAPFMT_VERSION))
		return w->err;
	w->err = keep_begin(&l->keep, put_repeated, w);
	if (flush(w))
		return w->err;
	l->begin = w->size;
	l->repeated = w->footer;
	w->footer = (struct capfmt_footer){.first_ns = UINT64_MAX};
	return number_part(w, l->part, l->begin, 0);
}

/* The newest part takes the name, and the one before it the other. */
static int name_part(struct capwrite *w, const char *temp)
{
	if (renameat(w->dirfd, w->base, w->dirfd, w->older))
		return w->err = -errno;
	if (!renameat(w->dirfd, temp, w->dirfd, w->base))
		return 0;
	w->err = -errno;
	/* Where that fails too, the part is still found under its other name. */
	(void)renameat(w->dirfd, w->older, w->dirfd, w->base);
	return w->err;
}

/* The part written so far becomes the older one, and what was that is gone. */
static int next_part(struct capwrite *w)
{
	struct last *l = w->last;
	bool was = privs_as_owner(l->as_owner);
	_free_ char *temp = NULL;
	int fd = safepath_temp(w->dirfd, w->base, &temp);

	if (fd < 0) {
		w->err = fd;
		privs_as_owner(was);
		return fd;
	}
	/* What the block begun holds belongs to the part that ends. */
	if (flush(w)) {
		close(fd);
		unlinkat(w->dirfd, temp, 0);
		privs_as_owner(was);
		return w->err;
	}
	footer_add(&w->footer, &l->repeated);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = w->fd;
	l->size = w->size;
	l->footer = w->footer;
	w->fd = fd;
	l->part++;
	lock(fd);
	keep_next_part(&l->keep);
	if (begin_part(w) || name_part(w, temp))
		unlinkat(w->dirfd, temp, 0);
	privs_as_owner(was);
	return w->err;
}

/*
 * Appends the newest part to the older one. Whatever ends that half way, readers find both: of the
 * older file they take what was there before.
 */
static int append_newest(struct capwrite *w)
{
	struct last *l = w->last;
	_free_ char *buf = malloc(CAPTURE_BLOCK_MAX);
	int newest = w->fd;
	uint64_t at = l->begin, end = w->size;

	if (!buf)
		return w->err = -ENOMEM;
	w->fd = l->fd;
	l->fd = newest;
	w->size = l->size;
	number_part(w, l->part - 1, 0, w->size);
	while (at < end && !w->err) {
		size_t want = end - at < CAPTURE_BLOCK_MAX ? end - at : CAPTURE_BLOCK_MAX;
		ssize_t n = readall_at(newest, buf, want, at);

		if (n <= 0)
			w->err = n ? (int)n : -EIO;
		else if (!append(w, buf, (size_t)n))
			at += (uint64_t)n;
	}
	return w->err;
}

/* One file of the two: the older one is completed and takes the name. */
static int join_parts(struct capwrite *w)
{
	struct last *l = w->last;

	if (l->fd < 0) {
		footer_add(&w->footer, &l->repeated);
		return 0;
	}
	if (append_newest(w))
		return w->err;
	footer_add(&w->footer, &l->footer);
	return 0;
}

static int name_joined(struct capwrite *w)
{
	if (w->err || w->last->fd < 0)
		return w->err;
	if (renameat(w->dirfd, w->older, w->dirfd, w->base))
		return w->err = -errno;
	return number_part(w, 0, 0, 0);
}

static int note(struct capwrite *w, const void *rec)
{
	struct last *l = w->last;

	/*
	 * First, so that the record counts for the part that it lies in. A part is more than what
	 * it repeats, however many processes that is about.
	 */
	if (w->size >= l->part_max && w->size - l->begin >= l->part_max / 4 && next_part(w))
		return w->err;
	return w->err = keep_note(&l->keep, rec);
}

/* The totals in the end: what was dropped is not there, as if it had been lost. */
static int add_total(struct capwrite *w, const struct wire *head, const void *rec)
{
	struct {
		struct wire w;
		struct wire_count n;
	} total;

	if (head->len != sizeof(total))
		return add_record(w, head, rec);
	memcpy(&total, rec, sizeof(total));
	total.n.lost += keep_dropped(&w->last->keep, head->func);
	return add_record(w, head, &total);
}

static void last_free(struct last *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	keep_free(&l->keep);
	free(l);
}

/* ---- */

int capwrite_flush(struct capwrite *w)
{
	return flush(w);
}

int capwrite_record(struct capwrite *w, const void *rec, size_t sz)
{
	struct wire head;

	if (w->err)
		return w->err;
	if (sz < sizeof(head) || sz > UINT16_MAX)
		return -EINVAL;
	memcpy(&head, rec, sizeof(head));
	if (head.len != sz || head.msg_len != sz - sizeof(head))
		return -EINVAL;
	if (w->last && note(w, rec))
		return w->err;
	if (w->last && head.kind == WIRE_COUNT)
		return add_total(w, &head, rec);
	return add_record(w, &head, rec);
}

uint64_t capwrite_bytes(const struct capwrite *w)
{
	return w->size + (w->last ? w->last->size : 0);
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

/* Removed while it was written, or replaced by another acltap that was told to overwrite. */
static int refuse_removed(struct capwrite *w)
{
	struct stat st;

	if (!w->err && !fstat(w->fd, &st) && S_ISREG(st.st_mode) && !st.st_nlink)
		w->err = -ENOENT;
	return w->err;
}

int capwrite_close(struct capwrite *w)
{
	int err;

	if (!flush(w) && (!w->last || !join_parts(w)))
		write_footer(w);
	if (!w->err && fsync(w->fd) && errno != EINVAL)
		w->err = -errno;
	if (w->last)
		name_joined(w);
	err = refuse_removed(w);
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
	if (w->dirfd >= 0)
		close(w->dirfd);
	last_free(w->last);
	free(w->base);
	free(w->older);
	free(w->block);
	free(w);
}

void capwrite_remove(struct capwrite *w)
{
	if (w && w->fd >= 0)
		unlinkat(w->dirfd, w->base, 0);
	capwrite_abandon(w);
}
