// SPDX-License-Identifier: GPL-2.0-only
/* capwrite.c and capread.c against each other, and the reader against damage of all kinds. */
#include "harness/test.h"
#include "harness/tmpdir.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "store/capture.h"
#include "wire.h"

struct record {
	struct wire w;
	char msg[WIRE_MSG_MAX];
};

/* Record number i, the same each time; time_ns tells which it is. */
static size_t make(struct record *r, uint64_t i)
{
	memset(r, 0, sizeof(*r));
	r->w.time_ns = 1000 + i;
	r->w.tgid = (uint32_t)i * 7;
	r->w.kind = WIRE_CALL;
	r->w.msg_len = i * 13 % 60;
	r->w.len = (uint16_t)(sizeof(r->w) + r->w.msg_len);
	memset(r->msg, 'a' + (int)(i % 26), r->w.msg_len);
	return r->w.len;
}

static void write_some(const char *path, uint64_t n, uint64_t flush_every)
{
	struct capwrite *w;
	struct record r;

	assert_ok(capwrite_open(path, true, &w));
	for (uint64_t i = 0; i < n; i++) {
		size_t sz = make(&r, i);

		assert_ok(capwrite_record(w, &r, sz));
		if (flush_every && i % flush_every == flush_every - 1)
			assert_ok(capwrite_flush(w));
	}
	assert_ok(capwrite_close(w));
}

/* Reads a capture that must be a prefix of the records; returns how many. */
static uint64_t read_prefix(struct capread *r, enum capread_end *ended)
{
	struct record want;
	const void *rec;
	uint64_t n = 0;
	size_t sz;
	int ret;

	while ((ret = capread_next(r, &rec, &sz)) == 1) {
		assert_int_equal(sz, make(&want, n));
		assert_memory_equal(rec, &want, sz);
		n++;
		assert_int_equal(capread_last_ns(r), 999 + n);
	}
	assert_ok(ret);
	assert_ok(capread_next(r, &rec, &sz)); /* the end stays the end */
	*ended = capread_ended(r);
	return n;
}

static void round_trip(void **state)
{
	static const uint64_t counts[] = {0, 1, 2, 100, 60000};
	const char *path = tmpdir_path(state, "x.acltap");
	enum capread_end ended;
	struct capread *r;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		write_some(path, counts[i], 0);
		assert_ok(capread_open(path, &r));
		assert_int_equal(read_prefix(r, &ended), counts[i]);
		assert_int_equal(ended, CAPREAD_COMPLETE);
		assert_int_equal(capread_offset(r), capread_size(r));
		capread_close(r);
	}
}

static void layout_is_as_documented(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap");
	uint32_t v[5];
	uint64_t f[4];
	size_t sz;
	char *d;

	write_some(path, 3, 0);
	d = slurp(path, &sz);
	/* Records of 48, 48 + 13 and 48 + 26 bytes. */
	assert_int_equal(sz, 64 + 16 + 48 + 64 + 80 + 16 + 32);
	assert_memory_equal(d, "ACLTAP\r\n", 8);
	memcpy(v, d + 8, 16);
	assert_int_equal(v[0], 1);
	assert_int_equal(v[1], WIRE_VERSION);
	assert_int_equal(v[2], 64);
	assert_int_equal(v[3], crc32(0, (Bytef *)d, 20));
	memcpy(v, d + 64, 16);
	assert_memory_equal(d + 64, "BLK1", 4);
	assert_int_equal(v[1], 1);
	assert_int_equal(v[2], 192);
	assert_int_equal(v[3], crc32(crc32(0, (Bytef *)d + 68, 8), (Bytef *)d + 80, 192));
	assert_memory_equal(d + 64 + 16 + 192, "BLK1\2\0\0\0", 8);
	memcpy(f, d + sz - 32, 32);
	assert_int_equal(f[0], 3);
	assert_int_equal(f[1], 1000);
	assert_int_equal(f[2], 1002);
	assert_int_equal(f[3], 1);
	free(d);
}

