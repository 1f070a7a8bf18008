// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <stdio.h>
#include <string.h>

#include "sink/versions.h"

static struct process proc(const char *name, uint32_t ppid, int32_t rank)
{
	return (struct process){.pid = 8,
				.ppid = ppid,
				.rank = rank,
				.local_rank = -1,
				.name = name,
				.cmdline = "",
				.exe = "",
				.host = ""};
}

static void tell(struct versions *v, struct process p)
{
	assert_ok(versions_process(v, &p));
}

static void name_category(struct versions *v, const char *text)
{
	const struct label l = {.pid = 8, .id = 1, .text = text, .len = (uint16_t)strlen(text)};

	assert_ok(versions_category(v, &l));
}

static uint64_t of(struct versions *v)
{
	const struct span sp = {.pid = 8, .category = 1};

	return versions_of(v, &sp);
}

static void expect(const struct versions *v, uint64_t of, const char *name, int rank,
		   const char *category)
{
	const struct version *p = versions_owner(v, of);

	assert_non_null(p);
	assert_string_equal(p->name ?: "", name);
	assert_int_equal(p->rank, rank);
	assert_string_equal(versions_category_name(v, of) ?: "", category);
}

static void what_a_span_had_stays(void **state)
{
	struct versions v;
	uint64_t first, second, third;

	(void)state;
	versions_init(&v);
	tell(&v, proc("a", 7, 3));
	first = of(&v);
	name_category(&v, "x");
	second = of(&v);
	tell(&v, proc("b", 7, 3));
	name_category(&v, "y");
	third = of(&v);
	name_category(&v, "x");
	expect(&v, first, "a", 3, "");
	expect(&v, second, "a", 3, "x");
	expect(&v, third, "b", 3, "y");
	expect(&v, of(&v), "b", 3, "x");
	versions_free(&v);
}

/* Facts that come late hold for what came before, and what they do not say stays. */
static void what_is_not_known_is_filled_in(void **state)
{
	struct versions v;
	struct process late = proc("a", 0, -1);
	uint64_t first;

	(void)state;
	versions_init(&v);
	tell(&v, proc("", 7, 3));
	first = of(&v);
	assert_ok(versions_process(&v, &late));
	assert_int_equal(late.rank, 3);
	assert_int_equal(late.ppid, 7);
	expect(&v, first, "a", 3, "");
	assert_int_equal(of(&v), first);
	/* Renamed, it is the same process. */
	name_category(&v, "x");
	tell(&v, proc("b", 0, -1));
	expect(&v, of(&v), "b", 3, "x");
	versions_free(&v);
}

static void another_process_inherits_nothing(void **state)
{
	struct versions v;
	struct process exec = proc("c", 6, -1);
	uint64_t first;

	(void)state;
	versions_init(&v);
	tell(&v, proc("a", 7, 3));
	name_category(&v, "x");
	first = of(&v);
	tell(&v, proc("a", 6, -1));
	expect(&v, of(&v), "a", -1, "");
	expect(&v, first, "a", 3, "x");
	/* Nor does another program. */
	exec.exe = "/c";
	tell(&v, exec);
	name_category(&v, "y");
	exec.exe = "/d";
	tell(&v, exec);
	expect(&v, of(&v), "c", -1, "");
	versions_free(&v);
}

/* A PID that is used again, or a program that executes itself: nothing else differs. */
static void another_image_inherits_nothing(void **state)
{
	struct versions v;
	struct process p = proc("a", 0, 3);
	uint64_t first;

	(void)state;
	versions_init(&v);
	p.image = 1;
	tell(&v, p);
	name_category(&v, "x");
	first = of(&v);
	p = proc("a", 0, -1);
	p.image = 2;
	tell(&v, p);
	expect(&v, of(&v), "a", -1, "");
	expect(&v, first, "a", 3, "x");
	/* One that is not told is no other one. */
	tell(&v, proc("b", 0, 4));
	p.image = 2;
	tell(&v, p);
	expect(&v, of(&v), "a", 4, "");
	versions_free(&v);
}

static void what_no_span_needs_is_not_kept(void **state)
{
	struct versions v;

	(void)state;
	versions_init(&v);
	for (int i = 0; i < 1000; i++) {
		tell(&v, proc(i & 1 ? "a" : "b", 7, 3));
		name_category(&v, i & 1 ? "x" : "y");
	}
	assert_int_equal(v.n_processes, 1);
	assert_int_equal(v.n_names, 2);
	versions_free(&v);
}

static void names_of_all_that_ran(void **state)
{
	char buf[VERSIONS_NAMES_MAX];
	struct versions v;

	(void)state;
	versions_init(&v);
	assert_string_equal(versions_names(&v, 8, buf), "");
	tell(&v, proc("unused", 7, 3));
	tell(&v, proc("a", 7, 3));
	assert_string_equal(versions_names(&v, 8, buf), "a");
	of(&v);
	tell(&v, proc("ab", 7, 3));
	of(&v);
	tell(&v, proc("a", 7, 3));
	assert_string_equal(versions_names(&v, 8, buf), "ab, a");
	for (int i = 0; i < 100; i++) {
		char name[32];

		of(&v);
		snprintf(name, sizeof(name), "program %03d", i);
		tell(&v, proc(name, 7, 3));
	}
	assert_int_equal(strlen(versions_names(&v, 8, buf)), 39 * 13 - 2);
	assert_memory_equal(versions_names(&v, 8, buf), "program 061, program 062,", 25);
	versions_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_span_had_stays),
		cmocka_unit_test(what_is_not_known_is_filled_in),
		cmocka_unit_test(another_process_inherits_nothing),
		cmocka_unit_test(another_image_inherits_nothing),
		cmocka_unit_test(what_no_span_needs_is_not_kept),
		cmocka_unit_test(names_of_all_that_ran),
	};

	return RUN(tests);
}
