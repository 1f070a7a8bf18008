// SPDX-License-Identifier: GPL-2.0-only
/* A block is checked as a whole before the first of its records is given out. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "store/capture.h"
#include "store/capfmt.h"
#include "util/cleanup.h"
#include "util/readall.h"
#include "util/regular.h"
#include "util/safepath.h"
#include "wire.h"

enum state { READING, ENDED, FAILED };

struct capread {
	int fd;
	bool own; /* see capread_open_own() */
	enum state state;
	int err;
	enum capread_end ended;
	bool merged;
	uint64_t part, begin, end; /* of the header: not 0 while only a last part is kept */
	int newer;		   /* the file that follows, -1 = none */
	uint64_t newer_begin;
	uint64_t limit; /* offset behind which this file is not read */
	uint64_t offset, size;
	struct capfmt_footer seen; /* what the footer must say */
	struct capfmt_block head;
	char *payload; /* CAPFMT_PAYLOAD_MAX bytes */
	uint32_t len;  /* of the block in payload */
	uint32_t pos;  /* of the next record in it */
};

/* Reads n bytes, fewer only at the end of the file. Returns the number or -errno. */
static ssize_t read_up_to(struct capread *r, void *p, size_t n)
{
	ssize_t got;

	if (n > r->limit - r->offset)
		n = r->limit - r->offset;
	got = readall(r->fd, p, n);
	if (got > 0)
		r->offset += (uint64_t)got;
	return got;
}

static int read_header(struct capread *r)
{
	struct capfmt_header h;
	ssize_t n = read_up_to(r, &h, sizeof(h));

	if (n < 0)
		return (int)n;
	if (n != sizeof(h) || memcmp(h.magic, CAPFMT_MAGIC, sizeof(h.magic)) ||
	    h.crc != capfmt_header_crc(&h))
		return -EINVAL;
	r->merged = h.version == CAPFMT_MERGED;
	if ((h.version != CAPFMT_VERSION && !r->merged) || h.wire_version != WIRE_VERSION)
		return -ENOTSUP;
	r->part = h.part;
	r->begin = h.begin;
	r->end = h.end;
	return h.header_size == sizeof(h) ? 0 : -EINVAL;
}

static int open_file(struct capread *r, const char *path)
{
	struct stat st;

	r->fd = r->own ? safepath_open(path) : regular_open(path);
	if (r->fd < 0)
		return r->fd;
	if (fstat(r->fd, &st))
		return -errno;
	r->size = (uint64_t)st.st_size;
	return read_header(r);
}

static void restart(struct capread *r, int fd, uint64_t offset, uint64_t size)
{
	r->fd = fd;
	r->offset = offset;
	r->size = size;
}

/* While only a last part is kept, the part before this one is another file: it comes first. */
static int open_older(struct capread *r, const char *path)
{
	uint64_t part = r->part, begin = r->begin, size = r->size;
	_free_ char *older = NULL;
	int fd = r->fd;

	if (fd >= 0 && !part)
		return 0;
	if (asprintf(&older, "%s" CAPTURE_OLDER, path) < 0)
		return -ENOMEM;
	restart(r, -1, 0, 0);
	if (!open_file(r, older) && (fd < 0 || r->part + 1 == part)) {
		r->newer = fd;
		r->newer_begin = begin;
		if (fd >= 0)
			r->size += size;
		if (fd >= 0 && r->end >= r->offset)
			r->limit = r->end;
		return 0;
	}
	if (fd < 0)
		return -ENOENT;
	if (r->fd >= 0)
		close(r->fd);
	restart(r, fd, CAPFMT_HEADER_SIZE, size);
	return 0;
}

/* Behind the end of the older file: the newer one, but for what it repeats. */
static bool go_to_newer(struct capread *r)
{
	if (r->newer < 0 || lseek(r->newer, (off_t)r->newer_begin, SEEK_SET) < 0)
		return false;
	close(r->fd);
	r->fd = r->newer;
	r->newer = -1;
	r->limit = UINT64_MAX;
	return true;
}

static int open_any(const char *path, bool own, struct capread **out)
{
	struct capread *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->own = own;
	r->fd = r->newer = -1;
	r->limit = UINT64_MAX;
	r->seen.first_ns = UINT64_MAX;
	r->payload = malloc(CAPFMT_PAYLOAD_MAX);
	err = r->payload ? open_file(r, path) : -ENOMEM;
	if (!err || (err == -ENOENT && r->fd < 0))
		err = open_older(r, path);
	if (err)
		capread_close(r);
	else
		*out = r;
	return err;
}

