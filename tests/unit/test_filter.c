// SPDX-License-Identifier: GPL-2.0-only
/* Which spans pass, and that nothing else is touched. */
#include "harness/test.h"

#include <string.h>

#include "core/filter.h"

#define START 1000000

static struct span range(const char *name, uint64_t from, uint64_t to)
{
	return (struct span){.kind = SPAN_PUSH_POP,
			     .name = name,
			     .name_len = (uint16_t)strlen(name),
			     .start_ns = START + from,
			     .end_ns = START + to,
			     .has_end = true,
			     .pid = 7,
			     .start_tid = 8,
			     .end_tid = 9};
}

static bool passes(const struct filter_config *cfg, const struct span *sp)
{
	const struct trace_meta meta = {.first.real_ns = START};
	struct filter f = {.cfg = *cfg};

	filter_begin(&f, &meta);
	return filter_passes(&f, sp);
}

static void nothing_set(void **state)
{
	const struct filter_config cfg = {0};
	struct span sp = range("", 0, 0);

	(void)state;
	assert_false(filter_is_set(&cfg));
	assert_true(passes(&cfg, &sp));
}

static bool name_passes(const struct filter_config *cfg, const char *name, size_t len)
{
	struct span sp = range("", 0, 1);

	sp.name = name;
	sp.name_len = (uint16_t)len;
	return passes(cfg, &sp);
}

static void names(void **state)
{
	static const char *const match[] = {"fwd*", "b?d"};
	static const char *const exclude[] = {"*secret*"};
	const struct filter_config cfg = {
		.match = match, .n_match = 2, .exclude = exclude, .n_exclude = 1};

	(void)state;
	assert_true(filter_is_set(&cfg));
	assert_true(name_passes(&cfg, "fwd", 3));
	assert_true(name_passes(&cfg, "fwd/layer 1", 11)); /* a slash is like any other */
	assert_true(name_passes(&cfg, "bad", 3));
	assert_false(name_passes(&cfg, "bd", 2));
	assert_false(name_passes(&cfg, "", 0));
	assert_false(name_passes(&cfg, "fwd secret", 10));
	/* Not terminated: what follows is not the name's. */
	assert_true(name_passes(&cfg, "badly", 3));
	assert_false(name_passes(&cfg, "badly", 5));
	/* No UTF-8, and the longest. */
	assert_true(name_passes(&cfg, "fwd\xff\xfe", 5));
}

static void unreadable_name(void **state)
{
	static const char *const match[] = {"got<unreadable>"};
	const struct filter_config cfg = {.match = match, .n_match = 1};
	struct span sp = range("got", 0, 1);

	(void)state;
	assert_false(passes(&cfg, &sp));
	sp.unreadable = true;
	assert_true(passes(&cfg, &sp));
}

static void durations(void **state)
{
	const struct filter_config cfg = {.min_ns = 100};
	struct span sp = range("x", 50, 149);

	(void)state;
	assert_false(passes(&cfg, &sp));
	sp.end_ns++;
	assert_true(passes(&cfg, &sp));
	sp.has_end = false; /* still open: nobody knows */
	sp.end_ns = 0;
	assert_true(passes(&cfg, &sp));
	sp = range("mark", 50, 50);
	sp.kind = SPAN_MARKER;
	assert_false(passes(&cfg, &sp));
}

static void ids(void **state)
{
	static const pid_t seven[] = {6, 7}, eight[] = {8}, nine[] = {9}, ten[] = {10};
	struct span sp = range("x", 0, 1);

	(void)state;
	assert_true(passes(&(struct filter_config){.pids = seven, .n_pids = 2}, &sp));
	assert_false(passes(&(struct filter_config){.pids = eight, .n_pids = 1}, &sp));
	assert_true(passes(&(struct filter_config){.tids = eight, .n_tids = 1}, &sp));
	assert_true(passes(&(struct filter_config){.tids = nine, .n_tids = 1}, &sp));
	assert_false(passes(&(struct filter_config){.tids = ten, .n_tids = 1}, &sp));
}

static void window(void **state)
{
	const struct filter_config cfg = {.from_ns = 100, .to_ns = 200};
	static const struct {
		uint64_t from, to;
		bool passes;
	} cases[] = {
		{0, 99, false},	 {0, 100, true},   {150, 160, true},
		{0, 1000, true}, {199, 300, true}, {200, 300, false},
	};
	struct span sp;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sp = range("x", cases[i].from, cases[i].to);
		assert_int_equal(passes(&cfg, &sp), cases[i].passes);
	}
	sp = range("open", 10, 10);
	sp.has_end = false;
	assert_true(passes(&cfg, &sp));
	/* Before the trace began, as a clock that was set back makes it. */
	sp = range("x", 0, 0);
	sp.start_ns = sp.end_ns = START - 500;
	assert_false(passes(&cfg, &sp));
}

struct seen {
	uint64_t filtered;
	int spans, tallies, processes, others;
};

static int count_span(void *ctx, const struct span *sp)
{
	(void)sp;
	((struct seen *)ctx)->spans++;
	return 0;
}

static int count_tally(void *ctx, const struct tally *t)
{
	(void)t;
	((struct seen *)ctx)->tallies++;
	return -5; /* handed back */
}

static int count_process(void *ctx, const struct process *p)
{
	(void)p;
	((struct seen *)ctx)->processes++;
	return 0;
}

static int count_meta(void *ctx, const struct trace_meta *m)
{
	((struct seen *)ctx)->others++;
	((struct seen *)ctx)->filtered = m->filtered;
	return 0;
}

static void only_spans_are_dropped(void **state)
{
	static const pid_t pids[] = {8};
	struct filter f = {.cfg = {.pids = pids, .n_pids = 1}};
	struct seen seen = {0};
	const struct consumer next = {.ctx = &seen,
				      .begin = count_meta,
				      .process = count_process,
				      .span = count_span,
				      .tally = count_tally,
				      .end = count_meta};
	const struct consumer c = filter_consumer(&f, &next);
	const struct trace_meta meta = {0};
	struct span sp = range("x", 0, 1);

	(void)state;
	assert_ok(c.begin(c.ctx, &meta));
	assert_ok(c.process(c.ctx, &(struct process){.pid = 7}));
	assert_ok(c.process(c.ctx, &(struct process){.pid = 8}));
	assert_ok(c.thread(c.ctx, &(struct label){.pid = 8}));
	assert_ok(c.category(c.ctx, &(struct label){.pid = 8}));
	assert_ok(c.span(c.ctx, &sp));
	sp.pid = 8;
	assert_ok(c.span(c.ctx, &sp));
	/* A loss in a process that is not shown may be what its neighbours waited for. */
	assert_int_equal(c.tally(c.ctx, &(struct tally){.kind = TALLY_LOSS, .pid = 7}), -5);
	assert_ok(c.end(c.ctx, &meta));
	assert_int_equal(seen.spans, 1);
	assert_int_equal(f.dropped, 1);
	assert_int_equal(seen.filtered, 1);
	assert_int_equal(seen.tallies, 1);
	assert_int_equal(seen.processes, 1);
	assert_int_equal(seen.others, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_set),
		cmocka_unit_test(names),
		cmocka_unit_test(unreadable_name),
		cmocka_unit_test(durations),
		cmocka_unit_test(ids),
		cmocka_unit_test(window),
		cmocka_unit_test(only_spans_are_dropped),
	};

	return RUN(tests);
}
