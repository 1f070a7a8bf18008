// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "discover/maps.h"

static bool one(const char *line, struct mapping *m)
{
	const char *pos = line;

	return maps_next(&pos, line + strlen(line), m, NULL);
}

static void assert_path(const struct mapping *m, const char *path)
{
	assert_int_equal(m->path_len, strlen(path));
	assert_memory_equal(m->path, path, m->path_len);
}

static void every_field_is_read(void **state)
{
	struct mapping m;

	(void)state;
	assert_true(one("7f0000001000-7f0000003000 r-xp 00002000 fd:1a 1234567    /usr/lib/a.so\n",
			&m));
	assert_int_equal(m.start, 0x7f0000001000);
	assert_int_equal(m.end, 0x7f0000003000);
	assert_int_equal(m.offset, 0x2000);
	assert_int_equal(m.dev_major, 0xfd);
	assert_int_equal(m.dev_minor, 0x1a);
	assert_int_equal(m.ino, 1234567);
	assert_true(m.read && m.exec);
	assert_false(m.write || m.shared);
	assert_path(&m, "/usr/lib/a.so");
	assert_true(one("1000-2000 -w-s 0 103:100000 1", &m));
	assert_false(m.read || m.exec);
	assert_true(m.write && m.shared);
	assert_int_equal(m.dev_major, 0x103);
	assert_int_equal(m.dev_minor, 0x100000);
	assert_int_equal(m.path_len, 0);
}

static void extremes_fit(void **state)
{
	struct mapping m;

	(void)state;
	assert_true(one("0-ffffffffffffffff ---p ffffffffffffffff ffffffff:ffffffff "
			"18446744073709551615\n",
			&m));
	assert_true(m.end == UINT64_MAX && m.offset == UINT64_MAX && m.ino == UINT64_MAX);
	assert_int_equal(m.dev_minor, UINT32_MAX);
}

static void hostile_paths_are_kept_whole(void **state)
{
	static const char *const paths[] = {
		"/opt/my lib/lib x.so (deleted)",
		"/tmp/a\\012b.so",
		"/tmp/ 7f0000001000-7f0000003000 r-xp 0 0:0 0 /x",
		"/memfd:libc.so.6 (deleted)",
		"[anon: heap of: x]",
		"//deleted",
		"/tmp/tab\there",
		"/tmp/trailing blank ",
		"\xff\xfe",
	};
	char line[256];
	struct mapping m;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(line, sizeof(line), "1000-2000 r--p 0 00:00 5 %20s%s\n", "", paths[i]);
		assert_true(one(line, &m));
		assert_path(&m, paths[i]);
	}
}

static void garbage_is_skipped_and_counted(void **state)
{
	static const char *const bad[] = {
		"",
		" ",
		"1000-2000",
		"1000-2000 ",
		"1000-2000 r-xp",
		"1000-2000 r-xp 0 00:00 ",
		"1000-2000 r-xq 0 00:00 0",
		"1000-2000 rx-p 0 00:00 0",
		"1000-2000 R-xp 0 00:00 0",
		"1000-2000 r-xp 0 00;00 0",
		"1000-2000 r-xp 0 100000000:00 0",
		"1000-2000 r-xp 0 00:00 18446744073709551616",
		"1000-2000 r-xp 0 00:00 12x /path",
		"1000-2000 r-xp 10000000000000000 00:00 0",
		"10000000000000000-2000 r-xp 0 00:00 0",
		"2000-1000 r-xp 0 00:00 0",
		"1000-1000 r-xp 0 00:00 0",
		"-1000-2000 r-xp 0 00:00 0",
		"0x1000-2000 r-xp 0 00:00 0",
		"/1000-2000 r-xp 0 00:00 0",
	};
	const size_t n = sizeof(bad) / sizeof(bad[0]);
	char text[4096];
	const char *pos = text;
	unsigned int skipped = 0;
	struct mapping m;
	size_t len = 0, found = 0;

	(void)state;
	for (size_t i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s\n%zx-%zx r-xp 0 00:00 0\n",
				bad[i], i * 4096, i * 4096 + 4096);
	while (maps_next(&pos, text + len, &m, &skipped))
		assert_int_equal(m.start, found++ * 4096);
	assert_int_equal(found, n);
	assert_int_equal(skipped, n);
}

/* Cut anywhere, also without a newline: nothing is read past the end. */
static void every_cut_is_safe(void **state)
{
	static const char line[] =
		"7f0000001000-7f0000003000 r-xp 00002000 fd:1a 1234567    /a b\n";

	(void)state;
	for (size_t len = 0; len < sizeof(line); len++) {
		char *copy = malloc(len ? len : 1);
		const char *pos = copy;
		struct mapping m;
		bool ok;

		assert_non_null(copy);
		memcpy(copy, line, len);
		ok = maps_next(&pos, copy + len, &m, NULL);
		assert_ptr_equal(pos, copy + len);
		assert_int_equal(ok,
				 len >= strlen("7f0000001000-7f0000003000 r-xp 00002000 fd:1a 1"));
		free(copy);
	}
}

static void long_lines_are_read(void **state)
{
	const size_t len = 1 << 20;
	char *text = malloc(len + 64);
	const char *pos = text;
	unsigned int bad = 0;
	struct mapping m;
	int head;

	(void)state;
	assert_non_null(text);
	head = sprintf(text, "1000-2000 r-xp 0 00:00 9 /");
	memset(text + head, 'x', len);
	memcpy(text + head + len, "\nz\n", 3);
	assert_true(maps_next(&pos, text + head + len + 3, &m, &bad));
	assert_int_equal(m.path_len, len + 1);
	assert_false(maps_next(&pos, text + head + len + 3, &m, &bad));
	assert_int_equal(bad, 1);
	free(text);
}

static void own_maps_parse(void **state)
{
	static char text[1 << 20];
	const char *pos = text;
	unsigned int bad = 0, here = 0;
	struct mapping m;
	FILE *f = fopen("/proc/self/maps", "re");
	size_t len;

	(void)state;
	assert_non_null(f);
	len = fread(text, 1, sizeof(text), f);
	fclose(f);
	while (maps_next(&pos, text + len, &m, &bad))
		here += m.exec && (uintptr_t)own_maps_parse >= m.start &&
			(uintptr_t)own_maps_parse < m.end && m.ino;
	assert_int_equal(bad, 0);
	assert_int_equal(here, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_read),
		cmocka_unit_test(extremes_fit),
		cmocka_unit_test(hostile_paths_are_kept_whole),
		cmocka_unit_test(garbage_is_skipped_and_counted),
		cmocka_unit_test(every_cut_is_safe),
		cmocka_unit_test(long_lines_are_read),
		cmocka_unit_test(own_maps_parse),
	};

	return RUN(tests);
}