static void abandoned_captures_are_truncated(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap");
	enum capread_end ended;
	struct capwrite *w;
	struct capread *r;
	struct record rec;

	assert_ok(capwrite_open(path, false, &w));
	for (uint64_t i = 0; i < 10; i++) {
		size_t sz = make(&rec, i);

		assert_ok(capwrite_record(w, &rec, sz));
		if (i == 6)
			assert_ok(capwrite_flush(w));
	}
	assert_true(capwrite_bytes(w) > 64 + 7 * 48);
	capwrite_abandon(w);
	capwrite_abandon(NULL);
	assert_ok(capread_open(path, &r));
	assert_int_equal(read_prefix(r, &ended), 7);
	assert_int_equal(ended, CAPREAD_TRUNCATED);
	capread_close(r);
}

/* Opens bytes as a capture: the number of records, or -1 when it is refused. */
static int64_t try_bytes(const char *path, const char *d, size_t sz, enum capread_end *ended)
{
	struct capread *r;
	int64_t n;
	int err;

	spew(path, d, sz);
	err = capread_open(path, &r);
	if (err) {
		assert_true(err == -EINVAL || err == -ENOTSUP);
		return -1;
	}
	n = (int64_t)read_prefix(r, ended);
	capread_close(r);
	return n;
}

static void cut_at_every_byte(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap"), *cut = tmpdir_path(state, "cut");
	enum capread_end ended;
	int64_t n, last = -1;
	size_t sz;
	char *d;

	write_some(path, 9, 3);
	d = slurp(path, &sz);
	for (size_t len = 0; len < sz; len++) {
		n = try_bytes(cut, d, len, &ended);
		assert_int_equal(n < 0, len < 64);
		assert_true(n >= last);
		last = n;
		if (n >= 0)
			assert_int_equal(ended, CAPREAD_TRUNCATED);
	}
	assert_int_equal(last, 9);
	assert_int_equal(try_bytes(cut, d, sz, &ended), 9);
	assert_int_equal(ended, CAPREAD_COMPLETE);
	free(d);
}

static void every_byte_changed(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap"), *bad = tmpdir_path(state, "bad");
	enum capread_end ended;
	int64_t n;
	size_t sz;
	char *d;

	write_some(path, 9, 3);
	d = slurp(path, &sz);
	for (size_t i = 0; i < sz; i++) {
		for (int round = 0; round < 2; round++) {
			char change = (char)(round ? 0xff : 1 << i % 8);

			d[i] ^= change;
			n = try_bytes(bad, d, sz, &ended);
			d[i] ^= change;
			if (i < 24) {
				assert_int_equal(n, -1);
			} else if (i < 64) {
				assert_int_equal(n, 9); /* zeros that nobody reads */
			} else {
				assert_true(n >= 0 && n % 3 == 0);
				assert_int_not_equal(ended, CAPREAD_COMPLETE);
			}
		}
	}
	/* Something after the footer is no part of the capture. */
	d = realloc(d, sz + 1);
	d[sz] = '\0';
	assert_int_equal(try_bytes(bad, d, sz + 1, &ended), 9);
	assert_int_equal(ended, CAPREAD_DAMAGED);
	free(d);
}

/* One block with a right checksum around a payload that was made up. */
static enum capread_end end_of_payload(const char *path, const char *header, const void *payload,
				       uint32_t size, uint32_t type, uint64_t *records)
{
	uint32_t head[4] = {0, type, size, 0};
	enum capread_end ended;
	struct capread *r;
	const void *rec;
	size_t sz;
	char *d = malloc(64 + 16 + size + 1);

	memcpy(head, "BLK1", 4);
	head[3] = (uint32_t)crc32(crc32(0, (Bytef *)&head[1], 8), payload, size);
	memcpy(d, header, 64);
	memcpy(d + 64, head, 16);
	memcpy(d + 80, payload, size);
	spew(path, d, 80 + size);
	free(d);
	assert_ok(capread_open(path, &r));
	for (*records = 0; capread_next(r, &rec, &sz) == 1; ++*records)
		;
	ended = capread_ended(r);
	capread_close(r);
	return ended;
}

