// SPDX-License-Identifier: GPL-2.0-only
/* What all formats share, and the fan-out. Runs every line of the table. */
#include "harness/test.h"
#include "harness/spans.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink/escape.h"

static const struct sink_opts no_opts;
static const struct trace_meta meta = {.host = "h", .version = "1"};

static void table_is_consistent(void **state)
{
	(void)state;
	for (const struct sink_ops *const *op = sink_table; *op; op++) {
		char path[64];

		assert_true(*(*op)->help);
		assert_int_equal((*op)->suffix[0], '.');
		snprintf(path, sizeof(path), "dir.d/x.y%s", (*op)->suffix);
		assert_ptr_equal(sink_by_name((*op)->name), *op);
		assert_ptr_equal(sink_by_path(path), *op);
	}
	assert_null(sink_by_name("no"));
	assert_null(sink_by_path("x"));
	assert_null(sink_by_path("x.csv/y"));
	assert_null(sink_by_path("csv"));
}

/* Names that break careless writers. */
static const char *const hostile[] = {
	"\"",		"\\",	    "\n",   "\r\n",	   "\t", "\001\033[2J\177",
	"\xff\xfe",	"\xe4\xb8", ",",    "=1+2",	   "",	 "</script>",
	"\xed\xa0\x80", "'; DROP",  "%s%n", "\",\"x\":\"",
};

static void give_hostile(struct fanout *f)
{
	struct consumer to = fanout_consumer(f);

	assert_ok(to.begin(to.ctx, &meta));
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		struct span sp = span_of(hostile[i], 1000 + i, 2000 + i);
		const struct process p = {.pid = 10, .name = hostile[i], .cmdline = "", .exe = ""};
		const struct label l = {10, (uint32_t)i, hostile[i], (uint16_t)strlen(hostile[i])};

		sp.id = i + 1;
		sp.category = (uint32_t)i;
		if (i % 3 == 0)
			sp.domain = hostile[i];
		assert_ok(to.process(to.ctx, &p));
		assert_ok(to.category(to.ctx, &l));
		assert_ok(to.thread(to.ctx, &l));
		assert_ok(to.span(to.ctx, &sp));
	}
}

static bool is_text(const struct sink_ops *ops)
{
	return ops == &sink_csv || ops == &sink_json || ops == &sink_tsv || ops == &sink_ndjson;
}

static void every_format_is_valid_utf8(void **state)
{
	struct fanout *f;
	struct consumer to;

	assert_ok(fanout_new(&f));
	for (const struct sink_ops *const *op = sink_table; *op; op++)
		assert_ok(fanout_add(f, *op, tmpdir_path(state, (*op)->name), &no_opts));
	give_hostile(f);
	to = fanout_consumer(f);
	assert_ok(to.end(to.ctx, &meta));
	for (size_t i = 0; i < fanout_count(f); i++) {
		const struct sink *s = fanout_get(f, i);
		size_t sz, pos = 0;
		char *text;

		assert_true(s->done);
		assert_int_equal(s->rows, sizeof(hostile) / sizeof(hostile[0]));
		if (!is_text(s->ops))
			continue;
		text = slurp(s->path, &sz);
		while (pos < sz) {
			int n = utf8_length((unsigned char *)text + pos, sz - pos);

			assert_true(n > 0);
			pos += (size_t)n;
		}
		assert_int_equal(text[sz - 1], '\n');
		free(text);
	}
	fanout_free(f);
}

/* Without end() nothing is left of any format. */
static void unfinished_outputs_vanish(void **state)
{
	struct fanout *f;

	assert_ok(fanout_new(&f));
	for (const struct sink_ops *const *op = sink_table; *op; op++)
		assert_ok(fanout_add(f, *op, tmpdir_path(state, (*op)->name), &no_opts));
	give_hostile(f);
	fanout_free(f);
	assert_int_equal(dir_entries(*state), 0);
	fanout_free(NULL);
}

