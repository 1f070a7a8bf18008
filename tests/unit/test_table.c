// SPDX-License-Identifier: GPL-2.0-only
/* Tables, histograms and live lines, byte for byte, and texts that are out for a terminal. */
#include "harness/test.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "view/hist.h"
#include "view/lines.h"
#include "view/table.h"

#define TEXT(text)                                                                                 \
	{                                                                                          \
		.s = (text), .n = sizeof(text) - 1                                                 \
	}

static const struct column columns[] = {
	{"Time (%)", CELL_TENTHS},
	{"N", CELL_COUNT},
	{"Range", CELL_TEXT},
	{"Last", CELL_COUNT},
};

static void check(const struct out *o, const char *want)
{
	size_t n;
	const char *data = out_data(o, &n);

	if (n != strlen(want) || memcmp(data, want, n))
		fail_msg("got:\n%.*swant:\n%s", (int)n, data, want);
}

static void check_table(const union cell *cells, size_t n, enum table_format format,
			const char *want)
{
	const struct table t = {columns, 4, cells, n};
	struct out *o;

	assert_ok(out_memory(1 << 20, &o));
	assert_ok(table_write(&t, format, o));
	check(o, want);
	out_discard(o);
}

static const union cell rows[] = {
	{.d = 97.25}, {.u = 1234567}, TEXT("a,\"b\"\n"),    {.u = 0},
	{.d = 2.75},  {.u = 3},	      TEXT("\xe4\xb8\xad"), {.u = 18446744073709551615u},
};

static void aligned(void **state)
{
	(void)state;
	check_table(rows, 2, TABLE_TEXT,
		    "Time (%)          N  Range                          Last\n"
		    "--------  ---------  -------  --------------------------\n"
		    "    97.2  1,234,567  a,\"b\"\\n                           0\n"
		    "     2.8          3  \xe4\xb8\xad       18,446,744,073,709,551,615\n");
}

static void csv(void **state)
{
	(void)state;
	check_table(rows, 2, TABLE_CSV,
		    "Time (%),N,Range,Last\n"
		    "97.2,1234567,\"a,\"\"b\"\"\n\",0\n"
		    "2.8,3,\xe4\xb8\xad,18446744073709551615\n");
}

static void json(void **state)
{
	(void)state;
	check_table(rows, 2, TABLE_JSON,
		    "[\n"
		    "{\"Time (%)\":97.2,\"N\":1234567,\"Range\":\"a,\\\"b\\\"\\n\",\"Last\":0},\n"
		    "{\"Time (%)\":2.8,\"N\":3,\"Range\":\"\xe4\xb8\xad\","
		    "\"Last\":18446744073709551615}\n"
		    "]\n");
}

static void no_rows(void **state)
{
	(void)state;
	check_table(NULL, 0, TABLE_TEXT, "Time (%)  N  Range  Last\n--------  -  -----  ----\n");
	check_table(NULL, 0, TABLE_CSV, "Time (%),N,Range,Last\n");
	check_table(NULL, 0, TABLE_JSON, "[\n]\n");
}

static void check_formats(const struct table *t, const char *const want[])
{
	for (int format = TABLE_TEXT; format <= TABLE_JSON; format++) {
		struct out *o;

		assert_ok(out_memory(1 << 20, &o));
		assert_ok(table_write(t, format, o));
		check(o, want[format]);
		out_discard(o);
	}
}

