// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/spans.h"

#include <stdio.h>

#define HEADER                                                                                     \
	"kind\tname\tstart_ns\tend_ns\tduration_ns\tpid\tprocess\tstart_tid\tend_tid\tdepth\t"     \
	"parent\tstatus\tcategory\tcategory_name\tpayload\tret\tcount\t"                           \
	"rank\thost\thost_pid\n"

static struct span nested(const char *name, uint64_t id, uint64_t parent, uint64_t start,
			  uint32_t depth)
{
	struct span sp = span_of(name, start, start + 100);

	sp.id = id;
	sp.parent = parent;
	sp.depth = depth;
	sp.seq = (uint32_t)id;
	return sp;
}

static void give(struct run *r)
{
	const struct process p = {.pid = 10,
				  .name = "prog\tram",
				  .cmdline = "",
				  .exe = "",
				  .host = "n\to",
				  .rank = 3};
	const struct label l = {.pid = 10, .id = 7, .text = "i\"o", .len = 3};
	struct span sp = nested("outer", 1, 0, 1000, 0), inner = nested("in\tner", 2, 1, 1001, 1);

	assert_ok(r->to.process(r->to.ctx, &p));
	assert_ok(r->to.category(r->to.ctx, &l));
	sp.category = 7;
	sp.payload = (struct payload){.type = 1, .len = 2, .bytes = {0x39, 0x30}};
	sp.has_ret = true;
	sp.ret = -1;
	inner.status = SPAN_UNFINISHED;
	run_span(r, inner);
	run_span(r, sp);
	sp = mark_of("", 1002);
	sp.parent = 2;
	sp.depth = 2;
	sp.kind = SPAN_MARKER_EX;
	run_span(r, sp);
	sp = nested("open", 5, 0, 1003, 0);
	sp.kind = SPAN_START_END;
	sp.status = SPAN_OPEN;
	sp.has_end = false;
	sp.end_ns = 77; /* must not show */
	run_span(r, sp);
}

