// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <stdbool.h>
#include <stdint.h>

#include "util/grow.h"

static bool no_memory;

/* In place of the C library's. */
void *reallocarray(void *p, size_t n, size_t size)
{
	return no_memory ? NULL : realloc(p, n * size);
}

static void room_doubles_and_nothing_is_lost(void **state)
{
	uint64_t *v = NULL;
	uint32_t n, cap = 0;

	(void)state;
	for (n = 0; n < 1000; n++) {
		assert_ok(grow_table(v, n, cap, 3));
		assert_true(n < cap);
		v[n] = n;
	}
	assert_int_equal(cap, 3 * 512);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(v[i], i);
	free(v);
}

static void without_memory_nothing_changes(void **state)
{
	uint64_t *v = NULL, *before;
	size_t cap = 0;

	(void)state;
	assert_ok(grow_table(v, 0u, cap, 3));
	before = v;
	no_memory = true;
	assert_ok(grow_table(v, 2u, cap, 3)); /* there is room */
	assert_err(grow_table(v, 3u, cap, 3), ENOMEM);
	assert_ptr_equal(v, before);
	assert_int_equal(cap, 3);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_doubles_and_nothing_is_lost),
		cmocka_unit_test(without_memory_nothing_changes),
	};

	return RUN(tests);
}
