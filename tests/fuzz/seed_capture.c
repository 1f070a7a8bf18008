// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes seeds for fuzz_capture and fuzz_wire: what event scripts make.
 * usage: seed_capture capture|wire DIRECTORY SCRIPT.ev...
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/evscript.h"
#include "harness/mergescript.h"
#include "store/capture.h"

static int to_capture(void *ctx, const void *rec, size_t sz)
{
	int err = capwrite_record(ctx, rec, sz);

	return err == -EINVAL ? 0 : err; /* scripts also make records that no capture takes */
}

static int to_wire(void *ctx, const void *rec, size_t sz)
{
	const uint8_t size[2] = {sz & 0xff, (sz >> 8) & 0xff};

	return fwrite(size, 1, 2, ctx) == 2 && fwrite(rec, 1, sz, ctx) == sz ? 0 : -EIO;
}

static int write_capture(const char *path, const char *text, size_t len)
{
	struct capwrite *w;
	int err = capwrite_open(path, true, &w);

	if (err)
		return err;
	err = evscript_run(text, len, to_capture, w, NULL, 0);
	if (err) {
		capwrite_abandon(w);
		return err;
	}
	return capwrite_close(w);
}

static int copy(const char *from, const char *to)
{
	FILE *in = fopen(from, "re"), *out = fopen(to, "we");
	int err = in && out ? 0 : -errno, c;

	while (!err && (c = getc(in)) != EOF)
		err = putc(c, out) == EOF ? -EIO : 0;
	if (in)
		fclose(in);
	return out && fclose(out) && !err ? -errno : err;
}

static int write_merged(const char *path, const char *text)
{
	char why[MERGE_WHY];
	struct mergescript m;
	int err = mergescript_write(&m, text, why);

	err = err ?: mergescript_merge(&m, why);
	err = err ?: copy(m.merged, path);
	mergescript_free(&m);
	return err;
}

static int records_to_wire(const char *capture, FILE *to)
{
	struct capread *r;
	const void *rec;
	size_t sz;
	int err = capread_open(capture, &r), ret = 1;

	if (err)
		return err;
	while (!err && (ret = capread_next(r, &rec, &sz)) == 1)
		err = to_wire(to, rec, sz);
	capread_close(r);
	return err ? err : ret;
}

static int merged_to_wire(const char *text, FILE *to)
{
	char why[MERGE_WHY];
	struct mergescript m;
	int err = mergescript_write(&m, text, why);

	err = err ?: mergescript_merge(&m, why);
	err = err ?: records_to_wire(m.merged, to);
	mergescript_free(&m);
	return err;
}

/* The first byte: fuzz_wire.c. */
static int write_wire(const char *path, const char *text, size_t len)
{
	bool merged = mergescript_is(text);
	FILE *f = fopen(path, "we");
	int err;

	if (!f)
		return -errno;
	err = putc(merged ? 4 : 0, f) == EOF ? -EIO : 0;
	if (!err && merged)
		err = merged_to_wire(text, f);
	else if (!err)
		err = evscript_run(text, len, to_wire, f, NULL, 0);
	return fclose(f) && !err ? -errno : err;
}

static int one(const char *kind, const char *dir, const char *script)
{
	static char text[1 << 20];
	const char *slash = strrchr(script, '/');
	char path[4096];
	FILE *f = fopen(script, "re");
	size_t len;

	if (!f)
		return -errno;
	len = fread(text, 1, sizeof(text) - 1, f);
	text[len] = '\0';
	fclose(f);
	snprintf(path, sizeof(path), "%s/%s", dir, slash ? slash + 1 : script);
	if (!strcmp(kind, "wire"))
		return write_wire(path, text, len);
	return mergescript_is(text) ? write_merged(path, text) : write_capture(path, text, len);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	for (int i = 3; i < argc; i++) {
		int err = one(argv[1], argv[2], argv[i]);

		if (err) {
			fprintf(stderr, "%s: %s\n", argv[i], strerror(-err));
			return 1;
		}
	}
	return 0;
}
