// SPDX-License-Identifier: GPL-2.0-only
/* The ELF reader against files of the machine's own compiler and C library. */
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/entry.h"
#include "discover/elfsym.h"
#include "harness/tmpdir.h"

static struct elf_scan out;

static void run(const char *fmt, const char *dir)
{
	char cmd[1024];

	snprintf(cmd, sizeof(cmd), "cd %s && %s", dir, fmt);
	if (system(cmd))
		fail_msg("failed: %s", cmd);
}

static void source(void **state, const char *text)
{
	spew(tmpdir_path(state, "a.c"), text, strlen(text));
}

static int scan(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	assert_true(fd >= 0);
	err = elfsym_scan(fd, &out);
	close(fd);
	return err;
}

static const struct sym *row(const char *symbol)
{
	return &out.funcs[entry_by_symbol(symbol)->func];
}

/* The bytes at the offset that was found are those of the function: 8 marked ones. */
static void assert_code(const char *path, const char *symbol, const char mark[8])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char code[8];

	assert_int_equal(row(symbol)->state, SYM_FOUND);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, code, sizeof(code), (off_t)row(symbol)->offset), sizeof(code));
	close(fd);
	assert_memory_equal(code, mark, 8);
}

#define MARKED(name, mark)                                                                         \
	"__asm__(\".pushsection .text; .globl " name "; .type " name ", %function; " name          \
	": .ascii \\\"" mark "\\\"; .size " name ", 8; .popsection\");\n"

static const char marked[] = MARKED("aclprofPush", "PushPush") MARKED("aclprofMark", "MarkMark");

static void libraries_whole_and_stripped(void **state)
{
	static const char *const how[] = {
		"gcc -shared -fPIC -o x a.c",
		"gcc -shared -fPIC -s -o x a.c",
		"gcc -shared -fPIC -s -Wl,--hash-style=sysv -o x a.c",
		"gcc -shared -fPIC -s -Wl,-z,noseparate-code -o x a.c",
		"gcc -shared -fPIC -s -Wl,-Ttext-segment=0x40000000 -o x a.c",
		"gcc -shared -fPIC -g -o x a.c",
	};

	source(state, marked);
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		run(how[i], *state);
		assert_ok(scan(tmpdir_path(state, "x")));
		assert_int_equal(out.n_found, 2);
		assert_false(out.is_static);
		assert_code(tmpdir_path(state, "x"), "aclprofPush", "PushPush");
		assert_code(tmpdir_path(state, "x"), "aclprofMark", "MarkMark");
		assert_int_equal(row("aclprofMark")->size, 8);
	}
}

static void executables(void **state)
{
	static const struct {
		const char *how;
		bool is_static;
	} how[] = {
		{"gcc -o x m.c a.c", false},
		{"gcc -no-pie -o x m.c a.c", false},
		{"gcc -static -o x m.c a.c", true},
		{"gcc -static-pie -o x m.c a.c", true},
	};

	source(state, marked);
	spew(tmpdir_path(state, "m.c"), "int main(void) { return 0; }\n", 29);
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		run(how[i].how, *state);
		assert_ok(scan(tmpdir_path(state, "x")));
		assert_int_equal(out.is_static, how[i].is_static);
		assert_int_equal(!*out.interp, how[i].is_static);
		assert_code(tmpdir_path(state, "x"), "aclprofPush", "PushPush");
		assert_code(tmpdir_path(state, "x"), "aclprofMark", "MarkMark");
	}
	run("gcc -static -s -o x m.c a.c", *state);
	assert_ok(scan(tmpdir_path(state, "x")));
	assert_int_equal(out.n_found, 0);
}

/* A caller only imports; a non-PIE one may give its PLT stub as the address. */
static void imported_functions(void **state)
{
	source(state, "void aclprofPush(void);\n");
	run("gcc -shared -fPIC -o libx.so -x c - <<'E'\nvoid aclprofPush(void) {}\nE", *state);
	run("gcc -no-pie -o x -x c - -L. -lx <<'E'\n"
	    "void aclprofPush(void); void (*volatile p)(void) = aclprofPush;\n"
	    "int main(void) { p(); aclprofPush(); return 0; }\nE",
	    *state);
	assert_ok(scan(tmpdir_path(state, "x")));
	assert_int_equal(row("aclprofPush")->state, SYM_UNDEFINED);
	assert_int_equal(out.n_found, 0);
}