static void one_failure_does_not_stop_the_others(void **state)
{
	struct consumer to;
	struct fanout *f;

	assert_ok(fanout_new(&f));
	assert_ok(fanout_add(f, &sink_csv, tmpdir_path(state, "1.csv"), &no_opts));
	assert_ok(fanout_add(f, &sink_csv, "/dev/full", &no_opts));
	assert_ok(fanout_add(f, &sink_json, "/dev/full", &no_opts));
	assert_ok(fanout_add(f, &sink_json, tmpdir_path(state, "1.json"), &no_opts));
	assert_err(fanout_add(f, &sink_json, tmpdir_path(state, "none/1.json"), &no_opts), ENOENT);
	assert_int_equal(fanout_count(f), 4);
	to = fanout_consumer(f);
	assert_ok(to.begin(to.ctx, &meta));
	for (int i = 0; i < 20000; i++) {
		struct span sp = mark_of("name", (uint64_t)i);

		assert_ok(to.span(to.ctx, &sp));
	}
	assert_err(to.end(to.ctx, &meta), ENOSPC);
	for (size_t i = 0; i < 4; i++) {
		bool full = i == 1 || i == 2;

		assert_int_equal(fanout_get(f, i)->err, full ? -ENOSPC : 0);
		assert_int_equal(fanout_get(f, i)->done, !full);
		if (!full)
			assert_int_equal(fanout_get(f, i)->rows, 20000);
	}
	fanout_free(f);
	assert_int_equal(dir_entries(*state), 2);
}

/* Writes the same as every format; no file may grow beyond limit. */
static int write_limited(const struct sink_ops *op, const char *path, rlim_t limit)
{
	struct run r = run_begin(op->name, path, NULL);
	struct rlimit old;
	int err;

	for (unsigned int i = 0; i < 60000; i++) {
		struct span sp = mark_of("a name of some length", i);

		sp.id = i + 1;
		run_span(&r, sp);
	}
	getrlimit(RLIMIT_FSIZE, &old);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, old.rlim_max});
	err = run_end(&r);
	setrlimit(RLIMIT_FSIZE, &old);
	return err;
}

/* Wherever the disk is full, each format says so and leaves no file. */
static void a_full_disk_is_told_by_every_format(void **state)
{
	const char *path = tmpdir_path(state, "x");
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	for (const struct sink_ops *const *op = sink_table; *op && *op != &sink_null; op++) {
		assert_ok(write_limited(*op, path, RLIM_INFINITY));
		assert_ok(stat(path, &st));
		assert_ok(unlink(path));
		for (rlim_t part = 0; part < 6; part++) {
			rlim_t limit = part * (rlim_t)st.st_size / 6;

			assert_int_equal(write_limited(*op, path, limit), -EFBIG);
			assert_int_equal(dir_entries(*state), 0);
		}
	}
}

static void the_sort_failing_is_an_error_of_its_sinks(void **state)
{
	struct rlimit old, limit;
	struct consumer to;
	struct fanout *f;
	char name[201] = "";

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	assert_ok(fanout_new(&f));
	assert_ok(fanout_add(f, &sink_csv, tmpdir_path(state, "x.csv"), &no_opts));
	assert_ok(fanout_add(f, &sink_null, tmpdir_path(state, "x.null"), &no_opts));
	to = fanout_consumer(f);
	assert_ok(to.begin(to.ctx, &meta));
	limit = (struct rlimit){1 << 20, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &limit);
	memset(name, 'n', 200);
	for (int i = 0; i < 300000; i++) { /* more than the budget */
		struct span sp = mark_of(name, (uint64_t)i);

		assert_ok(to.span(to.ctx, &sp));
	}
	setrlimit(RLIMIT_FSIZE, &old);
	assert_err(to.end(to.ctx, &meta), EFBIG);
	assert_int_equal(fanout_get(f, 0)->err, -EFBIG);
	assert_int_equal(fanout_get(f, 1)->err, 0);
	assert_int_equal(fanout_get(f, 1)->rows, 300000);
	fanout_free(f);
	assert_int_equal(dir_entries(*state), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_consistent),
		T(every_format_is_valid_utf8),
		T(unfinished_outputs_vanish),
		T(one_failure_does_not_stop_the_others),
		T(a_full_disk_is_told_by_every_format),
		T(the_sort_failing_is_an_error_of_its_sinks),
	};

	return RUN(tests);
}