int capread_open(const char *path, struct capread **out)
{
	return open_any(path, false, out);
}

int capread_open_own(const char *path, struct capread **out)
{
	return open_any(path, true, out);
}

static int end_with(struct capread *r, enum capread_end how)
{
	r->state = ENDED;
	r->ended = how;
	return 0;
}

/* Whoever records holds a lock, which goes with the process. */
static int end_early(struct capread *r)
{
	bool running = flock(r->fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (!running)
		flock(r->fd, LOCK_UN);
	return end_with(r, running ? CAPREAD_RUNNING : CAPREAD_TRUNCATED);
}

static int fail_with(struct capread *r, int err)
{
	r->state = FAILED;
	return r->err = err;
}

/* The footer must agree with what was read, and nothing follows it. */
static int check_footer(struct capread *r)
{
	struct capfmt_footer f;
	ssize_t n;
	char c;

	if (r->head.size != sizeof(f))
		return end_with(r, CAPREAD_DAMAGED);
	memcpy(&f, r->payload, sizeof(f));
	if (!r->seen.records)
		r->seen.first_ns = 0;
	if (memcmp(&f, &r->seen, sizeof(f)))
		return end_with(r, CAPREAD_DAMAGED);
	n = read_up_to(r, &c, 1);
	if (n < 0)
		return fail_with(r, (int)n);
	return end_with(r, n ? CAPREAD_DAMAGED : CAPREAD_COMPLETE);
}

/* Is every record of the block whole? Then it can be given out without further checks. */
static bool records_fit(const struct capread *r)
{
	uint32_t pos = 0, len = r->head.size;

	if (!len || len % 8)
		return false;
	while (pos < len) {
		struct wire w;

		if (len - pos < sizeof(w))
			return false;
		memcpy(&w, r->payload + pos, sizeof(w));
		if (w.len < sizeof(w) || w.msg_len != w.len - sizeof(w) ||
		    capfmt_padded(w.len) > len - pos)
			return false;
		pos += capfmt_padded(w.len);
	}
	return true;
}

/* Reads and checks one block: 1 = its records are ready, 0 = the end, -errno. */
static int next_block(struct capread *r)
{
	ssize_t n = read_up_to(r, &r->head, sizeof(r->head));

	if (n < 0)
		return fail_with(r, (int)n);
	if (!n && go_to_newer(r))
		return next_block(r);
	if (n != sizeof(r->head))
		return end_early(r);
	if (r->head.magic != CAPFMT_BLOCK_MAGIC || r->head.size > CAPFMT_PAYLOAD_MAX)
		return end_with(r, CAPREAD_DAMAGED);
	n = read_up_to(r, r->payload, r->head.size);
	if (n < 0)
		return fail_with(r, (int)n);
	if (n != (ssize_t)r->head.size)
		return end_early(r);
	if (r->head.crc != capfmt_block_crc(&r->head, r->payload))
		return end_with(r, CAPREAD_DAMAGED);
	if (r->head.type == CAPFMT_FOOTER)
		return check_footer(r);
	if (r->head.type != CAPFMT_RECORDS || !records_fit(r))
		return end_with(r, CAPREAD_DAMAGED);
	r->seen.blocks++;
	r->len = r->head.size;
	r->pos = 0;
	return 1;
}

int capread_next(struct capread *r, const void **rec, size_t *sz)
{
	struct wire w;

	if (r->state == READING && r->pos == r->len) {
		int ret = next_block(r);

		if (ret <= 0)
			return ret;
	}
	if (r->state != READING)
		return r->err;
	memcpy(&w, r->payload + r->pos, sizeof(w));
	*rec = r->payload + r->pos;
	*sz = w.len;
	r->pos += capfmt_padded(w.len);
	r->seen.records++;
	if (w.time_ns < r->seen.first_ns)
		r->seen.first_ns = w.time_ns;
	if (w.time_ns > r->seen.last_ns)
		r->seen.last_ns = w.time_ns;
	return 1;
}

enum capread_end capread_ended(const struct capread *r)
{
	return r->ended;
}

bool capread_is_merged(const struct capread *r)
{
	return r->merged;
}

uint64_t capread_offset(const struct capread *r)
{
	return r->offset;
}

uint64_t capread_size(const struct capread *r)
{
	return r->size;
}

uint64_t capread_last_ns(const struct capread *r)
{
	return r->seen.last_ns;
}

void capread_close(struct capread *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	if (r->newer >= 0)
		close(r->newer);
	free(r->payload);
	free(r);
}
