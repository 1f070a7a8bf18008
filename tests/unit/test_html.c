// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/spans.h"

#include <errno.h>
#include <stdio.h>

#include "core/filter.h"
#include "sink/html_facts.h"
#include "sink/html_page.h"

/* The page's data: what is between its head and its tail. */
static char *data_of(const char *path)
{
	size_t n, head = html_page_head_size, tail = html_page_tail_size;
	char *page = slurp(path, &n), *data;

	assert_true(n > head + tail);
	assert_memory_equal(page, html_page_head, head);
	assert_memory_equal(page + n - tail, html_page_tail, tail);
	data = strndup(page + head, n - head - tail);
	free(page);
	return data;
}

static void expect_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

static size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

static void nothing_traced_is_a_page(void **state)
{
	const char *path = tmpdir_path(state, "x.html");
	struct run r = run_begin("html", path, NULL);
	char *data;

	assert_ok(run_end(&r));
	data = data_of(path);
	assert_string_equal(
		data,
		"<script type=\"application/json\" id=\"names\">\n[\"(name not "
		"kept)\"]\n</script>\n"
		"<script type=\"application/json\" id=\"facts\">\n{\n"
		"\"host\":\"host\",\n\"version\":\"1\",\n\"kernel\":\"\",\n\"aligned\":\"\",\n"
		"\"zero_ns\":0,\n\"first_ns\":0,\n\"last_ns\":0,\n\"complete\":true,\n"
		"\"kinds\":[0,0,0,0],\n\"statuses\":[0,0,0,0,0],\n\"shown\":0,\n\"left_out\":0,\n"
		"\"left_out_longest_ns\":0,\n\"left_out_not_complete\":0,\n"
		"\"left_out_threads\":0,\n\"unnamed\":0,\n"
		"\"processes\":[],\n\"more_processes\":0,\n\"sources\":[],\n\"threads\":[],"
		"\n"
		"\"tallies\":[],\n\"losses\":[],\n\"losses_joined\":false,\n"
		"\"coarse_rows\":0,\n\"spans_of_others\":0,\n\"self_incomplete\":0,\n"
		"\"stats\":[]\n}\n</script>\n"
		"<script type=\"text/plain\" id=\"spans\">\n</script>\n"
		"<script type=\"text/plain\" id=\"details\">\n</script>\n");
	free(data);
}

/* Whatever they say: four elements of data, and no other < in any of them. */
static void names_cannot_leave_their_element(void **state)
{
	static const char *const names[] = {
		"</script><script>alert(1)</script>",
		"<!--",
		"]]>",
		"\"],[\"",
		"\\",
		"\xff</script",
		"<img src=x onerror=alert(1)>",
	};
	const char *path = tmpdir_path(state, "x.html");
	const struct process p = {
		.pid = 10, .rank = -1, .name = "</script>", .cmdline = "<script>", .exe = "<!--"};
	const struct label l = {.pid = 10, .id = 20, .text = "</script>", .len = 9};
	const struct label c = {.pid = 10, .id = 0, .text = "</script>", .len = 9};
	struct run r = run_begin("html", path, NULL);
	struct span sp;
	char *data;

	assert_ok(r.to.process(r.to.ctx, &p));
	assert_ok(r.to.thread(r.to.ctx, &l));
	assert_ok(r.to.category(r.to.ctx, &c));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		sp = span_of(names[i], 100 * i, 100 * i + 50);
		run_span(&r, sp);
		sp.kind = SPAN_MARKER_EX;
		sp.domain = names[i];
		run_span(&r, sp);
	}
	assert_ok(run_end(&r));
	data = data_of(path);
	assert_int_equal(count_of(data, "<"), 8);
	assert_int_equal(count_of(data, "<script type="), 4);
	assert_int_equal(count_of(data, "</script>\n"), 4);
	assert_int_equal(count_of(data, ">"), 8);
	expect_in(data, "[10,20,\"\\u003c/script\\u003e\"]");
	free(data);
}

static void the_table_has_all_columns(void **state)
{
	const char *path = tmpdir_path(state, "x.html");
	struct run r = run_begin("html", path, NULL);
	struct span sp = span_of("s", 0, 3);
	char *data;

	run_span(&r, sp);
	run_span(&r, span_of("s", 10, 15));
	sp = span_of("s", 20, 30);
	sp.status = SPAN_UNFINISHED;
	run_span(&r, sp);
	assert_ok(run_end(&r));
	data = data_of(path);
	expect_in(data, "[\"s\",\"PushPop\",100.0,8,2,4.0,4.0,3,5,1.4,5,5,8,1,0,1,[1,1]]");
	expect_in(data, "\"kinds\":[0,3,0,0],\n\"statuses\":[2,1,0,0,0],\n\"shown\":3,");
	free(data);
}

/* Else its numbers would pass for those of the whole capture. */
static void what_a_filter_left_out_is_told(void **state)
{
	static const char *const match[] = {"s*"};
	const char *path = tmpdir_path(state, "x.html");
	struct filter f = {.cfg = {.match = match, .n_match = 1}};
	struct run r = run_begin("html", path, NULL);
	char *data;

	r.to = filter_consumer(&f, &r.to);
	run_span(&r, span_of("s", 0, 3));
	run_span(&r, span_of("t", 4, 5));
	run_span(&r, span_of("t", 6, 7));
	assert_ok(run_end(&r));
	data = data_of(path);
	expect_in(data, "\"complete\":true,\n\"filtered\":2,\n\"kinds\":[0,1,0,0],");
	free(data);
}

