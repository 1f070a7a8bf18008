// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "discover/libpath.h"
#include "harness/tmpdir.h"

/* ---- the command ---- */

static void make(const char *path, mode_t mode)
{
	spew(path, "#!/bin/sh\n", 10);
	assert_ok(chmod(path, mode));
}

static void assert_command(const char *name, const char *want)
{
	char *path = NULL;

	assert_ok(libpath_find_command(name, &path));
	assert_string_equal(path, want);
	free(path);
}

static void assert_no_command(const char *name, int err)
{
	char *path = NULL;

	assert_err(libpath_find_command(name, &path), err);
	assert_null(path);
}

static void set_path(const char *a, const char *b)
{
	char buf[2048];

	snprintf(buf, sizeof(buf), "%s:%s", a, b);
	assert_ok(setenv("PATH", buf, 1));
}

static void command_as_execvp(void **state)
{
	const char *a = tmpdir_path(state, "a"), *b = tmpdir_path(state, "b b");

	assert_ok(mkdir(a, 0755));
	assert_ok(mkdir(b, 0755));
	make(tmpdir_path(state, "a/plain"), 0644);
	make(tmpdir_path(state, "a/both"), 0644);
	make(tmpdir_path(state, "b b/both"), 0755);
	make(tmpdir_path(state, "b b/run"), 0755);
	assert_ok(mkdir(tmpdir_path(state, "a/dir"), 0755));
	set_path(a, b);
	assert_command("run", tmpdir_path(state, "b b/run"));
	assert_command("both", tmpdir_path(state, "b b/both")); /* the one that may run */
	assert_no_command("plain", EACCES);
	assert_no_command("dir", EACCES);
	assert_no_command("nothing", ENOENT);
	assert_no_command("", ENOENT);
	/* A folder that is none, or may not exist, is passed over. */
	set_path("/nonexistent:/dev/null", b);
	assert_command("run", tmpdir_path(state, "b b/run"));
}

static void command_with_a_slash(void **state)
{
	make(tmpdir_path(state, "run"), 0755);
	make(tmpdir_path(state, "plain"), 0644);
	assert_ok(setenv("PATH", "/nonexistent", 1));
	assert_command(tmpdir_path(state, "run"), tmpdir_path(state, "run"));
	assert_no_command(tmpdir_path(state, "plain"), EACCES);
	assert_no_command(tmpdir_path(state, "nothing"), ENOENT);
	assert_no_command(*state, EACCES);
}

static void empty_entry_is_here(void **state)
{
	char *old = getcwd(NULL, 0);

	make(tmpdir_path(state, "run"), 0755);
	assert_ok(chdir(*state));
	assert_ok(setenv("PATH", "/nonexistent:", 1));
	assert_command("run", "./run");
	assert_ok(setenv("PATH", ":/nonexistent", 1));
	assert_command("run", "./run");
	assert_ok(setenv("PATH", "/nonexistent", 1));
	assert_no_command("run", ENOENT);
	assert_ok(chdir(old));
	free(old);
}

/* ---- the library ---- */

struct found {
	char paths[32][1024];
	int n, stop_at;
};

static int note(void *ctx, const char *path)
{
	struct found *f = ctx;

	assert_true(f->n < 32);
	snprintf(f->paths[f->n++], sizeof(f->paths[0]), "%s", path);
	return f->n == f->stop_at ? 42 : 0;
}

static struct found look(char **env)
{
	struct found f = {.n = 0};

	assert_ok(libpath_for_each(env, note, &f));
	return f;
}

static void both_in(const char *dir, struct found *want)
{
	static const char *const names[] = {"libmsprofiler.so", "libascendcl.so"};

	for (size_t i = 0; i < 2; i++)
		snprintf(want->paths[want->n++], sizeof(want->paths[0]), "%s/%s", dir, names[i]);
}

/* The machine's own cache and the usual folders come behind. */
static void assert_begins(const struct found *f, const struct found *want)
{
	assert_true(f->n >= want->n);
	for (int i = 0; i < want->n; i++)
		assert_string_equal(f->paths[i], want->paths[i]);
}

static void libraries_in_the_order_of_the_loader(void **state)
{
	char *env[] = {"LD_LIBRARY_PATH_NOT=/no",
		       "ASCEND_TOOLKIT_HOME=/kit",
		       "HOME=/user",
		       "LD_LIBRARY_PATH=/one:/two two;/three",
		       "ASCEND_HOME_PATH=/home path",
		       NULL};
	struct found f = look(env), want = {.n = 0};

	(void)state;
	both_in("/one", &want);
	both_in("/two two", &want);
	both_in("/three", &want);
	both_in("/home path/lib64", &want);
	both_in("/kit/lib64", &want);
	both_in("/user/Ascend/ascend-toolkit/latest/lib64", &want);
	assert_begins(&f, &want);
	f = (struct found){.stop_at = 2};
	assert_int_equal(libpath_for_each(env, note, &f), 42);
	assert_int_equal(f.n, 2);
}

static void usual_folders_need_no_environment(void **state)
{
	char *env[] = {NULL};
	struct found f = look(env);
	int n = 0;

	(void)state;
	for (int i = 0; i < f.n; i++)
		n += !strcmp(f.paths[i], "/usr/local/Ascend/cann/lib64/libmsprofiler.so") ||
		     !strcmp(f.paths[i],
			     "/usr/local/Ascend/ascend-toolkit/latest/lib64/libascendcl.so");
	assert_true(n >= 2);
	f = look(NULL);
	assert_true(f.n >= 2);
}

