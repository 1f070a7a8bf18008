// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/tmpdir.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink/out.h"

static void fill(struct out *o, size_t lines)
{
	for (size_t i = 0; i < lines; i++) {
		out_u64(o, i);
		out_char(o, '\n');
	}
}

static void file_appears_when_closed(void **state)
{
	const char *path = tmpdir_path(state, "x.csv");
	struct out *o;
	char *got;

	assert_ok(out_file(path, false, &o));
	out_str(o, "hello ");
	out_write(o, "world", 5);
	assert_int_equal(access(path, F_OK), -1);
	assert_ok(out_close(o));
	got = slurp(path, NULL);
	assert_string_equal(got, "hello world");
	free(got);
	assert_int_equal(dir_entries(*state), 1);
}

static void long_content_is_whole(void **state)
{
	const char *path = tmpdir_path(state, "long");
	char *big = malloc(1 << 20), *got, *p;
	struct out *o;
	size_t sz;

	memset(big, 'x', 1 << 20);
	assert_ok(out_file(path, false, &o));
	fill(o, 200000);
	out_write(o, big, 1 << 20);
	out_str(o, "end");
	assert_ok(out_close(o));
	got = slurp(path, &sz);
	p = got;
	for (unsigned long i = 0; i < 200000; i++)
		assert_int_equal(strtoul(p, &p, 10), i);
	assert_memory_equal(p + 1, big, 1 << 20);
	assert_string_equal(p + 1 + (1 << 20), "end");
	free(got);
	free(big);
}

static void discard_leaves_nothing(void **state)
{
	struct out *o;

	assert_ok(out_file(tmpdir_path(state, "x"), false, &o));
	fill(o, 100000);
	out_discard(o);
	assert_int_equal(dir_entries(*state), 0);
	out_discard(NULL);
}

static void published_files_can_be_taken_back(void **state)
{
	struct out *o;

	assert_ok(out_file(tmpdir_path(state, "x"), false, &o));
	out_str(o, "text");
	assert_ok(out_rename(o, "y"));
	assert_ok(out_publish(o));
	assert_int_equal(access(tmpdir_path(state, "y"), F_OK), 0);
	out_discard(o);
	assert_int_equal(dir_entries(*state), 0);
}

static void existing_files_are_kept(void **state)
{
	const char *path = tmpdir_path(state, "x");
	struct out *o;
	char *got;

	spew(path, "old", 3);
	assert_err(out_file(path, false, &o), EEXIST);
	assert_ok(out_file(path, true, &o));
	out_str(o, "new");
	out_discard(o);
	got = slurp(path, NULL);
	assert_string_equal(got, "old");
	free(got);
	assert_ok(out_file(path, true, &o));
	out_str(o, "new");
	assert_ok(out_close(o));
	got = slurp(path, NULL);
	assert_string_equal(got, "new");
	free(got);

	/* Also one that appears while we write. */
	unlink(path);
	assert_ok(out_file(path, false, &o));
	spew(path, "other", 5);
	assert_err(out_close(o), EEXIST);
	got = slurp(path, NULL);
	assert_string_equal(got, "other");
	free(got);
	assert_int_equal(dir_entries(*state), 1);
}

static void links_are_not_followed(void **state)
{
	const char *victim = tmpdir_path(state, "victim");
	struct out *o;

	spew(victim, "precious", 8);
	assert_int_equal(symlink(victim, tmpdir_path(state, "link")), 0);
	assert_err(out_file(tmpdir_path(state, "link"), false, &o), EEXIST);
	assert_err(out_file(tmpdir_path(state, "link"), true, &o), ELOOP);

	/* A link on the way is fine in a directory of our own, and refused in one for all. */
	assert_int_equal(mkdir(tmpdir_path(state, "real"), 0700), 0);
	assert_int_equal(mkdir(tmpdir_path(state, "open"), 0700), 0);
	assert_int_equal(symlink("../real", tmpdir_path(state, "open/dir")), 0);
	assert_ok(out_file(tmpdir_path(state, "open/dir/x"), false, &o));
	assert_ok(out_close(o));
	assert_int_equal(access(tmpdir_path(state, "real/x"), F_OK), 0);
	assert_int_equal(chmod(tmpdir_path(state, "open"), 01777), 0);
	assert_err(out_file(tmpdir_path(state, "open/dir/y"), false, &o), ELOOP);
	assert_ok(out_file(tmpdir_path(state, "open/plain"), false, &o));
	assert_ok(out_close(o));
}

static void bad_paths_are_errors(void **state)
{
	struct out *o;

	assert_err(out_file("", false, &o), ENOENT);
	assert_err(out_file("/", false, &o), EISDIR);
	assert_err(out_file(tmpdir_path(state, "."), false, &o), EISDIR);
	assert_err(out_file(tmpdir_path(state, "none/x"), false, &o), ENOENT);
	spew(tmpdir_path(state, "file"), "", 0);
	assert_err(out_file(tmpdir_path(state, "file/x"), false, &o), ENOTDIR);
	assert_int_equal(symlink("loop", tmpdir_path(state, "loop")), 0);
	assert_err(out_file(tmpdir_path(state, "loop/x"), false, &o), ELOOP);
}

