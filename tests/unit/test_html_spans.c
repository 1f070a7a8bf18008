// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/spans.h"

#include <inttypes.h>
#include <stdio.h>

#include "sink/html_spans.h"
#include "util/str.h"

/* ---- What was written, as text ------------------------------------------------------------- */

struct stream {
	unsigned char bytes[8192];
	size_t n, at;
};

static void decode(struct stream *s, const char *text, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t v = 0, bits = 0;

	*s = (struct stream){0};
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n' || text[i] == '=')
			continue;
		v = v << 6 | (uint32_t)(strchr(digits, text[i]) - digits);
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		assert_true(s->n < sizeof(s->bytes));
		s->bytes[s->n++] = (unsigned char)(v >> bits);
	}
}

static uint64_t next(struct stream *s)
{
	uint64_t v = 0;

	for (int shift = 0;; shift += 7) {
		assert_true(s->at < s->n);
		v |= (uint64_t)(s->bytes[s->at] & 0x7f) << shift;
		if (!(s->bytes[s->at++] & 0x80))
			return v;
	}
}

static struct stream written(const struct html_spans *spans, bool details)
{
	struct stream s;
	const char *text;
	struct out *o;
	size_t n;

	assert_ok(out_memory(1 << 20, &o));
	if (details)
		html_spans_write_details(spans, o);
	else
		html_spans_write(spans, 0, o);
	text = out_data(o, &n);
	decode(&s, text, n);
	out_discard(o);
	return s;
}

/* "thread.kind.row: start+duration/name ..." a strip, flags behind # when not complete with end. */
static void expect_strips(struct html_spans *spans, const char *want)
{
	struct stream s;
	_str_ struct str got = {0};

	assert_ok(html_spans_layout(spans));
	s = written(spans, false);
	while (s.at < s.n) {
		uint64_t thread = next(&s), kind = next(&s), row = next(&s), n = next(&s), at = 0;

		str_printf(&got, "%s%" PRIu64 ".%" PRIu64 ".%" PRIu64 ":", got.len ? "\n" : "",
			   thread, kind, row);
		for (; n; n--) {
			uint64_t duration, name, flags;

			at += next(&s);
			duration = next(&s);
			name = next(&s);
			flags = next(&s);
			str_printf(&got, " %" PRIu64 "+%" PRIu64 "/%" PRIu64, at, duration, name);
			if ((flags & ~0x58ull) != 0x20)
				str_printf(&got, "#%" PRIx64, flags & 0x27);
		}
	}
	assert_string_equal(str_get(&got), want);
	html_spans_free(spans);
}

static struct html_spans *spans_new(size_t max)
{
	struct html_spans *s;

	assert_ok(html_spans_new(max, &s));
	return s;
}

static void add(struct html_spans *s, struct span sp, uint32_t thread, uint32_t name)
{
	const struct html_refs refs = {.thread = thread, .name = name};

	sp.id = html_spans_count(s) + html_spans_left_out(s).count;
	if (html_spans_wants(s, &sp))
		assert_ok(html_spans_add(s, &sp, &refs));
}

static struct span at_depth(uint64_t start, uint64_t end, uint32_t depth)
{
	struct span sp = span_of("x", start, end);

	sp.depth = depth;
	return sp;
}

static struct span lane_of(uint64_t start, uint64_t end)
{
	struct span sp = span_of("x", start, end);

	sp.kind = SPAN_START_END;
	return sp;
}

