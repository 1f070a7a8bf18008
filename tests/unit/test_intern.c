// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sink/intern.h"

static void a_text_keeps_its_number(void **state)
{
	struct intern *m;
	char text[32];

	(void)state;
	assert_ok(intern_new(100000, 1 << 20, &m));
	assert_int_equal(intern_find(m, "", 0), 0);
	assert_ok(intern_add(m, "", 0, 7));
	for (int i = 0; i < 5000; i++) {
		int n = snprintf(text, sizeof(text), "name of a range %d", i);

		assert_int_equal(intern_find(m, text, (size_t)n), 0);
		assert_ok(intern_add(m, text, (size_t)n, 1000 + (uint64_t)i));
	}
	for (int i = 0; i < 5000; i++) {
		int n = snprintf(text, sizeof(text), "name of a range %d", i);

		assert_int_equal(intern_find(m, text, (size_t)n), 1000 + i);
		assert_int_not_equal(intern_find(m, text, (size_t)n - 1), 1000 + i);
	}
	assert_int_equal(intern_find(m, "", 0), 7);
	intern_free(m);
}

/* Bytes count, not what a C string would see; a text is no prefix of another. */
static void texts_are_any_bytes(void **state)
{
	struct intern *m;

	(void)state;
	assert_ok(intern_new(10, 100, &m));
	assert_ok(intern_add(m, "a\0b", 3, 1));
	assert_ok(intern_add(m, "a\0c", 3, 2));
	assert_ok(intern_add(m, "a", 1, 3));
	assert_ok(intern_add(m, "a\0\0\0", 4, 4));
	assert_int_equal(intern_find(m, "a\0b", 3), 1);
	assert_int_equal(intern_find(m, "a\0c", 3), 2);
	assert_int_equal(intern_find(m, "a", 1), 3);
	assert_int_equal(intern_find(m, "a\0\0\0", 4), 4);
	assert_int_equal(intern_find(m, "a\0\0", 3), 0);
	intern_free(m);
}

static void it_is_bounded_and_can_be_emptied(void **state)
{
	struct intern *m;

	(void)state;
	assert_err(intern_new(0, 10, &m), EINVAL);
	assert_ok(intern_new(2, 10, &m));
	assert_err(intern_add(m, "eleven long", 11, 1), ENOSPC);
	assert_ok(intern_add(m, "ten is ok ", 10, 1));
	assert_err(intern_add(m, "x", 1, 2), ENOSPC);
	assert_ok(intern_add(m, "", 0, 2));
	assert_err(intern_add(m, "", 0, 3), ENOSPC);
	intern_clear(m);
	assert_int_equal(intern_find(m, "ten is ok ", 10), 0);
	assert_ok(intern_add(m, "a", 1, 4));
	assert_ok(intern_add(m, "b", 1, 5));
	assert_err(intern_add(m, "c", 1, 6), ENOSPC);
	assert_int_equal(intern_find(m, "a", 1), 4);
	intern_free(m);
	intern_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_keeps_its_number),
		cmocka_unit_test(texts_are_any_bytes),
		cmocka_unit_test(it_is_bounded_and_can_be_emptied),
	};

	return RUN(tests);
}
