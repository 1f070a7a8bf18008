// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "discover/proc.h"
#include "util/regular.h"

/* Files that were really opened, not only found. In place of the C library's. */
static unsigned int opened;

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	opened += !(flags & O_PATH);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void expect_content(int fd)
{
	char c;

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &c, 1), 1);
	assert_int_equal(c, 'x');
	close(fd);
}

static void a_file_is_opened(void **state)
{
	const char *path = tmpdir_path(state, "file"), *link = tmpdir_path(state, "link");
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_ok(symlink(path, link));
	expect_content(regular_open(path));
	expect_content(regular_open(link));
	expect_content(proc_open_in_root(getpid(), path));
	expect_content(proc_open_in_root(getpid(), link));
	assert_err(regular_open(tmpdir_path(state, "none")), ENOENT);
}

static void what_is_none_is_not_even_opened(void **state)
{
	const char *fifo = tmpdir_path(state, "fifo"), *link = tmpdir_path(state, "link");

	assert_ok(mkfifo(fifo, 0600));
	assert_ok(symlink("/dev/null", link));
	opened = 0;
	assert_err(regular_open(fifo), EINVAL);
	assert_err(regular_open(link), EINVAL);
	assert_err(regular_open("/"), EISDIR);
	assert_err(proc_open_in_root(getpid(), fifo), EINVAL);
	assert_err(proc_open_in_root(getpid(), link), EINVAL);
	assert_int_equal(opened, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_file_is_opened),
		T(what_is_none_is_not_even_opened),
	};

	return RUN(tests);
}
