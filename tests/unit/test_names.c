// SPDX-License-Identifier: GPL-2.0-only
/* Names of categories: who has them, when they are told, and what they may cost. */
#include "harness/test.h"
#include "harness/evscript.h"
#include "harness/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/state.h"

#define WHAT (REC_SPANS | REC_TRACKS | REC_TALLIES)

static void an_inherited_name_is_told_when_it_is_used(void **state)
{
	(void)state;
	expect_what(WHAT, (struct pipeline_config){0},
		    "10 7 category_name number=5 \"io\"\n"
		    "11 7 category_name number=6 \"net\"\n"
		    "12 7 category stamp=1 number=5\n"
		    "20 7 fork child=8 \"child\"\n"
		    "21 7 category_name number=5 \"too late for it\"\n"
		    "30 8 fork child=9 \"its child\"\n"
		    "40 9 mark stamp=1\n"
		    "41 9 mark stamp=1\n"
		    "42 8 category stamp=1 number=7\n"
		    "43 8 mark stamp=1\n",
		    "process 7 nspid=0 ppid=0 rank=-1 \"\" cmdline=\"\" exe=\"\"\n"
		    "category 7/5 \"io\"\n"
		    "category 7/6 \"net\"\n"
		    "category 7/5 \"too late for it\"\n"
		    "process 9 nspid=0 ppid=8 rank=-1 \"its child\" cmdline=\"\" exe=\"\"\n"
		    "category 9/5 \"io\"\n"
		    "marker \"\" 40 9/9 complete category=5\n"
		    "marker \"\" 41 9/9 complete category=5\n"
		    "process 8 nspid=0 ppid=7 rank=-1 \"child\" cmdline=\"\" exe=\"\"\n"
		    "marker \"\" 43 8/8 complete category=7\n");
}

static void a_child_can_name_anew(void **state)
{
	(void)state;
	expect_what(REC_TRACKS, (struct pipeline_config){0},
		    "10 7 category_name number=5 \"io\"\n"
		    "11 7 category_name number=6 \"net\"\n"
		    "20 7 fork child=8 \"child\"\n"
		    "30 8 category_name number=5 \"io\"\n"
		    "31 8 category_name number=5 \"io\"\n"
		    "32 8 category_name number=6 \"web\"\n"
		    "40 8 fork child=9 \"its child\"\n"
		    "41 9 category stamp=1 number=5\n"
		    "42 9 mark stamp=1\n"
		    "43 9 category stamp=1 number=6\n"
		    "44 9 mark stamp=1\n"
		    "50 8 exec \"other\"\n"
		    "51 8 category_name number=5 \"io\"\n",
		    "process 7 nspid=0 ppid=0 rank=-1 \"\" cmdline=\"\" exe=\"\"\n"
		    "category 7/5 \"io\"\n"
		    "category 7/6 \"net\"\n"
		    "process 8 nspid=0 ppid=7 rank=-1 \"child\" cmdline=\"\" exe=\"\"\n"
		    "category 8/5 \"io\"\n"
		    "category 8/6 \"web\"\n"
		    "process 9 nspid=0 ppid=8 rank=-1 \"its child\" cmdline=\"\" exe=\"\"\n"
		    "category 9/5 \"io\"\n"
		    "category 9/6 \"web\"\n"
		    "process 8 nspid=0 ppid=7 rank=-1 \"other\" cmdline=\"\" exe=\"\"\n"
		    "category 8/5 \"io\"\n");
}

/* ---- What they may cost -------------------------------------------------------------------- */

struct counted {
	uint64_t names, limit;
	char last[8]; /* name told */
};

static int on_category(void *ctx, const struct label *l)
{
	struct counted *c = ctx;

	c->names++;
	snprintf(c->last, sizeof(c->last), "%.*s", l->len, l->text);
	return 0;
}

static int on_tally(void *ctx, const struct tally *t)
{
	struct counted *c = ctx;

	if (t->kind == TALLY_LIMIT)
		c->limit += t->count;
	return 0;
}

static int to_pipeline(void *ctx, const void *rec, size_t sz)
{
	return pipeline_push(ctx, rec, sz);
}

struct script {
	char *text;
	size_t len;
	FILE *f;
};

static void begin(struct script *s, unsigned int names)
{
	s->f = open_memstream(&s->text, &s->len);
	assert_non_null(s->f);
	for (unsigned int i = 0; i < names; i++)
		fprintf(s->f, "10 7 category_name number=%u \"n\"\n", i);
	fprintf(s->f, "11 7 category stamp=1 number=3\n");
}

