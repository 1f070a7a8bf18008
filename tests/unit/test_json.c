// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/spans.h"

#include <stdio.h>

#define STAMP_ARGS                                                                                 \
	"\"args\":{\"Category\":\"0\",\"Payload_type\":0,\"Payload_value\":0,\"Message_type\":0,"  \
	"\"event_type\":"

/* Metadata of process 10 (pid 10463) with thread 20. */
#define META                                                                                       \
	"{\"name\":\"process_name\",\"pid\":10463,\"tid\":0,\"ph\":\"M\",\"args\":"                \
	"{\"name\":\"prog\\\"ram\"}},\n"                                                           \
	"{\"name\":\"process_labels\",\"pid\":10463,\"tid\":0,\"ph\":\"M\",\"args\":"              \
	"{\"labels\":\"CPU\"}},\n"                                                                 \
	"{\"name\":\"process_sort_index\",\"pid\":10463,\"tid\":0,\"ph\":\"M\",\"args\":"          \
	"{\"sort_index\":6}},\n"                                                                   \
	"{\"name\":\"thread_name\",\"pid\":10463,\"tid\":20,\"ph\":\"M\",\"args\":"                \
	"{\"name\":\"Thread 20\"}},\n"                                                             \
	"{\"name\":\"thread_sort_index\",\"pid\":10463,\"tid\":20,\"ph\":\"M\",\"args\":"          \
	"{\"sort_index\":20}}"

static void name_process(struct run *r, uint32_t pid, const char *name)
{
	const struct process p = {.pid = pid, .name = name, .cmdline = "", .exe = ""};

	assert_ok(r->to.process(r->to.ctx, &p));
}

static void events_have_the_vendors_form(void **state)
{
	const char *path = tmpdir_path(state, "x.json");
	struct run r = run_begin("json", path, NULL);
	struct span ex = mark_of("step", 1717575960208130000), lost = span_of("lost", 1, 2);

	ex.kind = SPAN_MARKER_EX;
	ex.domain = "default";
	lost.status = SPAN_UNCERTAIN;
	name_process(&r, 99, "without events");
	run_span(&r, span_of("pre\"process", 1717575960208120114, 1717575960208126869));
	run_span(&r, lost);
	run_span(&r, mark_of("m", 1717575960208130000));
	run_span(&r, ex);
	name_process(&r, 10, "first");
	name_process(&r, 10, "prog\"ram");
	name_process(&r, 10, ""); /* nothing new */
	assert_ok(run_end(&r));
	expect_file(path,
		    "[\n{\"name\":\"pre\\\"process\",\"pid\":10463,\"tid\":20,"
		    "\"ts\":\"1717575960208120.114\",\"dur\":6.755,\"ph\":\"X\"," STAMP_ARGS
		    "\"push/pop\"}},\n"
		    "{\"name\":\"m\",\"pid\":10463,\"tid\":20,\"ts\":\"1717575960208130.000\","
		    "\"dur\":0.0,\"ph\":\"X\"," STAMP_ARGS "\"marker\"}},\n"
		    "{\"name\":\"step\",\"pid\":10463,\"tid\":20,\"ts\":\"1717575960208130.000\","
		    "\"dur\":0.0,\"ph\":\"X\",\"args\":{\"event_type\":\"marker_ex\","
		    "\"domain\":\"default\"}},\n" META ",\n"
		    "{\"name\":\"MsTx_4000000001\",\"pid\":10463,\"tid\":20,\"ph\":\"s\","
		    "\"cat\":\"MsTx\",\"id\":\"4000000001\",\"ts\":\"1717575960208130.000\"}\n]\n");
}

static void an_empty_trace_is_an_array(void **state)
{
	const char *path = tmpdir_path(state, "x.json");
	struct run r = run_begin("json", path, NULL);

	name_process(&r, 10, "p");
	assert_ok(run_end(&r));
	expect_file(path, "[\n]\n");
}

