// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <string.h>

#include "sink/repair.h"

static void expect(struct repair *r, const char *in, const char *want)
{
	const char *s = in;
	size_t n = strlen(in);

	assert_ok(repair_text(r, &s, &n));
	assert_int_equal(n, strlen(want));
	assert_memory_equal(s, want, n);
	if (!strcmp(in, want))
		assert_ptr_equal(s, in);
}

static void what_is_no_utf8_is_replaced(void **state)
{
	struct repair r = {0};

	(void)state;
	expect(&r, "", "");
	expect(&r, "plain and longer than a word", "plain and longer than a word");
	expect(&r, "seven b\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80",
	       "seven b\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80");
	expect(&r, "\xff", "\xef\xbf\xbd");
	expect(&r, "\xff\xff\xff\xff", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	expect(&r, "01234567\x80z", "01234567\xef\xbf\xbdz");
	expect(&r, "cut \xe4\xb8", "cut \xef\xbf\xbd");
	expect(&r, "a\xed\xa0\x80z", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
	expect(&r, "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");
	repair_free(&r);
	repair_free(&r);
}

static void what_was_not_read_is_told_from_what_was(void **state)
{
	struct span sp = {.name = "got\xe4", .name_len = 4, .unreadable = true};
	struct repair r = {0};
	const char *s;
	size_t n;

	(void)state;
	assert_ok(repair_name(&r, &sp, &s, &n));
	assert_int_equal(n, strlen("got\xef\xbf\xbd<unreadable>"));
	assert_memory_equal(s, "got\xef\xbf\xbd<unreadable>", n);
	sp.name_len = 0;
	assert_ok(repair_name(&r, &sp, &s, &n));
	assert_int_equal(n, strlen("<unreadable>"));
	sp.unreadable = false;
	sp.name = NULL;
	assert_ok(repair_name(&r, &sp, &s, &n));
	assert_int_equal(n, 0);
	repair_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_utf8_is_replaced),
		cmocka_unit_test(what_was_not_read_is_told_from_what_was),
	};

	return RUN(tests);
}