/* Changes and probabilities, and what is not known. */
static void numbers(void **state)
{
	static const struct column kinds[] = {{"Avg", CELL_TENTHS},
					      {"Med (%)", CELL_CHANGE},
					      {"P", CELL_P},
					      {"Range", CELL_TEXT}};
	static const union cell cells[] = {
		{.d = 1.5},  {.d = 12.34},    {.d = 0.012345}, TEXT("a"),    {.d = 0}, {.d = -50},
		{.d = 1e-9}, TEXT("b"),	      {.d = 2},	       {.d = -0.04}, {.d = 1}, TEXT("c"),
		{.d = NAN},  {.d = INFINITY}, {.d = NAN},      TEXT("d"),
	};
	static const char *const want[] = {
		"Avg  Med (%)        P  Range\n"
		"---  -------  -------  -----\n"
		"1.5    +12.3   0.0123  a\n"
		"0.0    -50.0  <0.0001  b\n"
		"2.0      0.0   1.0000  c\n"
		"  -        -        -  d\n",
		"Avg,Med (%),P,Range\n1.5,12.3,0.0123,a\n0.0,-50.0,1e-09,b\n2.0,0.0,1,c\n,,,d\n",
		"[\n{\"Avg\":1.5,\"Med (%)\":12.3,\"P\":0.0123,\"Range\":\"a\"},\n"
		"{\"Avg\":0.0,\"Med (%)\":-50.0,\"P\":1e-09,\"Range\":\"b\"},\n"
		"{\"Avg\":2.0,\"Med (%)\":0.0,\"P\":1,\"Range\":\"c\"},\n"
		"{\"Avg\":null,\"Med (%)\":null,\"P\":null,\"Range\":\"d\"}\n]\n",
	};
	const struct table t = {kinds, 4, cells, 4};

	(void)state;
	check_formats(&t, want);
}

static void counts_of_nothing(void **state)
{
	static const struct column kinds[] = {{"Min", CELL_ANY}, {"Rank", CELL_ID}};
	static const union cell cells[] = {
		{.u = 1234}, {.d = 1234}, {.u = CELL_NOTHING}, {.d = NAN}};
	static const char *const want[] = {
		"  Min  Rank\n-----  ----\n1,234  1234\n    -     -\n",
		"Min,Rank\n1234,1234\n,\n",
		"[\n{\"Min\":1234,\"Rank\":1234},\n{\"Min\":null,\"Rank\":null}\n]\n",
	};
	const struct table t = {kinds, 2, cells, 2};

	(void)state;
	check_formats(&t, want);
}

/* Each place at which the output can end is told. */
static void full_disk(void **state)
{
	const struct table t = {columns, 4, rows, 2};

	(void)state;
	for (int format = TABLE_TEXT; format <= TABLE_JSON; format++) {
		struct out *o;
		size_t n;

		assert_ok(out_memory(1 << 20, &o));
		assert_ok(table_write(&t, format, o));
		out_data(o, &n);
		out_discard(o);
		for (size_t limit = 1; limit < n; limit++) {
			assert_ok(out_memory(limit, &o));
			assert_err(table_write(&t, format, o), ENOSPC);
			out_discard(o);
		}
	}
}

static void texts(void **state)
{
	char buf[4 * TABLE_TEXT_MAX], name[300];

	(void)state;
	assert_int_equal(table_text("", 0, buf), 0);
	assert_string_equal(buf, "");
	assert_int_equal(table_text("\x1b[2J\xc2\x9b", 6, buf), 13);
	assert_null(strchr(buf, '\x1b'));
	assert_int_equal(table_text("\xe4\xb8\xad\xe6\x96\x87", 6, buf), 4); /* two wide ones */
	assert_int_equal(table_text("e\xcc\x81", 3, buf), 1);		     /* with an accent */
	memset(name, 'x', sizeof(name));
	assert_int_equal(table_text(name, 60, buf), 60);
	assert_int_equal(strlen(buf), 60);
	assert_int_equal(table_text(name, 61, buf), 60);
	assert_string_equal(buf + 57, "...");
	for (size_t i = 0; i < sizeof(name); i += 3)
		memcpy(name + i, "\xe4\xb8\xad", 3);
	assert_in_range(table_text(name, sizeof(name), buf), 58, 60);
	assert_true(strlen(buf) % 3 == 0 && strstr(buf, "..."));
	memset(name, '\x80', sizeof(name));
	assert_in_range(table_text(name, sizeof(name), buf), 50, 60);
}

