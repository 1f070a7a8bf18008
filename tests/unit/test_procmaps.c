// SPDX-License-Identifier: GPL-2.0-only
/* What this very process maps, as the scan sees it. */
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "discover/proc.h"
#include "harness/tmpdir.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))
#define EXEC (PROT_READ | PROT_EXEC)

/* A file of n pages, each filled with its number. */
static void make_file(void **state, const char *name, size_t n)
{
	char *bytes = malloc(n * PAGE);

	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++)
		memset(bytes + i * PAGE, '0' + (int)i, PAGE);
	spew(tmpdir_path(state, name), bytes, n * PAGE);
	free(bytes);
}

/* Maps n pages from page `from` on; at = NULL: anywhere. */
static char *map(const char *path, char *at, size_t from, size_t n, int prot, int flags)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char *p;

	assert_true(fd >= 0);
	p = mmap(at, n * PAGE, prot, flags | (at ? MAP_FIXED : 0), fd, (off_t)(from * PAGE));
	assert_true(p != MAP_FAILED);
	close(fd);
	return p;
}

struct sight {
	const char *path; /* the one that is looked for */
	int n, err;
	struct stat st;
	const char *unprobeable, *at[4]; /* problem of pages 0 to 3 */
	bool partly;
	char first;
};

static int see(void *ctx, const struct proc_file *pf)
{
	struct sight *s = ctx;

	if (strcmp(pf->path, s->path))
		return 0;
	s->n++;
	s->err = pf->err;
	s->unprobeable = pf->unprobeable;
	s->partly = pf->partly;
	for (size_t i = 0; i < 4; i++)
		s->at[i] = proc_text_problem(pf, i * PAGE);
	if (pf->fd < 0)
		return 0;
	assert_ok(fstat(pf->fd, &s->st));
	assert_int_equal(pread(pf->fd, &s->first, 1, 0), 1);
	return 0;
}

static struct sight look_for(const char *path)
{
	struct sight s = {.path = path};

	assert_ok(proc_scan_maps(getpid(), see, &s));
	return s;
}

static void private_text(void **state)
{
	const char *path = tmpdir_path(state, "a lib.so");
	struct stat st;
	struct sight s;
	char *p;

	make_file(state, "a lib.so", 4);
	p = map(path, NULL, 1, 2, EXEC, MAP_PRIVATE);
	s = look_for(path);
	assert_int_equal(s.n, 1);
	assert_ok(s.err);
	assert_ok(stat(path, &st));
	assert_true(s.st.st_ino == st.st_ino && s.st.st_dev == st.st_dev);
	assert_null(s.unprobeable);
	assert_false(s.partly);
	assert_non_null(s.at[0]); /* not mapped */
	assert_null(s.at[1]);
	assert_null(s.at[2]);
	assert_non_null(s.at[3]);
	munmap(p, 2 * PAGE);
	assert_int_equal(look_for(path).n, 0);
}

static void data_is_no_text(void **state)
{
	const char *path = tmpdir_path(state, "data");
	char *p;

	make_file(state, "data", 1);
	p = map(path, NULL, 0, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	assert_int_equal(look_for(path).n, 0);
	munmap(p, PAGE);
}

static void writable_and_shared(void **state)
{
	const char *path = tmpdir_path(state, "x");
	struct sight s;
	char *p;

	make_file(state, "x", 3);
	p = map(path, NULL, 0, 3, EXEC | PROT_WRITE, MAP_PRIVATE);
	s = look_for(path);
	assert_string_equal(s.unprobeable, "writable");
	assert_false(s.partly);
	assert_string_equal(s.at[1], "writable");
	/* Only the middle page stays so. */
	assert_ok(mprotect(p, PAGE, EXEC));
	assert_ok(mprotect(p + 2 * PAGE, PAGE, EXEC));
	s = look_for(path);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.unprobeable, "writable");
	assert_true(s.partly);
	assert_null(s.at[0]);
	assert_string_equal(s.at[1], "writable");
	assert_null(s.at[2]);
	munmap(p, 3 * PAGE);
	p = map(path, NULL, 0, 1, EXEC, MAP_SHARED);
	assert_string_equal(look_for(path).unprobeable, "shared");
	munmap(p, PAGE);
}