static struct counted count(struct script *s)
{
	struct counted c = {0};
	const struct consumer next = {.ctx = &c, .category = on_category, .tally = on_tally};
	struct pipeline *p;
	char why[128] = "";

	assert_int_equal(fclose(s->f), 0);
	assert_ok(pipeline_new(&(struct pipeline_config){0}, &next, &p));
	assert_ok(evscript_run(s->text, s->len, to_pipeline, p, why, sizeof(why)));
	assert_ok(pipeline_finish(p, true));
	pipeline_free(p);
	free(s->text);
	return c;
}

static void many_children_share_many_names(void **state)
{
	const unsigned int children = 3000;
	struct counted c;
	struct script s;

	(void)state;
	begin(&s, CATEGORIES_MAX);
	for (unsigned int i = 0; i < children; i++)
		fprintf(s.f, "20 7 fork child=%u \"c\"\n", 100 + i);
	fprintf(s.f, "30 100 mark stamp=1\n");
	c = count(&s);
	assert_int_equal(c.names, CATEGORIES_MAX + 1);
	assert_int_equal(c.limit, 0);
}

static void names_of_all_together_have_a_limit(void **state)
{
	const unsigned int fit = ALL_NAMES_MAX / CATEGORIES_MAX - 1, children = fit + 5;
	struct counted c;
	struct script s;

	(void)state;
	begin(&s, CATEGORIES_MAX);
	for (unsigned int i = 0; i < children; i++) {
		fprintf(s.f, "20 7 category_name number=1 \"%u\"\n", i);
		fprintf(s.f, "20 7 fork child=%u \"c\"\n", 100 + i);
	}
	for (unsigned int i = 0; i < children; i++)
		fprintf(s.f, "30 %u mark stamp=1\n", 100 + i);
	c = count(&s);
	/* The parent's own, and where there was room what its children used. */
	assert_int_equal(c.names, CATEGORIES_MAX + children + fit);
	assert_int_equal(c.limit, children - fit);
}

/* One that is not kept does not bring back what it replaced. */
static void a_name_beyond_the_limit_hides_the_inherited_one(void **state)
{
	struct counted c;
	struct script s;

	(void)state;
	begin(&s, CATEGORIES_MAX);
	fprintf(s.f, "20 7 exec \"c\"\n");
	fprintf(s.f, "20 7 category_name number=%u \"old\"\n", CATEGORIES_MAX);
	fprintf(s.f, "20 7 fork child=8 \"c\"\n");
	for (unsigned int i = 0; i < CATEGORIES_MAX; i++)
		fprintf(s.f, "20 8 category_name number=%u \"n\"\n", i);
	fprintf(s.f, "21 8 category stamp=1 number=%u\n", CATEGORIES_MAX);
	fprintf(s.f, "22 8 category_name number=%u \"new\"\n", CATEGORIES_MAX);
	fprintf(s.f, "30 8 mark stamp=1\n");
	c = count(&s);
	assert_string_equal(c.last, "new");
	assert_int_equal(c.limit, 1);
}

/* When a process has gone there is room for another. */
static void room_comes_back(void **state)
{
	struct counted c;
	struct script s;

	(void)state;
	begin(&s, CATEGORIES_MAX);
	for (unsigned int i = 0; i < 50; i++) {
		fprintf(s.f, "20 7 category_name number=1 \"%u\"\n", i);
		fprintf(s.f, "20 7 fork child=100 \"c\"\n");
		fprintf(s.f, "20 100 mark stamp=1\n");
	}
	c = count(&s);
	assert_int_equal(c.names, CATEGORIES_MAX + 50 + 50);
	assert_int_equal(c.limit, 0);
}

/* They come and go: it is no question of room. */
static void copies_for_children_have_a_limit(void **state)
{
	const unsigned int children = 800;
	struct counted c;
	struct script s;

	(void)state;
	begin(&s, 16384);
	for (unsigned int i = 0; i < children; i++) {
		fprintf(s.f, "20 7 category_name number=1 \"%u\"\n", i);
		fprintf(s.f, "20 7 fork child=100 \"c\"\n");
		fprintf(s.f, "20 100 exit last\n");
	}
	c = count(&s);
	assert_true(c.limit > 100 && c.limit < children);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_inherited_name_is_told_when_it_is_used),
		cmocka_unit_test(a_child_can_name_anew),
		cmocka_unit_test(many_children_share_many_names),
		cmocka_unit_test(names_of_all_together_have_a_limit),
		cmocka_unit_test(a_name_beyond_the_limit_hides_the_inherited_one),
		cmocka_unit_test(room_comes_back),
		cmocka_unit_test(copies_for_children_have_a_limit),
	};

	return RUN(tests);
}