static void lying_records_are_damage(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap"), *bad = tmpdir_path(state, "bad");
	static const uint16_t lens[] = {0, 1, 47, 49, 56, 96, 104, 65535};
	struct record two[2];
	uint64_t n;
	char *d;

	write_some(path, 1, 0);
	d = slurp(path, NULL);
	make(&two[0], 0);
	memcpy((char *)two + 48, two, 48);
	assert_int_equal(end_of_payload(bad, d, two, 96, 1, &n), CAPREAD_TRUNCATED);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		two[0].w.len = lens[i];
		assert_int_equal(end_of_payload(bad, d, two, 96, 1, &n), CAPREAD_DAMAGED);
		assert_int_equal(n, 0);
	}
	two[0].w.len = 48;
	two[0].w.msg_len = 8;
	assert_int_equal(end_of_payload(bad, d, two, 96, 1, &n), CAPREAD_DAMAGED);
	two[0].w.msg_len = 0;
	assert_int_equal(end_of_payload(bad, d, two, 88, 1, &n), CAPREAD_DAMAGED);
	assert_int_equal(end_of_payload(bad, d, two, 95, 1, &n), CAPREAD_DAMAGED);
	assert_int_equal(end_of_payload(bad, d, two, 0, 1, &n), CAPREAD_DAMAGED);
	assert_int_equal(end_of_payload(bad, d, two, 96, 3, &n), CAPREAD_DAMAGED);
	assert_int_equal(end_of_payload(bad, d, two, 32, 2, &n), CAPREAD_DAMAGED);
	free(d);
}

static void garbage_is_survived(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap"), *bad = tmpdir_path(state, "bad");
	uint32_t x = 12345;
	size_t sz;
	char *d;

	write_some(path, 30, 4);
	d = slurp(path, &sz);
	for (int round = 0; round < 500; round++) {
		struct capread *r;
		const void *rec;
		char *copy = malloc(sz);
		size_t n;

		memcpy(copy, d, sz);
		for (int i = 0; i < 1 + round % 40; i++) {
			x = x * 1664525 + 1013904223;
			copy[(round % 2 ? 64 : 0) + x % (sz - 64)] = (char)(x >> 24);
		}
		spew(bad, copy, sz);
		free(copy);
		if (capread_open(bad, &r))
			continue;
		while (capread_next(r, &rec, &n) == 1)
			assert_true(n >= sizeof(struct wire));
		capread_close(r);
	}
	free(d);
}

/* What acltap reads again of its own is what it wrote. */
static void own_captures_are_not_behind_links(void **state)
{
	const char *path = tmpdir_path(state, "x"), *link = tmpdir_path(state, "link");
	struct capread *r;

	write_some(path, 3, 0);
	assert_int_equal(symlink(path, link), 0);
	assert_ok(capread_open(link, &r));
	capread_close(r);
	assert_err(capread_open_own(link, &r), ELOOP);
	assert_err(capread_open_own(tmpdir_path(state, "none"), &r), ENOENT);
	assert_err(capread_open_own(*state, &r), EISDIR);
	assert_ok(capread_open_own(path, &r));
	capread_close(r);
}

static void what_is_no_capture_is_refused(void **state)
{
	const char *path = tmpdir_path(state, "x");
	struct capread *r;
	char *d;

	assert_err(capread_open(path, &r), ENOENT);
	assert_err(capread_open(*state, &r), EISDIR);
	assert_err(capread_open("/dev/zero", &r), EINVAL);
	assert_int_equal(mkfifo(tmpdir_path(state, "fifo"), 0600), 0);
	assert_err(capread_open(tmpdir_path(state, "fifo"), &r), EINVAL);
	spew(path, "", 0);
	assert_err(capread_open(path, &r), EINVAL);

	/* A newer version is told apart from damage. */
	write_some(path, 1, 0);
	for (int field = 8; field <= 12; field += 4) {
		uint32_t crc;

		d = slurp(path, NULL);
		d[field] = 9;
		crc = (uint32_t)crc32(0, (Bytef *)d, 20);
		memcpy(d + 20, &crc, 4);
		spew(tmpdir_path(state, "new"), d, 64);
		free(d);
		assert_err(capread_open(tmpdir_path(state, "new"), &r), ENOTSUP);
	}
	capread_close(NULL);
}