static struct span without_end(struct span sp, enum span_status status)
{
	sp.status = (uint8_t)status;
	sp.has_end = false;
	sp.end_ns = 0;
	return sp;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static void nested_ranges_are_in_rows_by_depth(void **state)
{
	struct html_spans *s = spans_new(100);

	(void)state;
	add(s, at_depth(20, 30, 1), 0, 2);
	add(s, at_depth(30, 40, 1), 0, 3);
	add(s, at_depth(10, 50, 0), 0, 1);
	add(s, at_depth(5, 60, 0), 1, 4);
	add(s, mark_of("m", 25), 0, 5);
	expect_strips(s, "0.0.0: 25+0/5\n0.1.0: 10+40/1\n0.1.1: 20+10/2 30+10/3\n1.1.0: 5+55/4");
}

static void ranges_that_overlap_are_in_lanes(void **state)
{
	struct html_spans *s = spans_new(100);

	(void)state;
	add(s, lane_of(20, 30), 0, 3);
	add(s, lane_of(10, 40), 0, 1);
	add(s, lane_of(15, 60), 0, 2);
	add(s, lane_of(40, 50), 0, 4); /* begins where the first ends */
	expect_strips(s, "0.2.0: 10+30/1 40+10/4\n0.2.1: 15+45/2\n0.2.2: 20+10/3");
}

/* After losses ranges can cross what seems to be around them: never in one row. */
static void what_does_not_nest_has_a_row_of_its_own(void **state)
{
	struct html_spans *s = spans_new(100);

	(void)state;
	add(s, at_depth(10, 30, 0), 0, 1);
	add(s, at_depth(20, 40, 0), 0, 2);
	add(s, at_depth(50, 60, 0), 0, 3);
	expect_strips(s, "0.1.0: 10+20/1 50+10/3\n0.1.1: 20+20/2");
}

static void what_is_open_keeps_its_row(void **state)
{
	struct html_spans *s = spans_new(100);

	(void)state;
	add(s, lane_of(20, 30), 0, 2);
	add(s, without_end(lane_of(10, 0), SPAN_OPEN), 0, 1);
	add(s, without_end(lane_of(40, 0), SPAN_UNCERTAIN), 0, 3);
	add(s, lane_of(40, 50), 0, 4); /* of what is uncertain only the begin is known */
	expect_strips(s, "0.2.0: 10+0/1#2\n0.2.1: 20+10/2 40+0/3#4 40+10/4");
}

static void rows_are_bounded(void **state)
{
	struct html_spans *s = spans_new(2000);
	struct stream got;

	(void)state;
	add(s, at_depth(1, 2, UINT32_MAX), 1, 0);
	for (uint32_t i = 0; i < 300; i++)
		add(s, lane_of(10 + i, 1000), 0, 0);
	assert_ok(html_spans_layout(s));
	got = written(s, false);
	for (uint64_t row = 0; row < HTML_ROWS; row++) {
		assert_int_equal(next(&got), 0);
		assert_int_equal(next(&got), 2);
		assert_int_equal(next(&got), row);
		assert_int_equal(next(&got), row == HTML_ROWS - 1 ? 300 - row : 1);
		for (uint64_t n = row == HTML_ROWS - 1 ? 4 * (300 - row) : 4; n; n--)
			next(&got);
	}
	assert_int_equal(next(&got), 1);
	assert_int_equal(next(&got), 1);
	assert_int_equal(next(&got), HTML_ROWS - 1);
	html_spans_free(s);
}

static void ends_before_begins_are_no_ages(void **state)
{
	struct html_spans *s = spans_new(100);
	uint64_t first, last;

	(void)state;
	add(s, at_depth(50, 40, 0), 0, 1);
	html_spans_extent(s, &first, &last);
	assert_int_equal(first, 50);
	assert_int_equal(last, 50);
	expect_strips(s, "0.1.0: 50+0/1");
}

/* ---- The limit ----------------------------------------------------------------------------- */

static void beyond_the_limit_the_shortest_are_left_out(void **state)
{
	struct html_spans *s = spans_new(4);
	struct html_left_out left;

	(void)state;
	add(s, at_depth(10, 11, 0), 0, 1);
	add(s, at_depth(20, 120, 0), 0, 2);
	add(s, mark_of("m", 130), 0, 3);
	add(s, without_end(at_depth(140, 0, 0), SPAN_OPEN), 0, 4);
	add(s, at_depth(200, 260, 0), 1, 5); /* before it all but two are left out */
	add(s, at_depth(270, 320, 0), 1, 6); /* shorter than what was left out */
	left = html_spans_left_out(s);
	assert_int_equal(html_spans_count(s) + left.count, 6);
	assert_int_equal(left.incomplete, 0);
	assert_int_equal(left.longest_ns, 50);
	expect_strips(s, "0.1.0: 20+100/2 140+0/4#2\n1.1.0: 200+60/5");
}

static void what_is_not_complete_is_left_out_last(void **state)
{
	struct html_spans *s = spans_new(4);
	struct html_left_out left;

	(void)state;
	for (uint64_t i = 1; i <= 9; i++)
		add(s, without_end(at_depth(10 * i, 0, 0), SPAN_UNCERTAIN), 0, (uint32_t)i);
	add(s, at_depth(1000, 2000, 0), 0, 10);
	left = html_spans_left_out(s);
	assert_true(html_spans_count(s) >= 2 && html_spans_count(s) <= 4);
	assert_int_equal(html_spans_count(s) + left.count, 10);
	assert_int_equal(left.incomplete, left.count - 1);
	assert_int_equal(left.longest_ns, 1000);
	html_spans_free(s);
}

/* Many of one length: the limit holds, and what is counted is what is missing. */
static void equal_ones_are_bounded_too(void **state)
{
	struct html_spans *s = spans_new(10);

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		add(s, mark_of("m", i), 0, 1);
		assert_true(html_spans_count(s) <= 10);
	}
	assert_int_equal(html_spans_count(s) + html_spans_left_out(s).count, 1000);
	assert_int_equal(html_spans_left_out(s).longest_ns, 0);
	html_spans_free(s);
}

