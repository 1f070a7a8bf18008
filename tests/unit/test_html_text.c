// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <stdlib.h>
#include <string.h>

#include "sink/html_text.h"

static struct out *memory(void)
{
	struct out *o;

	assert_ok(out_memory(1 << 20, &o));
	return o;
}

static void expect_out(struct out *o, const char *want)
{
	size_t sz;
	const char *got = out_data(o, &sz);

	assert_int_equal(sz, strlen(want));
	assert_memory_equal(got, want, sz);
	out_discard(o);
}

/* From memory of just that size, so that reading beyond it is seen. */
static void expect_text(const char *in, size_t n, const char *want)
{
	struct repair r = {0};
	struct out *o = memory();
	char *exact = malloc(n + !n);

	memcpy(exact, in, n);
	assert_ok(html_string(o, &r, exact, n));
	expect_out(o, want);
	repair_free(&r);
	free(exact);
}

#define STRING(in, want) expect_text(in, sizeof(in) - 1, want)

static void no_text_can_end_its_element(void **state)
{
	(void)state;
	STRING("", "\"\"");
	STRING("plain / text's", "\"plain / text's\"");
	STRING("</script><!--&amp;-->", "\"\\u003c/script\\u003e\\u003c!--\\u0026amp;--\\u003e\"");
	STRING("a\"b\\c", "\"a\\u0022b\\u005cc\"");
	STRING("\0\n\r\t\x1b\x7f", "\"\\u0000\\u000a\\u000d\\u0009\\u001b\\u007f\"");
}

static void what_cannot_be_seen_is_escaped(void **state)
{
	(void)state;
	STRING("\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\"");		 /* separators */
	STRING("a\xe2\x80\xae\xe2\x81\xa6z", "\"a\\u202e\\u2066z\"");		 /* directions */
	STRING("\xd8\x9c\xe2\x80\x8b\xef\xbb\xbf", "\"\\u061c\\u200b\\ufeff\""); /* no width */
	STRING("\xc2\x85\xc2\x9b\xc2\xad", "\"\\u0085\\u009b\\u00ad\""); /* C1, soft hyphen */
}

static void other_characters_stay(void **state)
{
	(void)state;
	STRING("\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", "\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\"");
	STRING("\xd7\x90\xe2\x80\xa6", "\"\xd7\x90\xe2\x80\xa6\"");
}

static void what_is_no_utf8_is_replaced(void **state)
{
	(void)state;
	STRING("\xff\xfe", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	STRING("a\xe4\xb8", "\"a\xef\xbf\xbd\"");
	STRING("\xc0\xbcscript>", "\"\xef\xbf\xbd\xef\xbf\xbdscript\\u003e\""); /* overlong < */
	STRING("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");	/* surrogate */
}

static void numbers_that_javascript_cannot_hold_are_texts(void **state)
{
	struct out *o = memory();

	(void)state;
	html_u64(o, 0);
	out_char(o, ' ');
	html_u64(o, 1ull << 53);
	out_char(o, ' ');
	html_u64(o, (1ull << 53) + 1);
	out_char(o, ' ');
	html_u64(o, UINT64_MAX);
	expect_out(o, "0 9007199254740992 \"9007199254740993\" \"18446744073709551615\"");
}

static void expect_base64(const char *bytes, const char *want)
{
	struct out *o = memory();
	struct html_bytes b = {.out = o};

	for (; *bytes; bytes++)
		html_byte(&b, (unsigned char)*bytes);
	html_bytes_end(&b);
	expect_out(o, want);
}

/* The examples of RFC 4648. */
static void bytes_are_base64(void **state)
{
	(void)state;
	expect_base64("", "");
	expect_base64("f", "Zg==\n");
	expect_base64("fo", "Zm8=\n");
	expect_base64("foo", "Zm9v\n");
	expect_base64("foob", "Zm9vYg==\n");
	expect_base64("fooba", "Zm9vYmE=\n");
	expect_base64("foobar", "Zm9vYmFy\n");
	expect_base64("\xfb\xff\xbf", "+/+/\n");
}

static void long_data_has_lines(void **state)
{
	struct out *o = memory();
	struct html_bytes b = {.out = o};
	const char *text;
	size_t sz;

	(void)state;
	for (int i = 0; i < 150; i++)
		html_byte(&b, 0);
	html_bytes_end(&b);
	text = out_data(o, &sz);
	assert_int_equal(sz, 200 + 3);
	assert_int_equal(text[96], '\n');
	assert_int_equal(text[193], '\n');
	assert_int_equal(text[202], '\n');
	out_discard(o);
}

static void expect_varint(uint64_t v, const char *want)
{
	struct out *o = memory();
	struct html_bytes b = {.out = o};

	html_varint(&b, v);
	html_bytes_end(&b);
	expect_out(o, want);
}

static void expect_signed(int32_t v, const char *want)
{
	struct out *o = memory();
	struct html_bytes b = {.out = o};

	html_signed(&b, v);
	html_bytes_end(&b);
	expect_out(o, want);
}

static void varints_are_seven_bits_a_byte(void **state)
{
	(void)state;
	expect_varint(0, "AA==\n");			 /* 00 */
	expect_varint(127, "fw==\n");			 /* 7f */
	expect_varint(128, "gAE=\n");			 /* 80 01 */
	expect_varint(UINT64_MAX, "////////////AQ==\n"); /* nine times ff, 01 */
	expect_signed(0, "AA==\n");
	expect_signed(-1, "AQ==\n");
	expect_signed(1, "Ag==\n");
	expect_signed(INT32_MIN, "/////w8=\n"); /* 2^32 - 1 */
	expect_signed(INT32_MAX, "/v///w8=\n"); /* 2^32 - 2 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_text_can_end_its_element),
		cmocka_unit_test(what_cannot_be_seen_is_escaped),
		cmocka_unit_test(other_characters_stay),
		cmocka_unit_test(what_is_no_utf8_is_replaced),
		cmocka_unit_test(numbers_that_javascript_cannot_hold_are_texts),
		cmocka_unit_test(bytes_are_base64),
		cmocka_unit_test(long_data_has_lines),
		cmocka_unit_test(varints_are_seven_bits_a_byte),
	};

	return RUN(tests);
}