static void writer_protects_files(void **state)
{
	const char *path = tmpdir_path(state, "x");
	struct capwrite *w;
	struct stat before, after;
	char *got;

	spew(path, "old", 3);
	assert_err(capwrite_open(path, false, &w), EEXIST);
	assert_int_equal(link(path, tmpdir_path(state, "other")), 0);
	assert_int_equal(stat(path, &before), 0);
	write_some(path, 1, 0);
	assert_int_equal(stat(path, &after), 0);
	assert_int_not_equal(before.st_ino, after.st_ino);
	got = slurp(tmpdir_path(state, "other"), NULL);
	assert_string_equal(got, "old");
	free(got);
	assert_int_equal(symlink("other", tmpdir_path(state, "link")), 0);
	assert_err(capwrite_open(tmpdir_path(state, "link"), true, &w), ELOOP);
	assert_err(capwrite_open("/dev/null", true, &w), EINVAL);
	assert_int_equal(mkdir(tmpdir_path(state, "d"), 01777), 0);
	assert_int_equal(chmod(tmpdir_path(state, "d"), 01777), 0);
	assert_int_equal(symlink("..", tmpdir_path(state, "d/up")), 0);
	assert_err(capwrite_open(tmpdir_path(state, "d/up/y"), true, &w), ELOOP);
}

static void captures_being_written_are_locked(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap");
	enum capread_end ended;
	struct capwrite *w, *second;
	struct capread *r;
	struct record rec;
	size_t sz = make(&rec, 0);

	assert_ok(capwrite_open(path, false, &w));
	assert_err(capwrite_open(path, true, &second), EBUSY);
	assert_ok(capwrite_record(w, &rec, sz));
	assert_ok(capwrite_flush(w));
	for (int i = 0; i < 2; i++) { /* reading does not disturb */
		assert_ok(capread_open(path, &r));
		assert_int_equal(read_prefix(r, &ended), 1);
		assert_int_equal(ended, CAPREAD_RUNNING);
		capread_close(r);
	}
	capwrite_abandon(w);
	assert_ok(capread_open(path, &r));
	assert_int_equal(read_prefix(r, &ended), 1);
	assert_int_equal(ended, CAPREAD_TRUNCATED);
	assert_ok(capwrite_open(path, true, &w)); /* also while somebody has read it */
	capread_close(r);
	assert_ok(capwrite_close(w));
}

/* Nobody will find what was written. */
static void a_removed_file_is_told(void **state)
{
	const char *path = tmpdir_path(state, "c.acltap");
	struct capwrite *w, *second;
	struct record rec;
	size_t sz = make(&rec, 0);

	assert_ok(capwrite_open(path, false, &w));
	assert_ok(capwrite_record(w, &rec, sz));
	assert_ok(unlink(path));
	assert_ok(capwrite_open(path, false, &second));
	assert_err(capwrite_close(w), ENOENT);
	assert_ok(capwrite_close(second));
	assert_ok(capwrite_open(path, true, &w));
	capwrite_remove(w);
	assert_int_equal(access(path, F_OK), -1);
}

/* Records of one process without gaps: a fact, then calls that count up in time. */
static size_t make_call(struct record *r, uint64_t i)
{
	memset(r, 0, sizeof(*r));
	r->w.time_ns = 1000 + i;
	r->w.tgid = r->w.tid = 42;
	r->w.kind = i ? WIRE_CALL : WIRE_FACT;
	r->w.func = 3;
	r->w.arg1 = i ? 0 : FACT_NAME;
	r->w.msg_len = i ? 30 : 4;
	r->w.len = (uint16_t)(sizeof(r->w) + r->w.msg_len);
	memset(r->msg, 'm', r->w.msg_len);
	return r->w.len;
}

