// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/spans.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* All rows of a query: columns by '|', rows by newlines; NULL as "-". To be freed. */
static char *query(const char *path, const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int rc;

	assert_non_null(f);
	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);
	if (rc != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(st); i++) {
			const unsigned char *s = sqlite3_column_text(st, i);

			fprintf(f, "%s%s", i ? "|" : "", s ? (const char *)s : "-");
		}
		fputc('\n', f);
	}
	assert_int_equal(rc, SQLITE_DONE);
	sqlite3_finalize(st);
	sqlite3_close(db);
	fclose(f);
	return text;
}

static void expect_query(const char *path, const char *sql, const char *want)
{
	char *got = query(path, sql);

	assert_string_equal(got, want);
	free(got);
}

static struct span numbered(struct span sp, uint64_t id)
{
	sp.id = id;
	return sp;
}

static void complete_spans_are_the_vendors_rows(void **state)
{
	const char *path = tmpdir_path(state, "x.db");
	struct run r = run_begin("db", path, NULL);
	struct span sp = numbered(span_of("a", 1796030483150221007, 1796030483150241836), 1);
	struct span ex = numbered(mark_of("ex", 2000), 2);

	sp.category = 7;
	sp.end_tid = 21;
	ex.kind = SPAN_MARKER_EX;
	run_span(&r, sp);
	run_span(&r, ex);
	ex.id = 3;
	run_span(&r, ex);
	assert_ok(run_end(&r));
	expect_query(path,
		     "SELECT startNs, endNs, eventType, rangeId, category, s.value, globalTid, "
		     "endGlobalTid, d.value, connectionId FROM MSTX_EVENTS m JOIN STRING_IDS s ON "
		     "s.id = m.message JOIN STRING_IDS d ON d.id = m.domainId ORDER BY m.rowid",
		     "1796030483150221007|1796030483150241836|1|4294967295|7|a|42949672980|"
		     "42949672981||4000000000\n"
		     "2000|2000|3|4294967295|4294967295|ex|42949672980|42949672980|default|"
		     "4000000001\n"
		     "2000|2000|3|4294967295|4294967295|ex|42949672980|42949672980|default|"
		     "4000000002\n");
	expect_query(path, "SELECT * FROM STRING_IDS WHERE id < 6",
		     "0|release\n1|allocate\n2|AIC\n3|AIV\n4|a\n5|\n");
	expect_query(path, "SELECT * FROM HOST_INFO", "0|host\n");
	expect_query(path, "PRAGMA integrity_check", "ok\n");
}

static void every_span_is_in_our_table(void **state)
{
	const char *path = tmpdir_path(state, "x.db");
	struct run r = run_begin("db", path, NULL);
	struct span inner = numbered(span_of("inner", 20, 30), 2);
	struct span outer = numbered(span_of("outer", 10, 0), 1);
	struct span big = numbered(mark_of("big", 40), 3);

	inner.parent = 1;
	inner.depth = 1;
	inner.has_ret = true;
	inner.ret = -5;
	outer.status = SPAN_OPEN;
	outer.has_end = false;
	big.payload = (struct payload){.type = 2, .len = 8, .bytes = {[0 ... 7] = 0xff}};
	big.unreadable = true;
	run_span(&r, inner);
	run_span(&r, big);
	run_span(&r, outer);
	assert_ok(run_end(&r));
	expect_query(path, "SELECT count(*) FROM MSTX_EVENTS", "2\n");
	expect_query(path,
		     "SELECT id, kind, name, startNs, endNs, durationNs, depth, parent, status, "
		     "domain, category, payload, ret FROM ACLTAP_EVENTS ORDER BY id",
		     "1|push/pop|outer|10|-|-|0|-|open|-|0|-|-\n"
		     "2|push/pop|inner|20|30|10|1|1|complete|-|0|-|-5\n"
		     "3|marker|big<unreadable>|40|40|0|0|-|complete|-|0|18446744073709551615|-\n");
	expect_query(path,
		     "SELECT s.id, m.startNs, s.payloadType, hex(s.payloadBytes), s.unreadable "
		     "FROM ACLTAP_SPANS s LEFT JOIN MSTX_EVENTS m ON m.rowid = s.eventRow "
		     "ORDER BY s.id",
		     "1|-|-||0\n2|20|-||0\n3|40|2|FFFFFFFFFFFFFFFF|1\n");
}

static void unknown_does_not_replace_known(void **state)
{
	const char *path = tmpdir_path(state, "x.db");
	struct run r = run_begin("db", path, NULL);
	const struct process first = {.pid = 10,
				      .ppid = 5,
				      .rank = -1,
				      .name = "bash",
				      .cmdline = "bash -c x",
				      .exe = "",
				      .host = "",
				      .local_rank = -1,
				      .host_pid = 10};
	const struct process then = {.pid = 10,
				     .nspid = 3,
				     .rank = 2,
				     .name = "pyth\xff",
				     .cmdline = "",
				     .exe = "/usr/bin/python3",
				     .host = "node-a",
				     .local_rank = 1,
				     .host_pid = 10};
	const struct label thread = {10, 11, "loader", 6}, category = {10, 7, "io", 2};

	assert_ok(r.to.process(r.to.ctx, &first));
	assert_ok(r.to.process(r.to.ctx, &then));
	assert_ok(r.to.thread(r.to.ctx, &thread));
	assert_ok(r.to.thread(r.to.ctx, &thread));
	assert_ok(r.to.category(r.to.ctx, &category));
	assert_ok(run_end(&r));
	expect_query(path, "SELECT * FROM ACLTAP_PROCESSES",
		     "10|3|5|2|pyth\xef\xbf\xbd|bash -c x|/usr/bin/python3|1|node-a|10|-\n");
	expect_query(path, "SELECT * FROM ACLTAP_THREADS", "10|11|loader\n");
	expect_query(path, "SELECT * FROM ACLTAP_CATEGORIES", "10|7|io\n");
}

