// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/decode.h"
#include "core/entry.h"

static struct wire header(__u8 kind, __u16 msg_len)
{
	return (struct wire){
		.kind = kind, .msg_len = msg_len, .len = (__u16)(sizeof(struct wire) + msg_len)};
}

/* A heap copy of exactly sz bytes, so that a byte too many is seen; off it is not aligned. */
static int decode_copy(const void *rec, size_t sz, size_t off)
{
	char *copy = malloc(sz + off + 1);
	struct event ev;
	struct wire w;
	int err;

	assert_non_null(copy);
	memcpy(copy + off, rec, sz);
	copy = realloc(copy, sz + off ? sz + off : 1);
	assert_non_null(copy);
	err = decode(copy + off, sz, &w, &ev);
	free(copy);
	return err;
}

static void every_length_from_nothing_on(void **state)
{
	struct {
		struct wire w;
		char msg[300];
	} rec = {.w = header(WIRE_CALL, 5)};

	(void)state;
	for (size_t sz = 0; sz < sizeof(rec); sz++)
		for (size_t off = 0; off < 3; off++)
			assert_int_equal(decode_copy(&rec, sz, off),
					 sz < sizeof(struct wire) + 5 ? -EBADMSG : 0);
}

static void lengths_must_agree(void **state)
{
	struct {
		struct wire w;
		char msg[64];
	} rec = {.w = header(WIRE_CALL, 5)};

	(void)state;
	rec.w.len++;
	assert_err(decode_copy(&rec, sizeof(rec), 0), EBADMSG);
	rec.w.len -= 2;
	assert_err(decode_copy(&rec, sizeof(rec), 0), EBADMSG);
	rec.w = header(WIRE_CALL, 65535);
	assert_err(decode_copy(&rec, sizeof(rec), 0), EBADMSG);
	rec.w.len = 0;
	assert_err(decode_copy(&rec, sizeof(rec), 0), EBADMSG);
}

static void times_that_a_clock_can_show(void **state)
{
	struct wire w = header(WIRE_CALL, 0);

	(void)state;
	w.time_ns = INT64_MAX;
	assert_int_equal(decode_copy(&w, sizeof(w), 0), 0);
	w.time_ns++;
	assert_err(decode_copy(&w, sizeof(w), 0), EBADMSG);
	w.time_ns = UINT64_MAX;
	assert_err(decode_copy(&w, sizeof(w), 0), EBADMSG);
}

static void kinds_and_functions_that_exist(void **state)
{
	static const __u8 known[] = {1, 2, 3, 4, 5, 6, 16, 17, 18, 19, 20, 21};
	struct {
		struct wire w;
		char msg[64];
	} rec;

	(void)state;
	for (unsigned int kind = 0; kind < 256; kind++) {
		rec.w = header((__u8)kind, 64);
		rec.w.arg0 = 9;
		assert_int_equal(decode_copy(&rec, sizeof(rec), 0),
				 memchr(known, (int)kind, sizeof(known)) ? 0 : -EBADMSG);
	}
	for (unsigned int func = 0; func < 256; func++) {
		rec.w = header(WIRE_RETURN, 0);
		rec.w.func = (__u8)func;
		assert_int_equal(decode_copy(&rec, sizeof(rec), 0),
				 func < entry_count() ? 0 : -EBADMSG);
	}
}

static void payloads_that_must_be_there(void **state)
{
	struct {
		struct wire w;
		char msg[64];
	} rec = {.w = header(WIRE_CLOCK, 7)};

	(void)state;
	assert_err(decode_copy(&rec, sizeof(rec), 0), EBADMSG);
	rec.w = header(WIRE_CLOCK, 8);
	assert_ok(decode_copy(&rec, sizeof(rec), 0));
	rec.w = header(WIRE_COUNT, sizeof(struct wire_count) - 1);
	assert_err(decode_copy(&rec, sizeof(rec), 0), EBADMSG);
	rec.w = header(WIRE_COUNT, sizeof(struct wire_count));
	assert_ok(decode_copy(&rec, sizeof(rec), 0));
	rec.w = header(WIRE_FORK, 0);
	assert_err(decode_copy(&rec, sizeof(rec), 0), EBADMSG);
	rec.w.arg0 = 1ull << 32;
	assert_err(decode_copy(&rec, sizeof(rec), 0), EBADMSG);
	rec.w.arg0 = UINT32_MAX;
	assert_ok(decode_copy(&rec, sizeof(rec), 0));
	rec.w.tgid = UINT32_MAX; /* its own child */
	assert_err(decode_copy(&rec, sizeof(rec), 0), EBADMSG);
}

static struct message text(const char *bytes, size_t n, __u16 flags)
{
	struct wire w = header(WIRE_CALL, (__u16)n);
	const struct event ev = {.w = &w, .msg = bytes};

	w.flags = flags;
	return decode_text(&ev);
}

static void a_text_ends_at_nul_or_limit(void **state)
{
	const __u16 both = WIRE_F_UNREADABLE | WIRE_F_CUT;
	char bytes[400];
	struct message m;

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	m = text(bytes, 3, both);
	assert_int_equal(m.len, 3);
	assert_true(m.unreadable && m.cut);
	bytes[2] = 0;
	m = text(bytes, 3, both);
	assert_int_equal(m.len, 2);
	assert_false(m.unreadable || m.cut);
	bytes[2] = 'x';
	m = text(bytes, 255, 0);
	assert_int_equal(m.len, 255);
	assert_false(m.cut);
	m = text(bytes, 256, 0);
	assert_int_equal(m.len, 255);
	assert_true(m.cut);
	bytes[255] = 0;
	m = text(bytes, 300, WIRE_F_CUT);
	assert_int_equal(m.len, 255);
	assert_false(m.cut);
	m = text(bytes, 0, 0);
	assert_int_equal(m.len, 0);
}

static void range_ids_are_of_a_copy(void **state)
{
	const struct wire stop = {.kind = WIRE_CALL, .arg0 = 0xffffffff00000007, .arg1 = 3};
	const struct wire started = {.kind = WIRE_RETURN, .arg0 = 3ull << 32, .arg1 = 7};

	(void)state;
	assert_int_equal(decode_range_id(&stop), 3ull << 32 | 7); /* the program passes 32 bits */
	assert_int_equal(decode_range_id(&started), 3ull << 32 | 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length_from_nothing_on),
		cmocka_unit_test(lengths_must_agree),
		cmocka_unit_test(times_that_a_clock_can_show),
		cmocka_unit_test(kinds_and_functions_that_exist),
		cmocka_unit_test(payloads_that_must_be_there),
		cmocka_unit_test(a_text_ends_at_nul_or_limit),
		cmocka_unit_test(range_ids_are_of_a_copy),
	};

	return RUN(tests);
}
