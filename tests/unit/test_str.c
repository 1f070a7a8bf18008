// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/str.h"

static void text_grows(void **state)
{
	_str_ struct str s = {0};
	char *text;

	(void)state;
	assert_string_equal(str_get(&s), "");
	for (int i = 0; i < 1000; i++)
		str_printf(&s, "%d,", i);
	assert_int_equal(s.len, strlen(str_get(&s)));
	assert_int_equal(s.len, 3890);
	assert_memory_equal(str_get(&s), "0,1,2,", 6);
	assert_string_equal(str_get(&s) + s.len - 8, "998,999,");
	str_putc(&s, '!');
	str_puts(&s, "end");
	str_add(&s, "a\0b", 3);
	assert_int_equal(s.len, 3897);
	assert_memory_equal(str_get(&s) + 3890, "!enda\0b", 8);
	text = str_take(&s);
	assert_non_null(text);
	free(text);
	assert_string_equal(str_get(&s), "");
	assert_int_equal(s.len, 0);
}

static void nothing_is_an_empty_text(void **state)
{
	struct str s = {0};
	char *text;

	(void)state;
	str_add(&s, NULL, 0);
	text = str_take(&s);
	assert_string_equal(text, "");
	free(text);
}

static void errors_stick(void **state)
{
	struct str s = {0};

	(void)state;
	str_puts(&s, "kept");
	str_add(&s, "", (size_t)-1);
	assert_int_equal(s.err, -EOVERFLOW);
	str_puts(&s, "not added");
	assert_string_equal(str_get(&s), "kept");
	assert_null(str_take(&s));
	assert_int_equal(s.err, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_grows),
		cmocka_unit_test(nothing_is_an_empty_text),
		cmocka_unit_test(errors_stick),
	};

	return RUN(tests);
}