struct kept {
	uint64_t calls, first, last, facts, dropped, others;
};

static struct kept read_kept(const char *path, enum capread_end *ended)
{
	struct kept k = {0};
	struct capread *r;
	const void *rec;
	struct wire w;
	size_t sz;

	assert_ok(capread_open(path, &r));
	while (capread_next(r, &rec, &sz) == 1) {
		memcpy(&w, rec, sizeof(w));
		if (w.kind == WIRE_CALL) {
			if (k.calls) /* without gaps, across the two files too */
				assert_int_equal(w.time_ns, k.last + 1);
			else
				k.first = w.time_ns;
			k.last = w.time_ns;
			k.calls++;
		} else if (w.kind == WIRE_FACT) {
			k.facts++;
		} else if (w.kind == WIRE_LOSS) {
			assert_int_equal(w.func, 3);
			k.dropped += w.arg1;
		} else {
			k.others++;
		}
	}
	*ended = capread_ended(r);
	capread_close(r);
	return k;
}

#define KEEP_MAX (4u << 20)
#define KEEP_CALLS 200000ull

/* While it grows, after a crash, and in the end: the last part, and how much is not there. */
static void only_the_last_is_kept(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap"),
		   *older = tmpdir_path(state, "x.acltap.older");
	enum capread_end ended;
	struct capwrite *w;
	struct record rec;
	struct stat st;
	struct kept k;

	assert_ok(capwrite_open(path, false, &w));
	assert_ok(capwrite_keep_last(w, KEEP_MAX));
	for (uint64_t i = 0; i <= KEEP_CALLS; i++) {
		assert_ok(capwrite_record(w, &rec, make_call(&rec, i)));
		if (i % 5000 != 1)
			continue;
		assert_ok(capwrite_flush(w));
		assert_in_range(capwrite_bytes(w), 0, KEEP_MAX + 2 * CAPTURE_BLOCK_MAX);
		k = read_kept(path, &ended);
		assert_int_equal(ended, CAPREAD_RUNNING);
		assert_int_equal(k.last, 1000 + i);
		assert_int_equal(k.dropped + k.calls, i);
		assert_int_equal(k.facts, 1);
	}
	assert_ok(stat(older, &st));
	assert_ok(capwrite_close(w));
	assert_int_not_equal(stat(older, &st), 0);
	k = read_kept(path, &ended);
	assert_int_equal(ended, CAPREAD_COMPLETE);
	assert_int_equal(k.last, 1000 + KEEP_CALLS);
	assert_int_equal(k.dropped + k.calls, KEEP_CALLS);
	assert_true(k.dropped > KEEP_CALLS / 4 && k.calls * 80 > KEEP_MAX / 3);
	assert_int_equal(k.facts, 1);
	assert_int_equal(k.others, 0);
}

/* Killed at its worst moments: one of the two names is not there. */
static void a_crash_between_the_renames(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap"),
		   *older = tmpdir_path(state, "x.acltap.older");
	enum capread_end ended;
	struct capwrite *w;
	struct record rec;
	struct kept whole, k;
	struct stat st;
	uint64_t i;

	assert_ok(capwrite_open(path, false, &w));
	assert_ok(capwrite_keep_last(w, KEEP_MAX));
	for (i = 0; stat(older, &st) || i % 1000; i++)
		assert_ok(capwrite_record(w, &rec, make_call(&rec, i)));
	assert_ok(capwrite_flush(w));
	capwrite_abandon(w);
	whole = read_kept(path, &ended);
	assert_int_equal(ended, CAPREAD_TRUNCATED);
	assert_int_equal(whole.calls + 1, i);
	assert_ok(rename(path, tmpdir_path(state, "aside")));
	k = read_kept(path, &ended);
	assert_int_equal(ended, CAPREAD_TRUNCATED);
	assert_true(k.calls && k.calls < whole.calls && k.first == whole.first);
	assert_ok(unlink(older));
	assert_ok(rename(tmpdir_path(state, "aside"), path));
	k = read_kept(path, &ended);
	assert_int_equal(k.last, whole.last);
	assert_int_equal(k.dropped + k.calls + 1, i);
	assert_int_equal(k.facts, 1);
}