static void versioned(void **state)
{
	static const char map[] = "V1 { aclprofPush; };\nV2 { aclprofPush; } V1;\n";
	static const char text[] = MARKED("one", "PushOne1")
		MARKED("two", "PushTwo2") "__asm__(\".symver one, aclprofPush@V1\");\n"
					  "__asm__(\".symver two, aclprofPush@@V2\");\n";

	source(state, text);
	spew(tmpdir_path(state, "map"), map, strlen(map));
	run("gcc -shared -fPIC -Wl,--version-script=map -o x a.c", *state);
	assert_ok(scan(tmpdir_path(state, "x")));
	assert_true(row("aclprofPush")->ambiguous);
	assert_code(tmpdir_path(state, "x"), "aclprofPush", "PushTwo2");
	run("strip x", *state);
	assert_ok(scan(tmpdir_path(state, "x")));
	assert_code(tmpdir_path(state, "x"), "aclprofPush", "PushTwo2");
}

static void indirect_function(void **state)
{
	source(state, "static void f(void) {}\nstatic void *pick(void) { return f; }\n"
		      "void aclprofPush(void) __attribute__((ifunc(\"pick\")));\n");
	run("gcc -shared -fPIC -o x a.c", *state);
	assert_ok(scan(tmpdir_path(state, "x")));
	assert_int_equal(row("aclprofPush")->state, SYM_IFUNC);
}

static void aliases(void **state)
{
	source(state, "int aclprofMark(void) { return 1; }\n"
		      "int aclprofPush(void) __attribute__((alias(\"aclprofMark\")));\n");
	run("gcc -shared -fPIC -o x a.c", *state);
	assert_ok(scan(tmpdir_path(state, "x")));
	assert_int_equal(row("aclprofPush")->same_as, entry_by_symbol("aclprofMark")->func);
}

#ifdef __x86_64__
static void other_classes(void **state)
{
	source(state, "int aclprofMark(void) { return 1; }\n");
	run("gcc -m32 -nostdlib -shared -fPIC -o x a.c", *state);
	assert_err(scan(tmpdir_path(state, "x")), ENOTSUP);
	assert_false(out.is_64);
	run("gcc -c -o x a.c", *state);
	assert_err(scan(tmpdir_path(state, "x")), ENOEXEC);
}
#endif

/* The dynamic loader of this very program, as it names itself. */
static void own_loader(void **state)
{
	static char interp[PATH_MAX];

	(void)state;
	assert_ok(scan("/proc/self/exe"));
	assert_false(out.is_static);
	memcpy(interp, out.interp, sizeof(interp));
	assert_int_equal(*interp, '/');
	assert_ok(scan(interp));
	assert_true(out.dl_debug_state > 0);
	assert_true(out.r_debug_delta != 0);
}

static void other_loader(void **state)
{
	spew(tmpdir_path(state, "m.c"), "int main(void) { return 0; }\n", 29);
	run("musl-gcc -o x m.c", *state);
	assert_ok(scan(tmpdir_path(state, "x")));
	assert_ok(scan(out.interp));
	assert_true(out.dl_debug_state > 0);
}

/* The name in the text beside that of the symbol, and the means to use it. */
static void functions_looked_up_by_name(void **state)
{
	const struct {
		const char *text;
		bool by_name;
	} cases[] = {
		{"void *dlsym(void *, const char *);\n"
		 "int aclprofPush(void *s) { int (*f)(void *) = dlsym((void *)-1, \"aclprofPush\");"
		 " return f(s); }\n",
		 true},
		{"void *dlsym(void *, const char *);\n"
		 "int aclprofPush(void *s) { int (*f)(void *) = dlsym((void *)-1, \"ProfAclPush\");"
		 " return f(s); }\n",
		 false},
		{"void *lookup(const char *);\n"
		 "int aclprofPush(void *s) { return s == lookup(\"aclprofPush\"); }\n",
		 false},
		{"void *dlsym(void *, const char *);\n"
		 "void *other(void) { return dlsym((void *)-1, \"aclprofPush\"); }\n",
		 false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		source(state, cases[i].text);
		run("gcc -O2 -shared -fPIC -o a.so a.c", *state);
		assert_ok(scan(tmpdir_path(state, "a.so")));
		assert_int_equal(out.by_name, cases[i].by_name);
		run("strip a.so", *state);
		assert_ok(scan(tmpdir_path(state, "a.so")));
		assert_int_equal(out.by_name, cases[i].by_name);
	}
}

#define IN_DIR(t) cmocka_unit_test_setup_teardown(t, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(libraries_whole_and_stripped),
		IN_DIR(executables),
		IN_DIR(imported_functions),
		IN_DIR(versioned),
		IN_DIR(indirect_function),
		IN_DIR(aliases),
		IN_DIR(functions_looked_up_by_name),
#ifdef __x86_64__
		IN_DIR(other_classes),
#endif
		IN_DIR(own_loader),
		IN_DIR(other_loader),
	};

	return RUN(tests);
}