/* To the loader an empty name is the current folder, and an empty list is none. */
static void empty_names_in_the_list(void **state)
{
	static const struct {
		char *var;
		const char *dirs[3];
	} cases[] = {
		{"LD_LIBRARY_PATH=:/a", {".", "/a"}},
		{"LD_LIBRARY_PATH=/a:", {"/a", "."}},
		{"LD_LIBRARY_PATH=/a::/b", {"/a", ".", "/b"}},
		{"LD_LIBRARY_PATH=/a", {"/a"}},
		{"LD_LIBRARY_PATH=", {NULL}},
		{"ASCEND_HOME_PATH=", {NULL}},
	};
	int base = look(NULL).n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *env[] = {cases[i].var, NULL};
		struct found f = look(env), want = {.n = 0};

		for (size_t k = 0; k < 3 && cases[i].dirs[k]; k++)
			both_in(cases[i].dirs[k], &want);
		assert_begins(&f, &want);
		assert_int_equal(f.n, base + want.n);
	}
}

static void sudo_and_its_environment(void **state)
{
	(void)state;
	unsetenv("LD_LIBRARY_PATH");
	unsetenv("ASCEND_HOME_PATH");
	unsetenv("ASCEND_TOOLKIT_HOME");
	unsetenv("SUDO_UID");
	assert_false(libpath_sudo_lost_environment());
	setenv("SUDO_UID", "1000", 1);
	assert_true(libpath_sudo_lost_environment());
	setenv("ASCEND_HOME_PATH", "/x", 1);
	assert_false(libpath_sudo_lost_environment());
	unsetenv("ASCEND_HOME_PATH");
	unsetenv("SUDO_UID");
}

/* ---- ld.so.cache ---- */

struct cache {
	char magic[20];
	uint32_t n, strings_len, unused[5];
	struct {
		int32_t flags;
		uint32_t key, value, osversion;
		uint64_t hwcap;
	} e[2];
	char strings[40];
};

_Static_assert(sizeof(struct cache) == 48 + 2 * 24 + 40, "layout of the cache");

static struct cache two_entries(void)
{
	struct cache c = {.n = 2, .strings_len = sizeof(c.strings)};
	uint32_t at = offsetof(struct cache, strings);

	memcpy(c.magic, "glibc-ld.so.cache1.1", 20);
	memcpy(c.strings, "liba.so\0/lib/liba.so\0libb.so\0/b\0", 33);
	c.e[0].key = at;
	c.e[0].value = at + 8;
	c.e[1].key = at + 21;
	c.e[1].value = at + 29;
	return c;
}

struct list {
	char text[256];
	size_t len;
};

static int append(void *ctx, const char *name, const char *path)
{
	struct list *l = ctx;

	l->len +=
		(size_t)snprintf(l->text + l->len, sizeof(l->text) - l->len, "%s=%s ", name, path);
	assert_true(l->len < sizeof(l->text));
	return 0;
}

static int read_cache(const void *bytes, size_t len, struct list *l)
{
	char *copy = malloc(len ? len : 1); /* exact, so that ASan sees a step too far */
	int err;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	*l = (struct list){.len = 0};
	err = libpath_cache_each(copy, len, append, l);
	free(copy);
	return err;
}

static void cache_entries(void **state)
{
	struct cache c = two_entries();
	char behind[sizeof(c) + 64] = "ld.so-1.7.0";
	struct list l;

	(void)state;
	assert_ok(read_cache(&c, sizeof(c), &l));
	assert_string_equal(l.text, "liba.so=/lib/liba.so libb.so=/b ");
	/* Behind a part in the older format. */
	memcpy(behind + 64, &c, sizeof(c));
	assert_ok(read_cache(behind, sizeof(behind), &l));
	assert_string_equal(l.text, "liba.so=/lib/liba.so libb.so=/b ");
	assert_err(read_cache("ld.so-1.7.0 and no more", 24, &l), EBADMSG);
}

static void damaged_caches(void **state)
{
	struct cache c = two_entries();
	struct list l;

	(void)state;
	for (size_t len = 0; len < sizeof(c); len++) {
		int err = read_cache(&c, len, &l);

		assert_int_equal(err, len < offsetof(struct cache, strings) ? -EBADMSG : 0);
		if (len < offsetof(struct cache, strings) + 21)
			assert_string_equal(l.text, "");
	}
	c.e[0].value = UINT32_MAX;
	assert_ok(read_cache(&c, sizeof(c), &l));
	assert_string_equal(l.text, "libb.so=/b ");
	c.n = UINT32_MAX;
	assert_err(read_cache(&c, sizeof(c), &l), EBADMSG);
}

static int has_libc(void *ctx, const char *name, const char *path)
{
	if (!strcmp(name, "libc.so.6") && !access(path, R_OK))
		*(bool *)ctx = true;
	return 0;
}

static void cache_of_this_machine(void **state)
{
	bool found = false;
	size_t len;
	char *text;

	(void)state;
	text = slurp("/etc/ld.so.cache", &len);
	assert_ok(libpath_cache_each(text, len, has_libc, &found));
	assert_true(found);
	free(text);
}

#define IN_DIR(t) cmocka_unit_test_setup_teardown(t, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries_in_the_order_of_the_loader),
		cmocka_unit_test(usual_folders_need_no_environment),
		cmocka_unit_test(empty_names_in_the_list),
		IN_DIR(command_as_execvp),
		IN_DIR(command_with_a_slash),
		IN_DIR(empty_entry_is_here),
		cmocka_unit_test(sudo_and_its_environment),
		cmocka_unit_test(cache_entries),
		cmocka_unit_test(damaged_caches),
		cmocka_unit_test(cache_of_this_machine),
	};

	return RUN(tests);
}