/* Whatever the number of parts there were, the one file in the end agrees with its footer. */
static void a_last_part_is_whole_after_any_number_of_parts(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap"),
		   *older = tmpdir_path(state, "x.acltap.older");
	const uint64_t part_calls = KEEP_MAX / 2 / 80;

	for (uint64_t parts = 0; parts < 4; parts++) {
		uint64_t n = 10 + parts * (part_calls + part_calls / 8);
		enum capread_end ended;
		struct capwrite *w;
		struct record rec;
		struct stat st;
		struct kept k;

		assert_ok(capwrite_open(path, true, &w));
		assert_ok(capwrite_keep_last(w, KEEP_MAX));
		for (uint64_t i = 0; i <= n; i++)
			assert_ok(capwrite_record(w, &rec, make_call(&rec, i)));
		assert_int_equal(stat(older, &st) == 0, parts > 0);
		assert_ok(capwrite_close(w));
		k = read_kept(path, &ended);
		assert_int_equal(ended, CAPREAD_COMPLETE);
		assert_int_equal(k.dropped + k.calls, n);
		assert_int_equal(k.dropped > 0, parts > 1);
		assert_int_equal(k.facts, 1);
	}
	/* And of nothing at all. */
	{
		enum capread_end ended;
		struct capwrite *w;

		assert_ok(capwrite_open(path, true, &w));
		assert_ok(capwrite_keep_last(w, KEEP_MAX));
		assert_ok(capwrite_close(w));
		assert_int_equal(read_kept(path, &ended).calls, 0);
		assert_int_equal(ended, CAPREAD_COMPLETE);
	}
}

/* More facts than a part has room for: a part is still more than what it repeats. */
static void many_processes_leave_room_for_calls(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap");
	const uint32_t processes = 40000;
	enum capread_end ended;
	struct capwrite *w;
	struct record rec;
	struct kept k;

	assert_ok(capwrite_open(path, false, &w));
	assert_ok(capwrite_keep_last(w, KEEP_MAX));
	for (uint32_t i = 0; i < processes; i++) {
		size_t sz = make_call(&rec, 0);

		rec.w.tgid = 100 + i;
		assert_ok(capwrite_record(w, &rec, sz));
	}
	for (uint64_t i = 1; i <= 30000; i++)
		assert_ok(capwrite_record(w, &rec, make_call(&rec, i)));
	assert_ok(capwrite_close(w));
	k = read_kept(path, &ended);
	assert_int_equal(ended, CAPREAD_COMPLETE);
	assert_true(k.facts >= processes);
	assert_int_equal(k.last, 1000 + 30000);
	assert_int_equal(k.dropped + k.calls, 30000);
	assert_true(k.calls * 80 >= KEEP_MAX / 8);
}

