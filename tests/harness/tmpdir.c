// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/tmpdir.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tmpdir_setup(void **state)
{
	const char *base = getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/acltap-test.XXXXXX", base ? base : "/tmp") < 0)
		return -1;
	*state = mkdtemp(path);
	return *state ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int tmpdir_teardown(void **state)
{
	int err = nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	free(*state);
	return err;
}

const char *tmpdir_path(void **state, const char *name)
{
	static char bufs[8][512];
	static unsigned int next;
	char *buf = bufs[next++ % 8];

	snprintf(buf, sizeof(bufs[0]), "%s/%s", (const char *)*state, name);
	return buf;
}

char *slurp(const char *path, size_t *sz)
{
	FILE *f = fopen(path, "r");
	char *data = NULL;
	size_t len = 0, cap = 0;

	if (!f)
		fail_msg("cannot open %s", path);
	do {
		cap = cap * 2 + 4096;
		data = realloc(data, cap);
		assert_non_null(data);
		len += fread(data + len, 1, cap - len - 1, f);
	} while (len == cap - 1);
	assert_false(ferror(f));
	fclose(f);
	data[len] = '\0';
	if (sz)
		*sz = len;
	return data;
}

void spew(const char *path, const void *data, size_t sz)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, sz, f), sz);
	assert_int_equal(fclose(f), 0);
}

int dir_entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(d);
	return n;
}