static void give_tallies(struct run *r)
{
	const struct tally all[] = {
		{.kind = TALLY_LOSS, .func = 2, .count = 5, .from_ns = 1, .to_ns = 9},
		{.kind = TALLY_CALL, .func = 2, .count = 100},
		{.kind = TALLY_CALL, .func = 12, .count = 3},
		{.kind = TALLY_ORPHAN, .func = 4, .count = 2},
		{.kind = TALLY_FAILED, .func = 3, .ret = 100000, .count = 1},
		{.kind = TALLY_NULL_STAMP, .func = 0, .pid = 10, .count = 4},
		{.kind = TALLY_BAD, .count = 1},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_ok(r->to.tally(r->to.ctx, &all[i]));
}

static void tsv_has_every_field(void **state)
{
	const char *path = tmpdir_path(state, "x.tsv");
	struct run r = run_begin("tsv", path, NULL);

	give_tallies(&r);
	give(&r);
	assert_ok(run_end(&r));
	expect_file(
		path, HEADER
		"push/pop\touter\t1000\t1100\t100\t10\tprog\\tram\t20\t20\t0\t\tcomplete\t7\t"
		"i\"o\t12345\t-1\t\t3\tn\\to\t10\n"
		"push/pop\tin\\tner\t1001\t1101\t\t10\tprog\\tram\t20\t20\t1\t0\tunfinished\t"
		"0\t\t\t\t\t3\tn\\to\t10\n"
		"marker_"
		"ex\t\t1002\t1002\t0\t10\tprog\\tram\t20\t20\t2\t1\tcomplete\t\t\t\t\t\t3\tn\\to\t1"
		"0\n"
		"start/"
		"end\topen\t1003\t\t\t10\tprog\\tram\t20\t20\t0\t\topen\t0\t\t\t\t\t3\tn\\to\t10\n"
		"loss\taclprofMark\t1\t9\t\t\t\t\t\t\t\t\t\t\t\t\t5\t\t\t\n"
		"call\taclprofRangePushEx\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t3\t\t\t\n"
		"orphan\taclprofPop\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t2\t\t\t\n"
		"failed\taclprofPush\t\t\t\t\t\t\t\t\t\t\t\t\t\t100000\t1\t\t\t\n"
		"null_stamp\taclprofCreateStamp\t\t\t\t10\t\t\t\t\t\t\t\t\t\t\t4\t3\tn\\to\t10\n"
		"bad\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t1\t\t\t\n");
}

static void ndjson_has_every_field(void **state)
{
	const char *path = tmpdir_path(state, "x.ndjson");
	struct run r = run_begin("ndjson", path, NULL);

	give_tallies(&r);
	give(&r);
	assert_ok(run_end(&r));
	expect_file(
		path,
		"{\"kind\":\"push/pop\",\"name\":\"outer\",\"start_ns\":1000,\"end_ns\":1100,"
		"\"duration_ns\":100,\"pid\":10,\"process\":\"prog\\tram\",\"start_tid\":20,"
		"\"end_tid\":20,\"depth\":0,\"parent\":null,\"status\":\"complete\","
		"\"category\":7,\"category_name\":\"i\\\"o\",\"payload\":12345,\"ret\":-1,\"rank\":"
		"3,\"host\":\"n\\to\",\"host_pid\":10}\n"
		"{\"kind\":\"push/pop\",\"name\":\"in\\tner\",\"start_ns\":1001,\"end_ns\":1101,"
		"\"duration_ns\":null,\"pid\":10,\"process\":\"prog\\tram\",\"start_tid\":20,"
		"\"end_tid\":20,\"depth\":1,\"parent\":0,\"status\":\"unfinished\","
		"\"category\":0,\"category_name\":null,\"payload\":null,\"ret\":null,\"rank\":3,"
		"\"host\":\"n\\to\",\"host_pid\":10}\n"
		"{\"kind\":\"marker_ex\",\"name\":\"\",\"start_ns\":1002,\"end_ns\":1002,"
		"\"duration_ns\":0,\"pid\":10,\"process\":\"prog\\tram\",\"start_tid\":20,"
		"\"end_tid\":20,\"depth\":2,\"parent\":1,\"status\":\"complete\","
		"\"category\":null,\"category_name\":null,\"payload\":null,\"ret\":null,\"rank\":3,"
		"\"host\":\"n\\to\",\"host_pid\":10}\n"
		"{\"kind\":\"start/end\",\"name\":\"open\",\"start_ns\":1003,\"end_ns\":null,"
		"\"duration_ns\":null,\"pid\":10,\"process\":\"prog\\tram\",\"start_tid\":20,"
		"\"end_tid\":20,\"depth\":0,\"parent\":null,\"status\":\"open\",\"category\":0,"
		"\"category_name\":null,\"payload\":null,\"ret\":null,\"rank\":3,\"host\":"
		"\"n\\to\",\"host_pid\":10}\n"
		"{\"kind\":\"loss\",\"function\":\"aclprofMark\",\"count\":5,\"from_ns\":1,"
		"\"to_ns\":9}\n"
		"{\"kind\":\"call\",\"function\":\"aclprofRangePushEx\",\"count\":3}\n"
		"{\"kind\":\"orphan\",\"function\":\"aclprofPop\",\"count\":2}\n"
		"{\"kind\":\"failed\",\"function\":\"aclprofPush\",\"ret\":100000,\"count\":1}\n"
		"{\"kind\":\"null_stamp\",\"function\":\"aclprofCreateStamp\",\"pid\":10,"
		"\"count\":4,\"rank\":3,\"host\":\"n\\to\",\"host_pid\":10}\n"
		"{\"kind\":\"bad\",\"count\":1}\n");
}

/* Column parent of the rows of a .tsv, joined: "-" for none. */
static void expect_parents(const char *path, const char *want)
{
	char *text = slurp(path, NULL), *save, got[256] = "";

	for (char *line = strtok_r(text, "\n", &save); (line = strtok_r(NULL, "\n", &save));) {
		char *p = line;
		size_t n;

		for (int i = 0; i < 10; i++)
			p = strchr(p, '\t') + 1;
		n = strcspn(p, "\t");
		strncat(got, n ? p : "-", n ? n : 1);
		strcat(got, " ");
	}
	assert_string_equal(got, want);
	free(text);
}

static void parents_are_found(void **state)
{
	const char *path = tmpdir_path(state, "x.tsv");
	struct run r = run_begin("tsv", path, NULL);
	struct span other = nested("other thread", 9, 0, 1001, 0), range;

	run_span(&r, nested("a", 1, 0, 1000, 0)); /* row 0 */
	other.start_tid = 21;
	run_span(&r, other);			    /* row 1 */
	run_span(&r, nested("a.a", 2, 1, 1001, 1)); /* row 2 */
	range = nested("a.a.range", 3, 2, 1002, 2);
	range.kind = SPAN_START_END;
	run_span(&r, range);			      /* row 3 */
	run_span(&r, nested("a.b", 4, 1, 1003, 1));   /* row 4 */
	run_span(&r, nested("a.b.a", 5, 4, 1004, 2)); /* row 5 */
	run_span(&r, nested("b", 6, 0, 1005, 0));     /* row 6 */
	run_span(&r, nested("b.a", 7, 6, 1006, 1));   /* row 7 */
	run_span(&r, nested("gone", 8, 4, 1007, 2));  /* its parent is no row that can be */
	assert_ok(run_end(&r));
	expect_parents(path, "- - 0 2 0 4 - 6 - ");
}

/* push a; mark; pop; push b; mark; pop, all in the same ns: sorted a, b, mark, mark. */
static void parents_are_found_at_equal_times(void **state)
{
	const char *path = tmpdir_path(state, "x.tsv");
	struct run r = run_begin("tsv", path, NULL);
	struct span m1 = nested("m1", 2, 1, 1000, 1), m2 = nested("m2", 4, 3, 1000, 1);

	m1.kind = m2.kind = SPAN_MARKER;
	run_span(&r, m1);
	run_span(&r, nested("a", 1, 0, 1000, 0));
	run_span(&r, m2);
	run_span(&r, nested("b", 3, 0, 1000, 0));
	assert_ok(run_end(&r));
	expect_parents(path, "- - 0 1 ");
}

static void too_many_losses_are_added_up(void **state)
{
	const char *path = tmpdir_path(state, "x.ndjson");
	struct run r = run_begin("ndjson", path, NULL);
	unsigned long long sum = 0, count;
	bool merged = false;
	char *text, *p;
	int rows = 0;

	for (uint64_t i = 1; i <= 70000; i++) {
		struct tally t = {.kind = TALLY_LOSS, .func = i % 2 ? 3 : 4, .count = i};

		t.from_ns = i;
		t.to_ns = i + 1;
		assert_ok(r.to.tally(r.to.ctx, &t));
	}
	assert_ok(run_end(&r));
	text = slurp(path, NULL);
	/* Line by line: under ASan each strstr() measures all of its text. */
	for (char *line = text, *nl; (nl = strchr(line, '\n')); line = nl + 1) {
		*nl = '\0';
		p = strstr(line, "\"count\":");
		if (!p)
			continue;
		count = strtoull(p + strlen("\"count\":"), NULL, 10);
		sum += count;
		rows++;
		merged |= strstr(line, "\"from_ns\":1,\"to_ns\":70000}") != NULL;
	}
	assert_true(sum == 70000ull * 70001 / 2);
	assert_int_equal(rows, 65536);
	assert_true(merged);
	free(text);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(tsv_has_every_field),
		T(ndjson_has_every_field),
		T(parents_are_found),
		T(parents_are_found_at_equal_times),
		T(too_many_losses_are_added_up),
	};

	return RUN(tests);
}