/* The n-th rename from now on fails; 0: none. In place of the C library's. */
static unsigned int rename_fails;

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	if (rename_fails && !--rename_fails) {
		errno = EIO;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

/* The n-th step of joining two parts is the last of this process; 0: none. */
static unsigned int crash_at;

static void step(void)
{
	if (crash_at && !--crash_at)
		_exit(1);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	step();
	/* In small pieces, so that there is much to be caught in. */
	return syscall(SYS_pread64, fd, p, n < 100000 ? n : 100000, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	step();
	return syscall(SYS_pwrite64, fd, p, n, at);
}

int fsync(int fd)
{
	step();
	return (int)syscall(SYS_fsync, fd);
}

/* A writer with two parts that are to be one. Returns the number of calls. */
static uint64_t write_two_parts(const char *path, uint64_t parts, struct capwrite **out)
{
	const uint64_t n = 10 + parts * (KEEP_MAX / 2 / 80 + KEEP_MAX / 2 / 80 / 8);
	struct record rec;

	assert_ok(capwrite_open(path, true, out));
	assert_ok(capwrite_keep_last(*out, KEEP_MAX));
	for (uint64_t i = 0; i <= n; i++)
		assert_ok(capwrite_record(*out, &rec, make_call(&rec, i)));
	assert_ok(capwrite_flush(*out));
	return n;
}

/* Wherever joining the two parts is cut short: every record is there, and once. */
static void a_crash_while_parts_are_joined(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap");
	unsigned int complete = 0, truncated = 0;

	for (uint64_t parts = 1; parts <= 2; parts++) {
		int status = 1;

		for (unsigned int at = 1; status; at++) {
			enum capread_end ended;
			struct capwrite *w;
			uint64_t n = write_two_parts(path, parts, &w);
			pid_t pid = fork();
			struct kept k;

			assert_true(pid >= 0);
			if (!pid) {
				crash_at = at;
				_exit(capwrite_close(w) ? 2 : 0);
			}
			capwrite_abandon(w);
			assert_int_equal(waitpid(pid, &status, 0), pid);
			assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
			k = read_kept(path, &ended);
			assert_int_equal(k.last, 1000 + n);
			assert_int_equal(k.dropped + k.calls, n);
			assert_int_equal(k.facts, 1);
			assert_true(ended == CAPREAD_COMPLETE || ended == CAPREAD_TRUNCATED);
			complete += ended == CAPREAD_COMPLETE;
			truncated += ended == CAPREAD_TRUNCATED;
		}
	}
	assert_true(complete > 2 && truncated > 10);
}

/* The same where there is no room for both. */
static void a_full_disk_while_parts_are_joined(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap"),
		   *older = tmpdir_path(state, "x.acltap.older");
	struct rlimit old, limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	for (rlim_t more = 0; more < 250000; more += 30011) {
		enum capread_end ended;
		struct capwrite *w;
		uint64_t n = write_two_parts(path, 2, &w);
		struct stat st;
		struct kept k;

		assert_ok(stat(older, &st));
		limit = (struct rlimit){(rlim_t)st.st_size + more, old.rlim_max};
		setrlimit(RLIMIT_FSIZE, &limit);
		assert_err(capwrite_close(w), EFBIG);
		setrlimit(RLIMIT_FSIZE, &old);
		k = read_kept(path, &ended);
		assert_int_equal(ended, CAPREAD_TRUNCATED);
		assert_int_equal(k.last, 1000 + n);
		assert_int_equal(k.dropped + k.calls, n);
		assert_int_equal(k.facts, 1);
	}
}

static void a_part_that_cannot_be_named_costs_nothing(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap");

	for (unsigned int fails = 1; fails <= 4; fails++) {
		enum capread_end ended;
		struct capwrite *w;
		struct record rec;
		struct stat st;
		struct kept k;
		uint64_t i;
		int err = 0;

		assert_ok(capwrite_open(path, true, &w));
		assert_ok(capwrite_keep_last(w, KEEP_MAX));
		rename_fails = fails;
		for (i = 0; !err && i <= KEEP_CALLS; i++)
			err = capwrite_record(w, &rec, make_call(&rec, i));
		assert_err(err, EIO);
		assert_int_equal(rename_fails, 0);
		assert_err(capwrite_close(w), EIO);
		assert_ok(stat(path, &st));
		k = read_kept(path, &ended);
		assert_int_equal(ended, CAPREAD_TRUNCATED);
		/* All up to the failure but for the record that caused the new part. */
		assert_int_equal(k.last, 1000 + i - 2);
		assert_int_equal(k.dropped + k.calls, i - 2);
	}
}

/* A crash can leave the second name alone: it is a capture, which only -f may cost. */
static void an_older_part_is_not_overwritten_unasked(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap"),
		   *older = tmpdir_path(state, "x.acltap.older");
	enum capread_end ended;
	struct capwrite *w;
	struct record rec;
	struct stat st;

	assert_ok(capwrite_open(older, false, &w));
	assert_ok(capwrite_record(w, &rec, make_call(&rec, 1)));
	assert_ok(capwrite_flush(w));
	assert_err(capwrite_open(path, true, &(struct capwrite *){NULL}), EBUSY);
	assert_ok(capwrite_close(w));
	assert_err(capwrite_open(path, false, &w), EEXIST);
	assert_int_not_equal(stat(path, &st), 0);
	assert_int_equal(read_kept(path, &ended).calls, 1);
	assert_ok(capwrite_open(path, true, &w));
	assert_int_not_equal(stat(older, &st), 0);
	assert_ok(capwrite_close(w));
	assert_ok(mkdir(older, 0700));
	assert_err(capwrite_open(path, true, &w), EISDIR);
	assert_ok(stat(path, &st));
}

static void writer_refuses_nonsense(void **state)
{
	struct capwrite *w;
	struct record r;
	size_t sz = make(&r, 1);

	assert_ok(capwrite_open(tmpdir_path(state, "x"), false, &w));
	assert_err(capwrite_record(w, &r, 47), EINVAL);
	assert_err(capwrite_record(w, &r, sz + 1), EINVAL);
	r.w.msg_len++;
	assert_err(capwrite_record(w, &r, sz), EINVAL);
	make(&r, 0);
	assert_ok(capwrite_record(w, &r, 48)); /* did not stick */
	assert_ok(capwrite_close(w));
}

/* At whatever size the disk is full: the file ends with a whole block, and the error is told. */
static void full_disk_leaves_whole_blocks(void **state)
{
	const char *path = tmpdir_path(state, "x.acltap");
	struct rlimit old, limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	for (rlim_t size = 64; size < 1200; size += 37) {
		enum capread_end ended = CAPREAD_COMPLETE;
		struct capwrite *w;
		struct capread *r;
		struct record rec;
		uint64_t flushed = 0;
		int err = 0;

		assert_ok(capwrite_open(path, true, &w));
		limit = (struct rlimit){size, old.rlim_max};
		setrlimit(RLIMIT_FSIZE, &limit);
		for (uint64_t i = 0; i < 60 && !err; i++) {
			size_t sz = make(&rec, i);

			err = capwrite_record(w, &rec, sz);
			if (!err && i % 2)
				err = capwrite_flush(w);
			if (!err && i % 2)
				flushed = i + 1;
		}
		assert_int_equal(err, -EFBIG);
		assert_err(capwrite_record(w, &rec, rec.w.len), EFBIG);
		assert_err(capwrite_close(w), EFBIG);
		setrlimit(RLIMIT_FSIZE, &old);
		assert_ok(capread_open(path, &r));
		assert_int_equal(read_prefix(r, &ended), flushed);
		assert_int_equal(ended, CAPREAD_TRUNCATED);
		assert_int_equal(capread_offset(r), capread_size(r)); /* nothing after it */
		capread_close(r);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(round_trip),
		T(layout_is_as_documented),
		T(abandoned_captures_are_truncated),
		T(cut_at_every_byte),
		T(every_byte_changed),
		T(lying_records_are_damage),
		T(garbage_is_survived),
		T(own_captures_are_not_behind_links),
		T(what_is_no_capture_is_refused),
		T(writer_protects_files),
		T(captures_being_written_are_locked),
		T(a_removed_file_is_told),
		T(only_the_last_is_kept),
		T(a_crash_between_the_renames),
		T(a_last_part_is_whole_after_any_number_of_parts),
		T(many_processes_leave_room_for_calls),
		T(a_crash_while_parts_are_joined),
		T(a_full_disk_while_parts_are_joined),
		T(a_part_that_cannot_be_named_costs_nothing),
		T(an_older_part_is_not_overwritten_unasked),
		T(writer_refuses_nonsense),
		T(full_disk_leaves_whole_blocks),
	};

	return RUN(tests);
}