static void anonymous_copy_of_text(void **state)
{
	const char *path = tmpdir_path(state, "lib");
	struct sight s;
	char *p;

	make_file(state, "lib", 3);
	p = map(path, NULL, 0, 3, PROT_READ, MAP_PRIVATE);
	assert_true(mmap(p + PAGE, PAGE, EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
		    MAP_FAILED);
	s = look_for(path);
	assert_int_equal(s.n, 1);
	assert_ok(s.err);
	assert_string_equal(s.unprobeable, "as a copy in anonymous memory");
	assert_false(s.partly);
	assert_ptr_equal(s.at[1], s.unprobeable);
	assert_ptr_not_equal(s.at[0], s.unprobeable);
	assert_ptr_not_equal(s.at[2], s.unprobeable);
	/* Generated code behind a library is none of it. */
	munmap(p + 2 * PAGE, PAGE);
	assert_int_equal(look_for(path).n, 0);
	munmap(p, 2 * PAGE);
}

static void one_file_comes_once(void **state)
{
	const char *path = tmpdir_path(state, "one"), *link_path = tmpdir_path(state, "two");
	char *p, *q, *r;
	struct sight a, b;

	make_file(state, "one", 2);
	assert_ok(link(path, link_path));
	p = map(path, NULL, 0, 1, EXEC, MAP_PRIVATE);
	q = map(link_path, NULL, 0, 2, EXEC, MAP_PRIVATE);
	r = map(path, NULL, 1, 1, EXEC | PROT_WRITE, MAP_PRIVATE);
	a = look_for(path);
	b = look_for(link_path);
	assert_int_equal(a.n + b.n, 1);
	a = a.n ? a : b;
	assert_true(a.partly);
	assert_null(a.at[0]);
	assert_null(a.at[1]); /* one of its two mappings can be probed */
	munmap(p, PAGE);
	munmap(q, 2 * PAGE);
	munmap(r, PAGE);
}

static bool may_follow_map_files(const char *start)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)start,
		 (unsigned long)(start + PAGE));
	return !access(path, R_OK);
}

/* The old file is the one that runs, whatever has its name now. */
static void replaced_and_deleted(void **state)
{
	const char *path = tmpdir_path(state, "v");
	char deleted[512];
	struct stat old;
	struct sight s;
	char *p;

	make_file(state, "v", 1);
	assert_ok(stat(path, &old));
	p = map(path, NULL, 0, 1, EXEC, MAP_PRIVATE);
	assert_ok(unlink(path));
	spew(path, "new", 3);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	assert_int_equal(look_for(path).n, 0);
	s = look_for(deleted);
	assert_int_equal(s.n, 1);
	if (may_follow_map_files(p)) {
		assert_ok(s.err);
		assert_int_equal(s.st.st_ino, old.st_ino);
		assert_int_equal(s.first, '0');
	} else {
		assert_true(s.err < 0); /* never the new file */
	}
	/* A file whose name ends so is no deleted one. */
	munmap(p, PAGE);
	make_file(state, "v (deleted)", 2);
	p = map(deleted, NULL, 1, 1, EXEC, MAP_PRIVATE);
	s = look_for(deleted);
	assert_int_equal(s.n, 1);
	assert_ok(s.err);
	assert_int_equal(s.st.st_size, 2 * PAGE);
	munmap(p, PAGE);
}

static void odd_names(void **state)
{
	const char *path = tmpdir_path(state, "a\nb\\012 c\xff");
	char *p;
	struct sight s;

	make_file(state, "a\nb\\012 c\xff", 1);
	p = map(path, NULL, 0, 1, EXEC, MAP_PRIVATE);
	/* The kernel's text does not tell a newline from its escape: both come as a newline. */
	s = look_for(tmpdir_path(state, "a\nb\n c\xff"));
	assert_int_equal(s.n, 1);
	if (may_follow_map_files(p))
		assert_ok(s.err);
	munmap(p, PAGE);
}