static void losses_are_rows(void **state)
{
	const char *path = tmpdir_path(state, "x.db");
	struct run r = run_begin("db", path, NULL);
	const struct tally loss = {
		.kind = TALLY_LOSS, .pid = 10, .count = 3, .from_ns = 5, .to_ns = 9};
	const struct tally orphan = {.kind = TALLY_ORPHAN, .count = 2};
	const struct tally bad = {.kind = TALLY_BAD, .count = 1};

	assert_ok(r.to.tally(r.to.ctx, &loss));
	assert_ok(r.to.tally(r.to.ctx, &orphan));
	assert_ok(r.to.tally(r.to.ctx, &bad));
	assert_ok(run_end(&r));
	expect_query(path, "SELECT kind, pid, count, fromNs, toNs FROM ACLTAP_LOSSES",
		     "loss|10|3|5|9\n");
	expect_query(path, "SELECT pid, count FROM ACLTAP_ORPHANS", "-|2\n");
	expect_query(path, "SELECT * FROM ACLTAP_COUNTS WHERE kind = 'bad'", "bad|-|-|-|1|-|-|-\n");
}

/* Two texts that are the same once repaired are one, as they would be to every reader. */
static void names_are_written_once(void **state)
{
	const char *path = tmpdir_path(state, "x.db");
	struct run r = run_begin("db", path, NULL);

	run_span(&r, numbered(mark_of("x\xff", 1), 1));
	run_span(&r, numbered(mark_of("x\xfe", 2), 2));
	run_span(&r, numbered(mark_of("AIC", 3), 3));
	assert_ok(run_end(&r));
	expect_query(path, "SELECT count(*), count(DISTINCT message) FROM MSTX_EVENTS", "3|2\n");
	expect_query(path, "SELECT value FROM STRING_IDS WHERE id = 4", "x\xef\xbf\xbd\n");
}

/* More names than are kept in memory, some used again far later. */
static void any_number_of_names_is_written_once(void **state)
{
	const char *path = tmpdir_path(state, "x.db");
	struct run r = run_begin("db", path, NULL);
	const unsigned int n = 270000, again = 20000;
	char name[32];

	for (unsigned int i = 0; i < n + again; i++) {
		snprintf(name, sizeof(name), "step %u", i % n);
		run_span(&r, numbered(mark_of(name, i), i + 1));
	}
	assert_ok(run_end(&r));
	expect_query(path, "SELECT count(*), count(DISTINCT message) FROM MSTX_EVENTS",
		     "290000|270000\n");
	expect_query(path, "SELECT count(*), count(DISTINCT value) FROM STRING_IDS",
		     "270005|270005\n");
	expect_query(
		path,
		"SELECT count(*) FROM ACLTAP_EVENTS WHERE name <> 'step ' || (startNs % 270000)",
		"0\n");
	expect_query(path, "PRAGMA integrity_check", "ok\n");
}

/* A write that fails is told with its reason, and nothing is left. */
static void a_full_disk_is_an_error(void **state)
{
	const struct rlimit small = {256 << 10, RLIM_INFINITY};
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	struct run r = run_begin("db", tmpdir_path(state, "x.db"), NULL);
	char name[64];
	int err;

	signal(SIGXFSZ, SIG_IGN);
	assert_ok(setrlimit(RLIMIT_FSIZE, &small));
	for (unsigned int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "a name that is long enough to fill pages %u", i);
		run_span(&r, numbered(mark_of(name, i), i + 1));
	}
	err = run_end(&r);
	assert_ok(setrlimit(RLIMIT_FSIZE, &none));
	assert_err(err, EFBIG);
	assert_int_equal(dir_entries(*state), 0);
}

static void nothing_is_left_without_an_end(void **state)
{
	struct run r = run_begin("db", tmpdir_path(state, "x.db"), NULL);

	run_span(&r, numbered(mark_of("m", 1), 1));
	fanout_free(r.fan);
	assert_int_equal(dir_entries(*state), 0);
}

static void what_is_in_the_way_is_refused(void **state)
{
	const struct sink_opts opts = {.overwrite = true}, keep = {0};
	const char *path = tmpdir_path(state, "x.db");
	struct fanout *f;
	struct run r;

	assert_ok(fanout_new(&f));
	assert_err(fanout_add(f, &sink_db, "/dev/full", &opts), ESPIPE);
	spew(path, "old", 3);
	assert_err(fanout_add(f, &sink_db, path, &keep), EEXIST);
	fanout_free(f);
	expect_file(path, "old");
	r = run_begin("db", path, &opts);
	run_span(&r, numbered(mark_of("m", 1), 1));
	assert_ok(run_end(&r));
	expect_query(path, "SELECT count(*) FROM MSTX_EVENTS", "1\n");
	assert_int_equal(dir_entries(*state), 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(complete_spans_are_the_vendors_rows),
		T(every_span_is_in_our_table),
		T(unknown_does_not_replace_known),
		T(losses_are_rows),
		T(names_are_written_once),
		T(any_number_of_names_is_written_once),
		T(a_full_disk_is_an_error),
		T(nothing_is_left_without_an_end),
		T(what_is_in_the_way_is_refused),
	};

	return RUN(tests);
}
