// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/pack.h"

static void expect_same(const struct span *a, const struct span *b)
{
	assert_true(a->id == b->id && a->parent == b->parent);
	assert_true(a->start_ns == b->start_ns && a->end_ns == b->end_ns);
	assert_true(a->pid == b->pid && a->start_tid == b->start_tid && a->end_tid == b->end_tid);
	assert_true(a->depth == b->depth && a->seq == b->seq && a->category == b->category);
	assert_int_equal(a->payload.type, b->payload.type);
	assert_int_equal(a->payload.len, b->payload.len);
	assert_memory_equal(a->payload.bytes, b->payload.bytes, 8);
	assert_int_equal(a->ret, b->ret);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->status, b->status);
	assert_int_equal(a->has_end, b->has_end);
	assert_int_equal(a->has_ret, b->has_ret);
	assert_int_equal(a->unreadable, b->unreadable);
	assert_int_equal(a->cut, b->cut);
	assert_int_equal(a->name_len, b->name_len);
	if (a->name_len)
		assert_memory_equal(a->name, b->name, a->name_len);
	assert_int_equal(!a->domain, !b->domain);
	if (a->domain)
		assert_string_equal(a->domain, b->domain);
}

#define TAG 0x123456789

/* Packs, reads back, and reads every cut of it from memory of just that size. */
static void round_trip(const struct span *sp)
{
	unsigned char *buf = malloc(PACK_MAX), *exact;
	struct span back;
	uint64_t tag;
	size_t n = pack_span(sp, TAG, buf);

	assert_true(n <= PACK_MAX);
	exact = malloc(n);
	memcpy(exact, buf, n);
	assert_ok(unpack_span(exact, n, &back, &tag));
	expect_same(sp, &back);
	assert_int_equal(tag, TAG);
	free(exact);
	for (size_t cut = 0; cut < n && n < 500; cut++) {
		exact = malloc(cut + !cut);
		memcpy(exact, buf, cut);
		assert_err(unpack_span(exact, cut, &back, &tag), EIO);
		free(exact);
	}
	free(buf);
}

static const struct span everything = {
	.id = 5,
	.parent = 3,
	.start_ns = 1717575960208120114,
	.end_ns = 1717575960208126869,
	.pid = 4194304,
	.start_tid = 20,
	.end_tid = UINT32_MAX,
	.depth = 4096,
	.seq = UINT32_MAX,
	.category = UINT32_MAX,
	.payload = {.type = -1, .len = 8, .bytes = {1, 2, 3, 4, 5, 6, 7, 255}},
	.ret = -1,
	.name = "name\xff",
	.domain = "default",
	.name_len = 5,
	.kind = SPAN_MARKER_EX,
	.status = SPAN_UNCERTAIN,
	.has_end = true,
	.has_ret = true,
	.unreadable = true,
	.cut = true,
};

static void spans_come_back_as_they_were(void **state)
{
	struct span sp = {0};

	(void)state;
	round_trip(&sp);
	round_trip(&everything);
	sp = everything;
	sp.id = 1;
	sp.parent = UINT64_MAX; /* after it, as nothing real is */
	round_trip(&sp);
	sp.start_ns = UINT64_MAX;
	sp.end_ns = 0;
	sp.parent = sp.id;
	sp.domain = "";
	round_trip(&sp);
	sp.payload.type = 0;
	sp.category = 0;
	sp.payload.len = 0;
	memset(sp.payload.bytes, 0, 8);
	sp.has_ret = false;
	sp.ret = 0;
	sp.domain = NULL;
	round_trip(&sp);
}

static void the_longest_texts_fit(void **state)
{
	char *name = malloc(UINT16_MAX), *domain = malloc(10000);
	unsigned char *buf = malloc(PACK_MAX);
	struct span sp = everything, back;
	uint64_t tag;
	size_t n;

	(void)state;
	memset(name, 'n', UINT16_MAX);
	memset(domain, 'd', 9999);
	domain[9999] = '\0';
	sp.name = name;
	sp.name_len = UINT16_MAX;
	sp.domain = domain;
	sp.id = UINT64_MAX;
	n = pack_span(&sp, UINT64_MAX, buf);
	assert_true(n <= PACK_MAX);
	assert_ok(unpack_span(buf, n, &back, &tag));
	assert_int_equal(tag, UINT64_MAX);
	assert_int_equal(strlen(back.domain), PACK_DOMAIN_MAX);
	domain[PACK_DOMAIN_MAX] = '\0';
	expect_same(&sp, &back);
	free(buf);
	free(name);
	free(domain);
}

/* A disk that gives back something else: an error or a span, never a read beyond the bytes. */
static void damage_is_survived(void **state)
{
	unsigned char buf[512], *exact;
	size_t n = pack_span(&everything, TAG, buf);
	struct span back;
	uint64_t tag;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		for (int v = 0; v < 256; v++) {
			exact = malloc(n);
			memcpy(exact, buf, n);
			exact[i] = (unsigned char)v;
			if (!unpack_span(exact, n, &back, &tag) && back.name_len)
				assert_true((unsigned char *)back.name + back.name_len <=
					    exact + n);
			free(exact);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_come_back_as_they_were),
		cmocka_unit_test(the_longest_texts_fit),
		cmocka_unit_test(damage_is_survived),
	};

	return RUN(tests);
}
