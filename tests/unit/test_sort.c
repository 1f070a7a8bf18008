// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/tmpdir.h"
#include "harness/spans.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sink/sort.h"

/* What came out, checked on the fly. */
struct seen {
	struct span last;
	uint64_t count, id_sum;
	int stop_after; /* 0 = never */
};

static bool ordered(const struct span *a, const struct span *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->depth != b->depth)
		return a->depth < b->depth;
	if (a->pid != b->pid)
		return a->pid < b->pid;
	if (a->start_tid != b->start_tid)
		return a->start_tid < b->start_tid;
	return a->seq <= b->seq;
}

static int check_span(void *ctx, const struct span *sp, uint64_t tag)
{
	struct seen *seen = ctx;
	char name[32];

	if (seen->count)
		assert_true(ordered(&seen->last, sp));
	snprintf(name, sizeof(name), "name %llu", (unsigned long long)sp->id);
	assert_int_equal(sp->name_len, strlen(name) + sp->id % 7);
	assert_memory_equal(sp->name, name, strlen(name));
	if (sp->id % 3 == 0)
		assert_string_equal(sp->domain, "default");
	else
		assert_null(sp->domain);
	assert_int_equal(sp->end_ns, sp->start_ns + sp->id);
	assert_int_equal(tag, 3 * sp->id);
	seen->last = *sp;
	seen->count++;
	seen->id_sum += sp->id;
	return seen->stop_after && seen->count == (uint64_t)seen->stop_after ? -ECANCELED : 0;
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static int add_one(struct sorter *s, uint64_t id, uint64_t start, uint64_t random)
{
	struct span sp = span_of("", start, start + id);
	char name[48];

	snprintf(name, sizeof(name), "name %llu......", (unsigned long long)id);
	sp.id = id;
	sp.name = name;
	sp.name_len = (uint16_t)(strlen(name) - 6 + id % 7);
	sp.depth = random % 3;
	sp.pid = 10 + random / 3 % 2;
	sp.start_tid = 20 + random / 6 % 3;
	sp.seq = (uint32_t)(random >> 40);
	sp.domain = id % 3 ? NULL : "default";
	return sort_add(s, &sp, 3 * sp.id);
}

/* spread 0: already in order; else how far a start lies from its place, in spans. */
static void sort_many(void **state, size_t budget, uint64_t n, uint64_t spread)
{
	uint64_t x = 88172645463325252u;
	struct seen seen = {0};
	struct sorter *s;

	assert_ok(sort_new(tmpdir_path(state, "x.csv"), budget, &s));
	for (uint64_t i = 1; i <= n; i++) {
		uint64_t r = next_random(&x);

		assert_ok(
			add_one(s, i, 1000000 + i / 4 - (spread ? r % spread : 0), spread ? r : 0));
	}
	assert_ok(sort_drain(s, check_span, &seen));
	assert_int_equal(seen.count, n);
	assert_int_equal(seen.id_sum, n * (n + 1) / 2);
	sort_free(s);
	assert_int_equal(dir_entries(*state), 0);
}

static void sorts_in_memory(void **state)
{
	for (uint64_t n = 0; n < 40; n++)
		sort_many(state, SORT_BUDGET, n, 10);
	sort_many(state, SORT_BUDGET, 50000, 1);
	sort_many(state, SORT_BUDGET, 50000, 100);
	sort_many(state, SORT_BUDGET, 50000, 1000000);
}

static void sorts_on_disk(void **state)
{
	sort_many(state, 1 << 20, 50000, 0);
	sort_many(state, 1 << 20, 50000, 100);
	sort_many(state, 1 << 20, 50000, 1000000);
}

/* The smallest budget merges two runs at a time: several passes. */
static void merges_in_several_passes(void **state)
{
	sort_many(state, 1, 30000, 1000);
	sort_many(state, 1, 30000, 1000000);
}

static int take_start(void *ctx, const struct span *sp, uint64_t tag)
{
	uint64_t *last = ctx;

	(void)tag;
	assert_true(sp->start_ns > *last);
	assert_int_equal(sp->name_len, 65535);
	assert_int_equal(sp->name[65534], 'n');
	assert_int_equal(strlen(sp->domain), 4096);
	*last = sp->start_ns;
	return 0;
}

static void large_texts_fit(void **state)
{
	char *text = malloc(65536);
	struct sorter *s;
	uint64_t last = 0;

	assert_non_null(text);
	memset(text, 'n', 65535);
	text[65535] = '\0';
	assert_ok(sort_new(tmpdir_path(state, "x"), 1, &s));
	for (uint64_t i = 0; i < 40; i++) {
		struct span sp = span_of("", 100 - i, 200);

		sp.name = text;
		sp.name_len = 65535;
		sp.domain = text; /* cut */
		assert_ok(sort_add(s, &sp, 3 * sp.id));
	}
	assert_ok(sort_drain(s, take_start, &last));
	assert_int_equal(last, 100);
	sort_free(s);
	free(text);
}

static int collect(void *ctx, const struct span *sp, uint64_t tag)
{
	(void)tag;
	strncat(ctx, sp->name, sp->name_len);
	return 0;
}

static void parents_come_before_children_of_the_same_time(void **state)
{
	struct span child = span_of("child ", 5, 6), parent = span_of("parent ", 5, 9);
	struct span mark = mark_of("mark ", 5), next = span_of("next ", 5, 5);
	struct sorter *s;
	char got[64] = "";

	(void)state;
	parent.seq = 1;
	child.depth = 1;
	child.seq = 2;
	mark.depth = 2;
	mark.seq = 3;
	next.seq = 6;
	assert_ok(sort_new("-", SORT_BUDGET, &s));
	assert_ok(sort_add(s, &next, 0));
	assert_ok(sort_add(s, &mark, 0));
	assert_ok(sort_add(s, &child, 0));
	assert_ok(sort_add(s, &parent, 0));
	assert_ok(sort_drain(s, collect, got));
	assert_string_equal(got, "parent next child mark ");
	sort_free(s);
}

static void errors_stick(void **state)
{
	struct seen seen = {.stop_after = 3};
	struct rlimit old, limit;
	struct sorter *s;
	uint64_t i = 1;
	int err = 0;

	/* Of the consumer. */
	assert_ok(sort_new(tmpdir_path(state, "x"), 1, &s));
	for (i = 1; i < 10; i++)
		assert_ok(add_one(s, i, i, 0));
	assert_err(sort_drain(s, check_span, &seen), ECANCELED);
	assert_int_equal(seen.count, 3);
	assert_err(add_one(s, i, i, 0), ECANCELED);
	sort_free(s);

	/* Of the place for the runs. */
	assert_ok(sort_new(tmpdir_path(state, "none/x"), 1, &s));
	for (i = 1; i < 100000 && !err; i++)
		err = add_one(s, i, i, 0);
	assert_int_equal(err, -ENOENT);
	assert_err(sort_drain(s, check_span, &seen), ENOENT);
	sort_free(s);

	/* Of a disk that is full. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){300000, old.rlim_max};
	assert_ok(sort_new(tmpdir_path(state, "x"), 1, &s));
	setrlimit(RLIMIT_FSIZE, &limit);
	for (i = 1, err = 0; i < 100000 && !err; i++)
		err = add_one(s, i, i, 0);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(err, -EFBIG);
	sort_free(s);
	assert_int_equal(dir_entries(*state), 0);
	sort_free(NULL);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(sorts_in_memory),
		T(sorts_on_disk),
		T(merges_in_several_passes),
		T(large_texts_fit),
		T(parents_come_before_children_of_the_same_time),
		T(errors_stick),
	};

	return RUN(tests);
}