/* What is left out of a range was still not its own time. */
static void self_time_under_a_filter(void **state)
{
	static const char *const match[] = {"A"};
	const char *path = tmpdir_path(state, "x.html");
	struct filter f = {.cfg = {.match = match, .n_match = 1}};
	struct run r = run_begin("html", path, NULL);
	struct span a = span_of("A", 0, 1000), b = span_of("B", 50, 950);
	char *data;

	a.id = 1;
	b.id = 2;
	b.parent = 1;
	b.depth = 1;
	r.to = filter_consumer(&f, &r.to);
	run_span(&r, b);
	run_span(&r, a);
	assert_ok(run_end(&r));
	data = data_of(path);
	expect_in(data,
		  "[\"A\",\"PushPop\",100.0,1000,1,1000.0,1000.0,1000,1000,0.0,1000,1000,100,");
	free(data);
}

static void losses_are_told_with_their_time(void **state)
{
	const char *path = tmpdir_path(state, "x.html");
	const struct tally loss = {
		.kind = TALLY_LOSS, .func = 3, .count = 5, .from_ns = 10, .to_ns = 20};
	const struct tally failed = {.kind = TALLY_FAILED, .func = 3, .count = 2, .ret = -1};
	struct run r = run_begin("html", path, NULL);
	char *data;

	run_span(&r, span_of("s", 12, 15));
	assert_ok(r.to.tally(r.to.ctx, &loss));
	assert_ok(r.to.tally(r.to.ctx, &loss));
	assert_ok(r.to.tally(r.to.ctx, &failed));
	assert_ok(run_end(&r));
	data = data_of(path);
	expect_in(data, "\"zero_ns\":10,");
	expect_in(data, "{\"kind\":\"loss\",\"count\":10,\"func\":\"aclprofPush\"}");
	expect_in(data, "{\"kind\":\"failed\",\"count\":2,\"func\":\"aclprofPush\",\"ret\":-1}");
	expect_in(data, "\"losses\":[\n[0,10,5,\"aclprofPush\"],\n[0,10,5,\"aclprofPush\"]]");
	free(data);
}

static void losses_are_bounded(void **state)
{
	struct html_facts f;
	uint64_t first = 0, last = 0, n = 0;

	(void)state;
	html_facts_init(&f);
	for (uint64_t i = 1; i <= HTML_LOSSES_MAX + 10; i++) {
		const struct tally t = {
			.kind = TALLY_LOSS, .count = 1, .from_ns = 10 * i, .to_ns = 10 * i + 5};

		assert_ok(html_facts_tally(&f, &t));
	}
	for (size_t i = 0; i < f.n_losses; i++)
		n += f.losses[i].count;
	assert_int_equal(f.n_losses, HTML_LOSSES_MAX);
	assert_int_equal(n, HTML_LOSSES_MAX + 10);
	html_facts_extent(&f, &first, &last);
	assert_int_equal(first, 10);
	assert_int_equal(last, 10 * (HTML_LOSSES_MAX + 10) + 5);
	html_facts_free(&f);
}

static void threads_are_bounded(void **state)
{
	struct html_facts f;
	uint32_t number;

	(void)state;
	html_facts_init(&f);
	for (uint32_t i = 0; i < HTML_FACTS_MAX; i++) {
		assert_ok(html_facts_thread_of(&f, 1, i, &number));
		assert_int_equal(number, i);
	}
	assert_ok(html_facts_thread_of(&f, 2, 0, &number));
	assert_int_equal(number, HTML_NO_THREAD);
	assert_ok(html_facts_thread_of(&f, 1, 7, &number));
	assert_int_equal(number, 7);
	html_facts_free(&f);
}

static void long_command_lines_are_cut(void **state)
{
	const char *path = tmpdir_path(state, "x.html");
	struct process p = {.pid = 1, .name = "n", .exe = ""};
	struct run r = run_begin("html", path, NULL);
	char line[5000], *data;

	memset(line, 'a', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	p.cmdline = line;
	assert_ok(r.to.process(r.to.ctx, &p));
	p.cmdline = ""; /* what was known stays */
	assert_ok(r.to.process(r.to.ctx, &p));
	assert_ok(run_end(&r));
	data = data_of(path);
	expect_in(data, "aaa...\",\"exe\":\"\",\"host\":\"\"}");
	assert_true(strlen(data) < 3000);
	free(data);
}

static void a_full_disk_is_an_error(void **state)
{
	struct run r = run_begin("html", "/dev/full", NULL);

	(void)state;
	run_span(&r, span_of("x", 1, 2));
	assert_err(run_end(&r), ENOSPC);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nothing_traced_is_a_page),	      T(names_cannot_leave_their_element),
		T(the_table_has_all_columns),	      T(losses_are_told_with_their_time),
		T(what_a_filter_left_out_is_told),    T(self_time_under_a_filter),
		cmocka_unit_test(losses_are_bounded), cmocka_unit_test(threads_are_bounded),
		T(long_command_lines_are_cut),	      T(a_full_disk_is_an_error),
	};

	return RUN(tests);
}