/* Only regular files are opened: to open a device can do things. */
static void devices_are_not_opened(void **state)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *p = mmap(NULL, PAGE, EXEC, MAP_PRIVATE, fd, 0);
	struct sight s;

	(void)state;
	close(fd);
	if (p == MAP_FAILED) { /* /dev is mounted noexec: nobody can map one as code */
		assert_int_equal(errno, EPERM);
		return;
	}
	s = look_for("/dev/zero");
	assert_int_equal(s.n, 1);
	assert_err(s.err, ENOEXEC);
	munmap(p, PAGE);
}

struct known {
	struct sight sight; /* first: see() takes it */
	uint64_t keys[8];
	size_t n;
};

static bool is_known(void *ctx, uint64_t key)
{
	const struct known *k = ctx;

	for (size_t i = 0; i < k->n; i++)
		if (k->keys[i] == key)
			return true;
	return false;
}

static int learn(void *ctx, const struct proc_file *pf)
{
	struct known *k = ctx;
	int before = k->sight.n;
	int err = see(&k->sight, pf);

	for (size_t i = 0; k->sight.n > before && i < pf->n_text; i++)
		k->keys[k->n++] = pf->text[i].key;
	return err;
}

/* The same place with another piece, or another file, is no known mapping. */
static void known_mappings_are_left_out(void **state)
{
	const char *path = tmpdir_path(state, "a.so");
	struct known k = {.sight.path = path};
	char *p, *q;

	make_file(state, "a.so", 4);
	p = map(path, NULL, 1, 1, EXEC, MAP_PRIVATE);
	assert_ok(proc_scan_others(getpid(), is_known, learn, &k));
	assert_int_equal(k.sight.n, 1);
	assert_ok(proc_scan_others(getpid(), is_known, learn, &k));
	assert_int_equal(k.sight.n, 1);
	q = map(path, NULL, 1, 1, EXEC, MAP_PRIVATE);
	assert_ok(proc_scan_others(getpid(), is_known, learn, &k));
	assert_int_equal(k.sight.n, 2);
	munmap(q, PAGE);
	map(path, p, 2, 1, EXEC, MAP_PRIVATE | MAP_FIXED);
	assert_ok(proc_scan_others(getpid(), is_known, learn, &k));
	assert_int_equal(k.sight.n, 3);
	assert_int_equal(rename(path, tmpdir_path(state, "old.so")), 0);
	make_file(state, "a.so", 4);
	map(path, p, 2, 1, EXEC, MAP_PRIVATE | MAP_FIXED);
	assert_ok(proc_scan_others(getpid(), is_known, learn, &k));
	assert_int_equal(k.sight.n, 4);
	/* What has no effective probes is told each time. */
	map(path, p, 2, 1, EXEC | PROT_WRITE, MAP_PRIVATE | MAP_FIXED);
	assert_ok(proc_scan_others(getpid(), is_known, learn, &k));
	assert_ok(proc_scan_others(getpid(), is_known, learn, &k));
	assert_int_equal(k.sight.n, 6);
	munmap(p, PAGE);
}

static int stop(void *ctx, const struct proc_file *pf)
{
	(void)pf;
	return ++*(int *)ctx == 2 ? 17 : 0;
}

static void callback_ends_the_scan(void **state)
{
	int n = 0;

	(void)state;
	assert_int_equal(proc_scan_maps(getpid(), stop, &n), 17);
	assert_int_equal(n, 2);
}

#define IN_DIR(t) cmocka_unit_test_setup_teardown(t, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(private_text),
		IN_DIR(data_is_no_text),
		IN_DIR(writable_and_shared),
		IN_DIR(anonymous_copy_of_text),
		IN_DIR(one_file_comes_once),
		IN_DIR(replaced_and_deleted),
		IN_DIR(odd_names),
		IN_DIR(known_mappings_are_left_out),
		cmocka_unit_test(devices_are_not_opened),
		cmocka_unit_test(callback_ends_the_scan),
	};

	return RUN(tests);
}
