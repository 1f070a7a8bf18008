// SPDX-License-Identifier: GPL-2.0-only
/* Push levels and the texts they hold. */
#include "harness/test.h"

#include <string.h>

#include "core/stack.h"

static struct open named(struct text *t)
{
	return (struct open){.text = text_get(t)};
}

static void texts_are_shared_and_counted(void **state)
{
	struct text *t = text_new("abc", 3, false, true), *again;

	(void)state;
	assert_non_null(t);
	assert_true(text_same(t, "abc", 3, false, true));
	assert_false(text_same(t, "abd", 3, false, true));
	assert_false(text_same(t, "ab", 2, false, true));
	assert_false(text_same(t, "abc", 3, true, true));
	assert_false(text_same(t, "abc", 3, false, false));
	again = text_get(t);
	assert_ptr_equal(again, t);
	text_put(t);
	assert_int_equal(again->refs, 1);
	text_put(again);
	text_put(NULL);
	assert_null(text_get(NULL));
	t = text_new(NULL, 0, false, false);
	assert_non_null(t);
	assert_true(text_same(t, NULL, 0, false, false));
	text_put(t);
}

static void levels_come_back_in_reverse(void **state)
{
	struct text *t = text_new("x", 1, false, false);
	struct stack s = {0};
	struct open o;

	(void)state;
	assert_null(stack_top(&s));
	for (uint32_t i = 0; i < 100; i++) {
		o = named(t);
		o.id = i;
		assert_ok(stack_push(&s, &o));
	}
	assert_int_equal(s.depth, 100);
	for (uint32_t i = 100; i-- > 50;) {
		assert_int_equal(stack_top(&s)->id, i);
		assert_int_equal(stack_pop(&s, 0, &o), LEVEL_REAL);
		assert_int_equal(o.id, i);
		text_put(o.text);
	}
	assert_int_equal(t->refs, 51);
	stack_free(&s);
	assert_int_equal(t->refs, 1);
	text_put(t);
}

static void unknown_levels_take_no_room_each(void **state)
{
	struct stack s = {0};
	struct open o = {.id = 1};

	(void)state;
	assert_ok(stack_push_unknown(&s, LEVEL_LOST, 0, 0));
	assert_int_equal(s.n, 0);
	assert_ok(stack_push_unknown(&s, LEVEL_LOST, 0, 60000));
	assert_ok(stack_push_unknown(&s, LEVEL_LOST, 0, 5000));
	assert_int_equal(s.n, 1);
	assert_int_equal(s.depth, 65000);
	assert_ok(stack_push(&s, &o));
	assert_ok(stack_push_unknown(&s, LEVEL_LIMIT, 0, 2));
	assert_null(stack_top(&s));
	assert_int_equal(stack_pop(&s, 0, &o), LEVEL_LIMIT);
	assert_int_equal(stack_drop_unknown(&s, 9), 1);
	assert_int_equal(stack_drop_unknown(&s, 9), 0);
	assert_int_equal(stack_pop(&s, 0, &o), LEVEL_REAL);
	assert_int_equal(stack_pop(&s, 0, &o), LEVEL_LOST);
	assert_int_equal(stack_drop_unknown(&s, 64990), 64990);
	assert_int_equal(s.depth, 9);
	stack_free(&s);
}

static void alternating_unknown_levels_are_bounded(void **state)
{
	struct stack s = {0};

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		assert_ok(stack_push_unknown(&s, i % 2 ? LEVEL_LOST : LEVEL_LIMIT, 0, 1));
	assert_int_equal(s.depth, 100000);
	assert_true(s.n <= 4 * STACK_MAX);
	stack_free(&s);
}

static void copies_have_levels_of_their_own(void **state)
{
	struct stack s = {0};
	struct open o;

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		assert_ok(stack_push(&s, &(struct open){.id = i, .copy = 3 + i % 2}));
	assert_ok(stack_push_unknown(&s, LEVEL_LIMIT, 3, 2));
	assert_ok(stack_push_unknown(&s, LEVEL_LIMIT, 4, 1));
	assert_int_equal(s.n, 8); /* not one run: they are of two */
	assert_int_equal(stack_pop(&s, 3, &o), LEVEL_LIMIT);
	assert_int_equal(s.depth, 8);
	assert_int_equal(stack_pop(&s, 9, &o), LEVEL_NONE);
	assert_int_equal(stack_pop(&s, 3, &o), LEVEL_LIMIT);
	assert_int_equal(stack_pop(&s, 3, &o), LEVEL_REAL);
	assert_int_equal(o.id, 4);
	assert_int_equal(stack_pop(&s, 4, &o), LEVEL_LIMIT);
	assert_int_equal(stack_pop(&s, 3, &o), LEVEL_REAL);
	assert_int_equal(o.id, 2);
	assert_int_equal(stack_top(&s)->id, 5);
	assert_int_equal(stack_pop(&s, 4, &o), LEVEL_REAL);
	assert_int_equal(o.id, 5);
	assert_int_equal(s.depth, 3);
	assert_int_equal(s.real, 3);
	assert_int_equal(stack_pop(&s, 0, &o), LEVEL_REAL); /* of which is not known: the last */
	assert_int_equal(o.id, 3);
	stack_free(&s);
	assert_int_equal(stack_pop(&s, 3, &o), LEVEL_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_shared_and_counted),
		cmocka_unit_test(levels_come_back_in_reverse),
		cmocka_unit_test(unknown_levels_take_no_room_each),
		cmocka_unit_test(copies_have_levels_of_their_own),
		cmocka_unit_test(alternating_unknown_levels_are_bounded),
	};

	return RUN(tests);
}