static void full_device_is_an_error(void **state)
{
	struct out *o;

	(void)state;
	assert_ok(out_file("/dev/full", false, &o));
	fill(o, 100000);
	assert_err(out_error(o), ENOSPC);
	assert_err(out_close(o), ENOSPC);
	assert_ok(out_file("/dev/full", false, &o));
	out_str(o, "less than the buffer");
	assert_err(out_close(o), ENOSPC);
	assert_ok(out_file("/dev/null", false, &o));
	fill(o, 100000);
	assert_ok(out_close(o));
}

/* Wherever the file cannot grow any more: an error, and no file. */
static void no_room_leaves_no_file(void **state)
{
	struct rlimit old, limit;
	struct out *o;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (rlim_t size = 0; size < 600000; size += 99991) {
		limit = (struct rlimit){size, old.rlim_max};
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_ok(out_file(tmpdir_path(state, "x"), false, &o));
		fill(o, 100000); /* 588,890 bytes */
		if (size < 588890)
			assert_err(out_close(o), EFBIG);
		else
			assert_ok(out_close(o));
		setrlimit(RLIMIT_FSIZE, &old);
		assert_int_equal(dir_entries(*state), size < 588890 ? 0 : 1);
	}
}

static void growing_file_is_seen_at_once(void **state)
{
	const char *path = tmpdir_path(state, "log");
	struct out *o;
	char *got;

	assert_ok(out_growing(path, false, &o));
	out_str(o, "one\n");
	assert_ok(out_flush(o));
	got = slurp(path, NULL);
	assert_string_equal(got, "one\n");
	free(got);
	out_discard(o); /* what was shown stays */
	assert_int_equal(dir_entries(*state), 1);
	assert_err(out_growing(path, false, &o), EEXIST);
	assert_ok(out_growing(path, true, &o));
	out_str(o, "two");
	assert_ok(out_close(o));
	got = slurp(path, NULL);
	assert_string_equal(got, "two");
	free(got);
	assert_int_equal(dir_entries(*state), 1);
	/* A device has no other name: it is written to as it is. */
	assert_ok(out_growing("/dev/full", false, &o));
	out_str(o, "x");
	assert_err(out_flush(o), ENOSPC);
	assert_err(out_close(o), ENOSPC);
}

static int refuse(int fd)
{
	return fd >= 0 ? -EINTR : 0;
}

static int allow(int fd)
{
	return fd >= 0 ? 0 : -EBADF;
}

/* With nobody who reads, one page fits, then wait says no; without asking this would hang. */
static int allow_if_empty(int fd)
{
	int waiting;

	(void)fd;
	return !ioctl(0, FIONREAD, &waiting) && waiting ? -EINTR : 0;
}

static void streams_ask_before_they_write(void **state)
{
	int ends[2], saved = dup(0);
	char buf[8192] = "";
	struct out *o;

	(void)state;
	assert_ok(pipe(ends));
	assert_ok(out_stream(ends[1], &o));
	out_str(o, "a");
	out_set_wait(o, allow);
	assert_ok(out_flush(o));
	assert_int_equal(read(ends[0], buf, sizeof(buf)), 1);
	out_set_wait(o, refuse);
	out_str(o, "b");
	assert_err(out_flush(o), EINTR);
	out_set_wait(o, allow);
	out_str(o, "c");
	assert_err(out_close(o), EINTR);	     /* it sticks, and nothing comes out of order */
	assert_int_equal(write(ends[1], "z", 1), 1); /* closing left the stream open */
	assert_int_equal(read(ends[0], buf, sizeof(buf)), 1);
	assert_int_equal(buf[0], 'z');

	assert_int_equal(dup2(ends[0], 0), 0);
	assert_ok(out_stream(ends[1], &o));
	out_set_wait(o, allow_if_empty);
	out_write(o, buf, sizeof(buf));
	assert_err(out_flush(o), EINTR);
	assert_int_equal(read(ends[0], buf, sizeof(buf)), 4096);
	out_discard(o);
	dup2(saved, 0);
	close(saved);
	close(ends[0]);
	close(ends[1]);
}

static void memory_has_a_limit(void **state)
{
	struct out *o;
	size_t sz;

	(void)state;
	assert_ok(out_memory(10, &o));
	out_str(o, "0123456789");
	assert_ok(out_error(o));
	assert_memory_equal(out_data(o, &sz), "0123456789", 10);
	assert_int_equal(sz, 10);
	out_char(o, 'x');
	assert_err(out_error(o), ENOSPC);
	for (int i = 0; i < 1000; i++)
		out_u64(o, UINT64_MAX); /* goes nowhere, safely */
	assert_err(out_close(o), ENOSPC);
	assert_ok(out_memory(1 << 20, &o));
	fill(o, 100000);
	out_data(o, &sz);
	assert_int_equal(sz, 588890);
	assert_ok(out_close(o));
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(growing_file_is_seen_at_once), T(streams_ask_before_they_write),
		T(file_appears_when_closed),	 T(long_content_is_whole),
		T(discard_leaves_nothing),	 T(published_files_can_be_taken_back),
		T(existing_files_are_kept),	 T(links_are_not_followed),
		T(bad_paths_are_errors),	 T(full_device_is_an_error),
		T(no_room_leaves_no_file),	 T(memory_has_a_limit),
	};

	return RUN(tests);
}
