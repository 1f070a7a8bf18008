// SPDX-License-Identifier: GPL-2.0-only
/*
 * golden [--update] CASE.ev...: runs each script through the pipeline into every format and
 * compares the bytes with CASE.FORMAT beside it; with --update writes them there instead, to be
 * read before they are committed. Prints TAP.
 * golden --write FILE CASE.ev: writes that one output, in the format of its suffix; .acltap is the
 * capture, for what reads one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/pipeline.h"
#include "harness/evscript.h"
#include "harness/mergescript.h"
#include "sink/event_rows.h"
#include "sink/sink.h"
#include "sink/summary.h"
#include "store/capture.h"
#include "util/cleanup.h"
#include "view/lines.h"

/* What is compared: files of sinks, what `trace` and `trace --json` print, the text at the end. */
enum { SINKS = 4, LINES = SINKS, LINES_JSON, SUMMARY, FORMATS };
static const char *const formats[] = {"csv",   "json",	       "tsv",	 "ndjson",
				      "trace", "trace.ndjson", "summary"};

struct test {
	const char *script; /* path */
	char *text;
	size_t len;
	const char *dir; /* where results go */
	bool update;
	char path[FORMATS][4096]; /* results */
};

static char *read_file(const char *path, size_t *len)
{
	_file_ FILE *f = fopen(path, "r");
	char *data = NULL;
	size_t n = 0;

	*len = 0;
	if (!f)
		return NULL;
	do {
		char *p = realloc(data, *len + 65536);

		if (!p) {
			free(data);
			return NULL;
		}
		data = p;
		n = fread(data + *len, 1, 65536, f);
		*len += n;
	} while (n);
	data[*len] = '\0';
	return data;
}

static int push(void *ctx, const void *rec, size_t sz)
{
	return pipeline_push(ctx, rec, sz);
}

static int run_merged(const struct test *t, const struct consumer *next)
{
	char why[MERGE_WHY];
	int err = mergescript_run(t->text, next, why);

	if (err)
		printf("# %s: %s\n", t->script, why);
	return err;
}

/* The whole trace into one consumer. */
static int run(const struct test *t, const struct consumer *next)
{
	const struct pipeline_config cfg = {0};
	struct pipeline *p;
	char msg[256] = "";
	int err;

	if (mergescript_is(t->text))
		return run_merged(t, next);
	err = pipeline_new(&cfg, next, &p);
	if (err)
		return err;
	err = evscript_run(t->text, t->len, push, p, msg, sizeof(msg));
	if (err)
		printf("# %s: %s\n", t->script, msg);
	else
		err = pipeline_finish(p, true);
	pipeline_free(p);
	return err;
}

static int make_files(struct test *t)
{
	const struct sink_opts opts = {.overwrite = true};
	struct consumer next;
	struct fanout *f;
	int err = fanout_new(&f);

	if (err)
		return err;
	for (size_t i = 0; i < SINKS && !err; i++)
		err = fanout_add(f, sink_by_name(formats[i]), t->path[i], &opts);
	next = fanout_consumer(f);
	if (!err)
		err = run(t, &next);
	fanout_free(f);
	return err;
}

static int make_summary(struct test *t)
{
	_file_ FILE *f = fopen(t->path[SUMMARY], "w");
	struct consumer next;
	struct summary *s;
	int err;

	if (!f)
		return -errno;
	err = summary_new(&s);
	if (err)
		return err;
	next = summary_consumer(s);
	err = run(t, &next);
	summary_print(s, f);
	summary_free(s);
	return err;
}

/* What a running trace shows: as text without colours, or as JSON. */
static int make_trace(struct test *t, bool json)
{
	struct event_rows rows = {0};
	struct lines lines = {0};
	struct consumer next;
	struct out *o;
	int err = out_file(t->path[json ? LINES_JSON : LINES], true, &o);

	if (err)
		return err;
	event_rows_init(&rows, o, true);
	lines.out = o;
	next = json ? event_rows_stream(&rows) : lines_consumer(&lines);
	err = run(t, &next);
	event_rows_free(&rows);
	if (!err)
		return out_close(o);
	out_discard(o);
	return err;
}

/* The first line that differs, for people. */
static void show_difference(const char *got, size_t got_len, const char *want, size_t want_len)
{
	size_t i = 0, line = 1, start = 0;

	while (i < got_len && i < want_len && got[i] == want[i]) {
		if (got[i++] == '\n') {
			line++;
			start = i;
		}
	}
	printf("# line %zu:\n", line);
	printf("#  got  %.*s\n", (int)strcspn(got + start, "\n"), got + start);
	printf("#  want %.*s\n", (int)strcspn(want + start, "\n"), want + start);
}

