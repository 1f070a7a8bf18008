// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/readall.h"

/* What the kernel may do at any time: fewer bytes than asked for, or nothing for a signal. */
static unsigned int calls;

static size_t few(size_t n)
{
	return n < 3 ? n : 3;
}

ssize_t read(int fd, void *p, size_t n)
{
	if (calls++ % 2) {
		errno = EINTR;
		return -1;
	}
	return syscall(SYS_read, fd, p, few(n));
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	if (calls++ % 2) {
		errno = EINTR;
		return -1;
	}
	return syscall(SYS_pread64, fd, p, few(n), at);
}

static int make_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w+");
	int fd;

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	fclose(f);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	return fd;
}

static void in_pieces_up_to_the_end(void **state)
{
	int fd = make_file(tmpdir_path(state, "x"), "0123456789");
	char buf[16];

	assert_int_equal(readall(fd, buf, 8), 8);
	assert_memory_equal(buf, "01234567", 8);
	assert_int_equal(readall(fd, buf, 8), 2);
	assert_memory_equal(buf, "89", 2);
	assert_int_equal(readall(fd, buf, 8), 0);
	assert_int_equal(readall_at(fd, buf, 5, 1), 5);
	assert_memory_equal(buf, "12345", 5);
	assert_int_equal(readall_at(fd, buf, 8, 7), 3);
	assert_memory_equal(buf, "789", 3);
	assert_int_equal(readall_at(fd, buf, 8, 100), 0);
	close(fd);
	assert_err(readall(fd, buf, 8), EBADF);
	assert_err(readall_at(fd, buf, 8, 0), EBADF);
	assert_err(readall_at(0, buf, 8, UINT64_MAX), EINVAL);
}

static void text_is_terminated(void **state)
{
	const char *path = tmpdir_path(state, "x");
	char buf[8] = "garbage";

	close(make_file(path, "text\n"));
	assert_int_equal(readall_text(path, buf, sizeof(buf)), 5);
	assert_string_equal(buf, "text\n");
	assert_int_equal(readall_text(path, buf, 3), 2);
	assert_string_equal(buf, "te");
	assert_err(readall_text(tmpdir_path(state, "none"), buf, sizeof(buf)), ENOENT);
	assert_string_equal(buf, "");
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(in_pieces_up_to_the_end),
		T(text_is_terminated),
	};

	return RUN(tests);
}
