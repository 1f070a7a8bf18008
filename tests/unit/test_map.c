// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"
#include "util/map.h"

static void an_empty_map_holds_nothing(void **state)
{
	struct map m = {0};
	uint64_t key, val;
	size_t pos = 0;

	(void)state;
	assert_int_equal(map_get(&m, 0), 0);
	assert_int_equal(map_del(&m, 0), 0);
	assert_false(map_next(&m, &pos, &key, &val));
	map_free(&m);
}

static void zero_is_a_key_but_no_value(void **state)
{
	struct map m = {0};

	(void)state;
	assert_err(map_set(&m, 1, 0), EINVAL);
	assert_ok(map_set(&m, 0, 7));
	assert_ok(map_set(&m, UINT64_MAX, UINT64_MAX));
	assert_int_equal(map_get(&m, 0), 7);
	assert_true(map_get(&m, UINT64_MAX) == UINT64_MAX);
	assert_ok(map_set(&m, 0, 8));
	assert_int_equal(m.n, 2);
	assert_int_equal(map_del(&m, 0), 8);
	assert_int_equal(map_get(&m, 0), 0);
	map_free(&m);
}

/* Against an array, with keys that collide (multiples of large powers of two as well). */
static void behaves_as_an_array_would(void **state)
{
	enum { KEYS = 700 };
	uint64_t truth[KEYS] = {0}, key, val, random = 42;
	struct map m = {0};
	size_t pos, n;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		size_t k = (random >> 33) % KEYS;
		bool shrink = i / 20000 % 2;

		key = k % 2 ? k : k << 48;
		if ((random >> 20) % 4 < (shrink ? 3u : 1u)) {
			assert_true(map_del(&m, key) == truth[k]);
			truth[k] = 0;
		} else {
			assert_ok(map_set(&m, key, random | 1));
			truth[k] = random | 1;
		}
	}
	n = 0;
	for (size_t k = 0; k < KEYS; k++) {
		assert_true(map_get(&m, k % 2 ? k : k << 48) == truth[k]);
		n += truth[k] != 0;
	}
	assert_int_equal(m.n, n);
	for (pos = 0; map_next(&m, &pos, &key, &val); n--)
		assert_true(val == truth[key >> 48 ? key >> 48 : key]);
	assert_int_equal(n, 0);
	map_free(&m);
}

static void gives_memory_back(void **state)
{
	struct map m = {0};

	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		assert_ok(map_set(&m, i, i + 1));
	assert_true(m.cap >= 100000);
	for (uint64_t i = 0; i < 99999; i++)
		assert_int_equal(map_del(&m, i), i + 1);
	assert_true(m.cap <= 256);
	assert_int_equal(map_get(&m, 99999), 100000);
	map_free(&m);
	assert_int_equal(m.cap, 0);
}

/* ---- Keys that somebody chose ------------------------------------------------------------- */

/* The n-th key whose place is 0 in a table of 4096 slots, for who knows no secret. */
static uint64_t next_bad_key(uint64_t key)
{
	do
		key++;
	while (hash_key(HASH_MUL, key) & 4095);
	return key;
}

static size_t longest_run(const struct map *m)
{
	size_t run = 0, longest = 0;

	for (size_t i = 0; i < m->cap; i++) {
		run = m->slots[i].val ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void chosen_keys_do_not_meet(void **state)
{
	enum { KEYS = 10000 };
	struct map m = {0}, other = {0};
	uint64_t key = 0;
	size_t equal = 0;

	(void)state;
	for (int i = 0; i < KEYS; i++) {
		key = next_bad_key(key);
		assert_ok(map_set(&m, key, 1));
		assert_ok(map_set(&other, key, 1));
	}
	assert_true(longest_run(&m) < KEYS / 10);
	assert_true(longest_run(&other) < KEYS / 10);
	/* One table tells nothing about another. */
	for (size_t i = 0; i < m.cap; i++)
		equal += m.slots[i].val && m.slots[i].key == other.slots[i].key;
	assert_true(equal < KEYS / 10);
	map_free(&m);
	map_free(&other);
}

/* High bits alone, low bits alone, as of addresses, both as of PIDs and threads. */
static void usual_keys_do_not_meet(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct map m = {0};

		for (uint64_t i = 1; i <= 50000; i++) {
			const uint64_t keys[] = {i, i << 40, 0x7f0012340000 + (i << 6),
						 (i / 16) << 32 | (1000 + i)};

			assert_ok(map_set(&m, keys[kind], 1));
		}
		assert_true(longest_run(&m) < 5000);
		map_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_holds_nothing),
		cmocka_unit_test(zero_is_a_key_but_no_value),
		cmocka_unit_test(behaves_as_an_array_would),
		cmocka_unit_test(gives_memory_back),
		cmocka_unit_test(chosen_keys_do_not_meet),
		cmocka_unit_test(usual_keys_do_not_meet),
	};

	return RUN(tests);
}