static void histogram(void **state)
{
	uint64_t bins[64] = {0};
	struct out *o;

	(void)state;
	assert_ok(out_memory(1 << 16, &o));
	assert_ok(hist_write(bins, o));
	check(o, "");
	bins[0] = 1;
	bins[2] = 1000;
	bins[3] = 500;
	assert_ok(hist_write(bins, o));
	check(o, "          0 ns .. 2 ns         |#                                       | 1\n"
		 "          2 ns .. 4 ns         |                                        | 0\n"
		 "          4 ns .. 8 ns         |########################################| 1,000\n"
		 "          8 ns .. 16 ns        |####################                    | 500\n");
	out_discard(o);
}

/* ---- Lines --------------------------------------------------------------------------------- */

#define AT(us) (1700000000000000000u + (us)*1000u) /* 22:13:20 UTC */

static const struct span shown[] = {
	{.kind = SPAN_PUSH_POP,
	 .name = "inner",
	 .name_len = 5,
	 .start_ns = AT(1),
	 .end_ns = AT(8),
	 .has_end = true,
	 .pid = 7,
	 .start_tid = 8,
	 .end_tid = 8,
	 .depth = 1},
	{.kind = SPAN_MARKER,
	 .name = "",
	 .start_ns = AT(9),
	 .end_ns = AT(9),
	 .has_end = true,
	 .pid = 7,
	 .start_tid = 7,
	 .end_tid = 7},
	{.kind = SPAN_START_END,
	 .name = "\x1b[31m",
	 .name_len = 5,
	 .start_ns = AT(2),
	 .end_ns = AT(1002),
	 .has_end = true,
	 .pid = 7,
	 .start_tid = 7,
	 .end_tid = 8},
	{.kind = SPAN_PUSH_POP,
	 .name = "gone",
	 .name_len = 4,
	 .start_ns = AT(1000),
	 .end_ns = AT(1100),
	 .has_end = true,
	 .status = SPAN_UNFINISHED,
	 .pid = 7,
	 .start_tid = 7,
	 .end_tid = 7},
	{.kind = SPAN_PUSH_POP,
	 .name = "?",
	 .name_len = 1,
	 .start_ns = AT(1200),
	 .status = SPAN_UNCERTAIN,
	 .pid = 7,
	 .start_tid = 7,
	 .end_tid = 7,
	 .unreadable = true},
};

static void show_lines(bool color, const char *want)
{
	struct lines l = {.color = color};
	const struct consumer c = lines_consumer(&l);
	struct tally lost = {
		.kind = TALLY_LOSS, .count = 1700, .from_ns = AT(0), .to_ns = AT(1300)};

	setenv("TZ", "UTC", 1);
	assert_ok(out_memory(1 << 16, &l.out));
	for (size_t i = 0; i < (color ? 1 : sizeof(shown) / sizeof(shown[0])); i++)
		assert_ok(c.span(c.ctx, &shown[i]));
	while (!entry_get(lost.func) || strcmp(entry_name(lost.func), "aclprofPush"))
		lost.func++;
	if (!color)
		assert_ok(c.tally(c.ctx, &lost));
	lost.kind = TALLY_ORPHAN; /* told in the end */
	assert_ok(c.tally(c.ctx, &lost));
	check(l.out, want);
	out_discard(l.out);
}

static void lines(void **state)
{
	(void)state;
	show_lines(false, "22:13:20.000008 7/8               inner <7.000 us>\n"
			  "22:13:20.000009 7               * (no name)\n"
			  "22:13:20.001002 7               \\x1b[31m <1.000 ms> start/end by 8\n"
			  "22:13:20.001100 7               gone <unfinished after 100.000 us>\n"
			  "22:13:20.001200 7               ?<unreadable> <uncertain>\n"
			  "22:13:20.001300                 -- 1,700 calls of aclprofPush lost\n");
	show_lines(true, "\033[2m22:13:20.000008 7/8             \033[0m  "
			 "\033[1minner\033[0m\033[36m <7.000 us>\033[0m\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligned),   cmocka_unit_test(csv),
		cmocka_unit_test(json),	     cmocka_unit_test(no_rows),
		cmocka_unit_test(numbers),   cmocka_unit_test(counts_of_nothing),
		cmocka_unit_test(full_disk), cmocka_unit_test(texts),
		cmocka_unit_test(histogram), cmocka_unit_test(lines),
	};

	return RUN(tests);
}