static bool compare(const struct test *t, size_t i)
{
	size_t got_len, want_len, stem = strlen(t->script) - 3;
	_free_ char *got = read_file(t->path[i], &got_len);
	_free_ char *want = NULL;
	char path[4096];
	bool same;

	snprintf(path, sizeof(path), "%.*s.%s", (int)stem, t->script, formats[i]);
	want = read_file(path, &want_len);
	same = got && want && got_len == want_len && !memcmp(got, want, got_len);
	if (!same && got && want) {
		/* Room for the terminator: read_file() gives 65536 more than was read. */
		got[got_len] = want[want_len] = '\0';
		show_difference(got, got_len, want, want_len);
	} else if (!same) {
		printf("# cannot read %s\n", got ? path : t->path[i]);
	}
	return same;
}

/* Makes all results of a script; with --update right where the expected files are. */
static int run_case(struct test *t)
{
	int err;

	t->text = read_file(t->script, &t->len);
	if (!t->text)
		return -ENOENT;
	for (size_t i = 0; i < FORMATS; i++) {
		if (t->update)
			snprintf(t->path[i], sizeof(t->path[i]), "%.*s.%s",
				 (int)strlen(t->script) - 3, t->script, formats[i]);
		else
			snprintf(t->path[i], sizeof(t->path[i]), "%s/x.%s", t->dir, formats[i]);
	}
	err = make_files(t) ?: make_trace(t, false);
	return err ?: make_trace(t, true) ?: make_summary(t);
}

/* One TAP line for each format. Returns the number of failures. */
static int test_case(const char *script, const char *dir, bool update, int *number)
{
	const char *name = strrchr(script, '/') ? strrchr(script, '/') + 1 : script;
	struct test *t = calloc(1, sizeof(*t));
	int err, failed = 0;

	if (!t)
		return 1;
	t->script = script;
	t->dir = dir;
	t->update = update;
	err = run_case(t);
	if (err)
		printf("# %s: %s\n", script, strerror(-err));
	for (size_t i = 0; i < FORMATS; i++) {
		bool ok = !err && (update || compare(t, i));

		printf("%sok %d - %.*s.%s\n", ok ? "" : "not ", ++*number, (int)strlen(name) - 3,
		       name, formats[i]);
		failed += !ok;
		if (!update)
			unlink(t->path[i]);
	}
	free(t->text);
	free(t);
	return failed;
}

static int write_file(const char *path, const struct test *t)
{
	const struct sink_opts opts = {.overwrite = true};
	struct consumer next;
	struct fanout *f;
	int err = sink_by_path(path) ? fanout_new(&f) : -ENOENT;

	if (err)
		return err;
	err = fanout_add(f, sink_by_path(path), path, &opts);
	if (!err) {
		next = fanout_consumer(f);
		err = run(t, &next);
	}
	fanout_free(f);
	return err;
}

static int record(void *ctx, const void *rec, size_t sz)
{
	return capwrite_record(ctx, rec, sz);
}

static int copy_file(const char *from, const char *to)
{
	size_t n;
	_free_ char *data = read_file(from, &n);
	FILE *f = data ? fopen(to, "w") : NULL;
	bool ok = f && fwrite(data, 1, n, f) == n;

	return f && !fclose(f) && ok ? 0 : -EIO;
}

static int write_merged(const char *path, const struct test *t)
{
	struct mergescript m;
	char why[MERGE_WHY] = "";
	int err = mergescript_write(&m, t->text, why) ?: mergescript_merge(&m, why);

	if (err)
		fprintf(stderr, "%s: %s\n", t->script, why);
	else
		err = copy_file(m.merged, path);
	mergescript_free(&m);
	return err;
}

static int write_capture(const char *path, const struct test *t)
{
	struct capwrite *w;
	char msg[256] = "";
	int err = capwrite_open(path, true, &w);

	if (err)
		return err;
	err = evscript_run(t->text, t->len, record, w, msg, sizeof(msg));
	if (!err)
		return capwrite_close(w);
	fprintf(stderr, "%s: %s\n", t->script, msg);
	capwrite_abandon(w);
	return err;
}

static int write_one(const char *path, const char *script)
{
	struct test t = {.script = script};
	const char *dot = strrchr(path, '.');
	int err = -ENOENT;

	t.text = read_file(script, &t.len);
	if (t.text && dot && !strcmp(dot, CAPTURE_SUFFIX))
		err = mergescript_is(t.text) ? write_merged(path, &t) : write_capture(path, &t);
	else if (t.text)
		err = write_file(path, &t);
	if (err)
		fprintf(stderr, "%s: %s\n", path, strerror(-err));
	free(t.text);
	return err != 0;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/acltap-golden.XXXXXX";
	bool update = argc > 1 && !strcmp(argv[1], "--update");
	int failed = 0, number = 0;

	setenv("TZ", "UTC", 1);
	if (argc == 4 && !strcmp(argv[1], "--write"))
		return write_one(argv[2], argv[3]);
	if (!mkdtemp(dir)) {
		perror("mkdtemp");
		return 1;
	}
	for (int i = 1 + update; i < argc; i++)
		failed += test_case(argv[i], dir, update, &number);
	printf("1..%d\n", number);
	rmdir(dir);
	return failed || !number;
}
