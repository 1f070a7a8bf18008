// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <stdlib.h>
#include <string.h>

#include "sink/escape.h"

typedef void (*writer)(struct out *o, const char *s, size_t n);

static void expect_bytes(writer w, const char *in, size_t n, const char *want)
{
	struct out *o;
	const char *got;
	size_t sz;

	assert_ok(out_memory(1 << 20, &o));
	w(o, in, n);
	got = out_data(o, &sz);
	assert_int_equal(sz, strlen(want));
	assert_memory_equal(got, want, sz);
	out_discard(o);
}

static void expect(writer w, const char *in, const char *want)
{
	expect_bytes(w, in, strlen(in), want);
}

static void csv_quotes_exactly_when_needed(void **state)
{
	(void)state;
	expect(out_csv, "", "");
	expect(out_csv, "plain text", "plain text");
	expect(out_csv, "comma, and \"quotes\"", "\"comma, and \"\"quotes\"\"\"");
	expect(out_csv, "a\nb", "\"a\nb\"");
	expect(out_csv, "a\rb", "\"a\rb\"");
	expect(out_csv, "\"", "\"\"\"\"");
	expect(out_csv, "=1+2", "=1+2");
	expect(out_csv, "back\\slash / tab\tend", "back\\slash / tab\tend");
	expect(out_csv, "\001\033[31m", "\001\033[31m");
	expect(out_csv, ",\xff", "\",\xef\xbf\xbd\"");
}

static void json_escapes_controls_and_keeps_utf8(void **state)
{
	(void)state;
	expect(out_json, "", "\"\"");
	expect(out_json, "q\" b\\ /", "\"q\\\" b\\\\ /\"");
	expect(out_json, "\n\t\r\b\f\001\037\177", "\"\\n\\t\\r\\b\\f\\u0001\\u001f\\u007f\"");
	expect(out_json, "\xe4\xb8\xad \xc3\xa9 \xf0\x9f\x98\x80",
	       "\"\xe4\xb8\xad \xc3\xa9 \xf0\x9f\x98\x80\"");
}

static void tsv_never_breaks_a_row(void **state)
{
	(void)state;
	expect(out_tsv, "a\tb\nc\rd\\e\033f\177", "a\\tb\\nc\\rd\\\\e\\x1bf\\x7f");
	expect(out_tsv, "\"quoted\", =1", "\"quoted\", =1");
}

#define FFFD "\xef\xbf\xbd"

static void bad_utf8_is_replaced_by_maximal_parts(void **state)
{
	static const struct {
		const char *in, *want;
	} cases[] = {
		{"a\xff"
		 "b",
		 "a" FFFD "b"},
		{"\x80\x81", FFFD FFFD},
		{"\xc0\xaf", FFFD FFFD},		   /* too long a form */
		{"\xe0\x80\xaf", FFFD FFFD FFFD},	   /* the same, three bytes */
		{"\xed\xa0\x80", FFFD FFFD FFFD},	   /* a surrogate */
		{"\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD}, /* above U+10FFFF */
		{"\xf5\x80", FFFD FFFD},
		{"\xe4\xb8", FFFD}, /* cut inside a character */
		{"\xe4\xb8"
		 "x",
		 FFFD "x"},
		{"\xf0\x9f\x98"
		 "\xe4\xb8\xad",
		 FFFD "\xe4\xb8\xad"},
		{"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"}, /* the last character */
		{"\xc2\x80", "\xc2\x80"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(out_csv, cases[i].in, cases[i].want);
}

/* Every two-byte text stays valid UTF-8, whatever it was. */
static void all_pairs_become_valid_utf8(void **state)
{
	(void)state;
	for (unsigned int a = 1; a < 256; a++) {
		for (unsigned int b = 1; b < 256; b++) {
			char in[2] = {(char)a, (char)b};
			struct out *o;
			const char *got;
			size_t sz, pos = 0;

			assert_ok(out_memory(64, &o));
			out_json(o, in, 2);
			got = out_data(o, &sz);
			while (pos < sz) {
				int n = utf8_length((const unsigned char *)got + pos, sz - pos);

				assert_true(n > 0);
				pos += (size_t)n;
			}
			out_discard(o);
		}
	}
}

static void numbers(void **state)
{
	static const struct {
		uint64_t ns;
		const char *full, *shorter;
	} cases[] = {
		{0, "0.000", "0.0"},
		{1, "0.001", "0.001"},
		{10, "0.010", "0.01"},
		{6755, "6.755", "6.755"},
		{505170, "505.170", "505.17"},
		{10000, "10.000", "10.0"},
		{1717575960208120114u, "1717575960208120.114", "1717575960208120.114"},
		{UINT64_MAX, "18446744073709551.615", "18446744073709551.615"},
	};
	char buf[PUT_USEC_MAX + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		*put_usec(buf, cases[i].ns) = '\0';
		assert_string_equal(buf, cases[i].full);
		*put_usec_short(buf, cases[i].ns) = '\0';
		assert_string_equal(buf, cases[i].shorter);
	}
	*put_u64(buf, UINT64_MAX) = '\0';
	assert_string_equal(buf, "18446744073709551615");
	*put_i64(buf, INT64_MIN) = '\0';
	assert_string_equal(buf, "-9223372036854775808");
	for (uint64_t v = 1; v < UINT64_MAX / 10; v *= 10) {
		*put_u64(buf, v - 1) = '\0';
		assert_int_equal(strtoull(buf, NULL, 10), v - 1);
		*put_u64(buf, v) = '\0';
		assert_int_equal(strtoull(buf, NULL, 10), v);
	}
}

static void unreadable_names_say_so(void **state)
{
	struct span sp = {.name = "abc", .name_len = 3, .unreadable = true};
	struct out *o;
	size_t sz;
	const char *got;

	(void)state;
	assert_ok(out_memory(1024, &o));
	out_span_name(o, &sp, out_csv);
	sp.name_len = 0;
	sp.name = NULL;
	out_span_name(o, &sp, out_csv);
	got = out_data(o, &sz);
	assert_int_equal(sz, strlen("abc<unreadable><unreadable>"));
	assert_memory_equal(got, "abc<unreadable><unreadable>", sz);
	out_discard(o);
}

static void payloads_are_little_endian(void **state)
{
	struct payload p = {.len = 2, .bytes = {0x39, 0x30, 0xff}};

	(void)state;
	assert_int_equal(payload_value(&p), 12345);
	p = (struct payload){.len = 8, .bytes = {255, 255, 255, 255, 255, 255, 255, 255}};
	assert_true(payload_value(&p) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_quotes_exactly_when_needed),
		cmocka_unit_test(json_escapes_controls_and_keeps_utf8),
		cmocka_unit_test(tsv_never_breaks_a_row),
		cmocka_unit_test(bad_utf8_is_replaced_by_maximal_parts),
		cmocka_unit_test(all_pairs_become_valid_utf8),
		cmocka_unit_test(numbers),
		cmocka_unit_test(unreadable_names_say_so),
		cmocka_unit_test(payloads_are_little_endian),
	};

	return RUN(tests);
}