static void pids_wrap_in_32_bits(void **state)
{
	const char *path = tmpdir_path(state, "x.json");
	struct run r = run_begin("json", path, NULL);
	struct span sp = mark_of("m", 0);
	char *got;

	sp.pid = 4194304; /* the highest pid of a 64-bit kernel: << 10 goes beyond 32 bits */
	run_span(&r, sp);
	assert_ok(run_end(&r));
	got = slurp(path, NULL);
	assert_non_null(strstr(got, "\"pid\":223,"));
	assert_non_null(strstr(got, "\"process 4194304\""));
	free(got);
}

/* More flow events than are kept in memory: all come, in order, and nothing stays behind. */
static void many_flow_events_wait_on_disk(void **state)
{
	const char *path = tmpdir_path(state, "x.json");
	struct run r = run_begin("json", path, NULL);
	const int n = 10000;
	char *got, *p, want[160];

	for (int i = 0; i < n; i++) {
		struct span sp = mark_of("m", (uint64_t)i * 1000);

		sp.kind = SPAN_MARKER_EX;
		run_span(&r, sp);
	}
	assert_ok(run_end(&r));
	got = slurp(path, NULL);
	p = strstr(got, "\"MsTx_");
	assert_true(p > strstr(got, "thread_sort_index"));
	for (int i = 0; i < n; i++) {
		snprintf(want, sizeof(want),
			 "\"MsTx_%llu\",\"pid\":10463,\"tid\":20,\"ph\":\"s\",\"cat\":\"MsTx\","
			 "\"id\":\"%llu\",\"ts\":\"%d.000\"}",
			 4000000001ull + i, 4000000001ull + i, i);
		assert_memory_equal(p, want, strlen(want));
		p = strstr(p + 1, "\"MsTx_");
		assert_true(!p == (i == n - 1));
	}
	free(got);
	assert_int_equal(dir_entries(*state), 1);
}

/* The row of the event called name. */
static long row_of(const char *text, const char *name)
{
	char want[64], *p;

	snprintf(want, sizeof(want), "{\"name\":\"%s\",\"pid\":10463,\"tid\":", name);
	p = strstr(text, want);
	assert_non_null(p);
	return strtol(p + strlen(want), NULL, 10);
}

static struct span range_of(const char *name, uint64_t start, uint64_t end)
{
	struct span sp = span_of(name, start, end);

	sp.kind = SPAN_START_END;
	return sp;
}

static void lanes_keep_overlapping_ranges_apart(void **state)
{
	const struct sink_opts opts = {.lanes = true};
	const char *path = tmpdir_path(state, "x.json");
	struct run r = run_begin("json", path, &opts);
	struct span other = range_of("other", 5, 31);
	char *got;

	other.end_tid = 21;
	run_span(&r, range_of("a", 0, 10));
	run_span(&r, range_of("b", 5, 15));   /* crosses a */
	run_span(&r, range_of("c", 10, 20));  /* follows a, crosses b */
	run_span(&r, range_of("d", 2, 30));   /* crosses all */
	run_span(&r, span_of("push", 1, 30)); /* stays on the thread */
	run_span(&r, other);		      /* another thread: its own lanes */
	assert_ok(run_end(&r));
	got = slurp(path, NULL);
	assert_int_equal(row_of(got, "push"), 20);
	assert_true(row_of(got, "a") > 4194304 && row_of(got, "a") < 2147483648);
	assert_int_equal(row_of(got, "a"), row_of(got, "c"));
	assert_int_not_equal(row_of(got, "a"), row_of(got, "b"));
	assert_int_not_equal(row_of(got, "d"), row_of(got, "a"));
	assert_int_not_equal(row_of(got, "d"), row_of(got, "b"));
	assert_int_not_equal(row_of(got, "other"), row_of(got, "a"));
	assert_non_null(strstr(got, "{\"name\":\"Thread 20 ranges 3\"}"));
	assert_non_null(strstr(got, "{\"name\":\"Thread 21 ranges 1\"}"));
	free(got);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(events_have_the_vendors_form),
		T(an_empty_trace_is_an_array),
		T(pids_wrap_in_32_bits),
		T(many_flow_events_wait_on_disk),
		T(lanes_keep_overlapping_ranges_apart),
	};

	return RUN(tests);
}
