// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include "sink/ids.h"
#include "util/hash.h"

struct pair {
	uint64_t key, val;
};

static void entries_stay_in_order(void **state)
{
	struct ids m = IDS_OF(struct pair);

	(void)state;
	assert_null(ids_find(&m, 0));
	for (uint64_t i = 0; i < 20000; i++) {
		struct pair *p = ids_get(&m, i << 32 | 7);

		assert_non_null(p);
		assert_int_equal(p->val, 0);
		p->val = i + 1;
	}
	assert_int_equal(m.count, 20000);
	for (uint64_t i = 0; i < 20000; i++) {
		const struct pair *p = ids_at(&m, i);

		assert_true(p->key == (i << 32 | 7) && p->val == i + 1);
		assert_ptr_equal(ids_find(&m, p->key), p);
		assert_ptr_equal(ids_get(&m, p->key), p);
	}
	assert_null(ids_find(&m, 7ull << 32));
	ids_free(&m);
	assert_null(ids_find(&m, 7));
}

/* Of those that share a place for who does not know the secret of the table. */
static void chosen_keys_do_not_meet(void **state)
{
	struct ids m = IDS_OF(struct pair);
	size_t run = 0, longest = 0;
	uint64_t key = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		do
			key++;
		while (hash_key(HASH_MUL, key) & 4095);
		assert_non_null(ids_get(&m, key));
	}
	for (size_t i = 0; i < 2 * m.cap; i++) {
		run = m.slots[i] ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	assert_true(longest < 1000);
	ids_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_stay_in_order),
		cmocka_unit_test(chosen_keys_do_not_meet),
	};

	return RUN(tests);
}