/* ---- Details ------------------------------------------------------------------------------- */

static struct span with_category(struct span sp, uint32_t category)
{
	sp.category = category;
	return sp;
}

static void details_stay_with_their_spans(void **state)
{
	struct html_spans *s = spans_new(4);
	const uint64_t want[] = {2, 2, 0, 2, 4, 0, 2, 5, 0};
	struct stream got;

	(void)state;
	/* The fifth makes the first and the third leave, and their categories with them. */
	for (uint32_t i = 1; i <= 5; i++)
		add(s, with_category(at_depth(100 * i, 100 * i + (i & 1 ? i : 50 + i), 0), i), 0,
		    i);
	assert_ok(html_spans_layout(s));
	got = written(s, true);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(next(&got), want[i]);
	assert_int_equal(got.at, got.n);
	html_spans_free(s);
}

static void all_details_are_written(void **state)
{
	struct html_spans *s = spans_new(4);
	const struct html_refs refs = {.domain = 3, .category = 9};
	const uint64_t want[] = {127, 21, 7, 9, 3, 8, 0x44332211, 0x88776655, 13, 3};
	struct span sp = with_category(span_of("x", 1, 2), 7);
	struct stream got;

	(void)state;
	sp.end_tid = 21;
	sp.payload = (struct payload){-2, 8, {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}};
	sp.has_ret = sp.unreadable = sp.cut = true;
	sp.ret = -7;
	assert_ok(html_spans_add(s, &sp, &refs));
	assert_ok(html_spans_layout(s));
	got = written(s, true);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(next(&got), want[i]);
	assert_int_equal(got.at, got.n);
	html_spans_free(s);
}

static void a_depth_that_is_no_row_is_written(void **state)
{
	struct html_spans *s = spans_new(8);
	const uint64_t want[] = {128, 0, 130, 7, 0, 300, 130, 8, 0, UINT32_MAX};
	struct stream got;

	(void)state;
	add(s, at_depth(10, 30, 0), 0, 1);
	add(s, at_depth(20, 40, 0), 0, 2); /* overlaps, so it is one row below */
	add(s, at_depth(50, 60, 0), 0, 3);
	add(s, with_category(at_depth(50, 60, 300), 7), 0, 4);
	add(s, with_category(at_depth(70, 80, UINT32_MAX), 8), 0, 5);
	assert_ok(html_spans_layout(s));
	got = written(s, true);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(next(&got), want[i]);
	assert_int_equal(got.at, got.n);
	html_spans_free(s);
}

static void nothing_is_fine(void **state)
{
	struct html_spans *s = spans_new(2);
	uint64_t first = 1, last = 1;

	(void)state;
	html_spans_extent(s, &first, &last);
	assert_int_equal(first, 0);
	assert_int_equal(last, 0);
	expect_strips(s, "");
	html_spans_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_ranges_are_in_rows_by_depth),
		cmocka_unit_test(ranges_that_overlap_are_in_lanes),
		cmocka_unit_test(what_does_not_nest_has_a_row_of_its_own),
		cmocka_unit_test(what_is_open_keeps_its_row),
		cmocka_unit_test(rows_are_bounded),
		cmocka_unit_test(ends_before_begins_are_no_ages),
		cmocka_unit_test(beyond_the_limit_the_shortest_are_left_out),
		cmocka_unit_test(what_is_not_complete_is_left_out_last),
		cmocka_unit_test(equal_ones_are_bounded_too),
		cmocka_unit_test(details_stay_with_their_spans),
		cmocka_unit_test(all_details_are_written),
		cmocka_unit_test(a_depth_that_is_no_row_is_written),
		cmocka_unit_test(nothing_is_fine),
	};

	return RUN(tests);
}
