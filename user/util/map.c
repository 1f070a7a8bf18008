// SPDX-License-Identifier: GPL-2.0-only
#include "util/map.h"

#include <errno.h>
#include <stdlib.h>

#include "util/hash.h"

#define MAP_MIN 16

/* The slot of key, or the empty one where it belongs. */
static size_t map_find(const struct map *m, uint64_t key)
{
	size_t i = (size_t)hash_key(m->mul, key) & (m->cap - 1);

	while (m->slots[i].val && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static int map_resize(struct map *m, size_t cap)
{
	struct map bigger = {.slots = calloc(cap, sizeof(*m->slots)), .cap = cap, .n = m->n};

	if (!bigger.slots)
		return -ENOMEM;
	bigger.mul = hash_mul(cap, bigger.slots);
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].val)
			bigger.slots[map_find(&bigger, m->slots[i].key)] = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

int map_set(struct map *m, uint64_t key, uint64_t val)
{
	size_t i;

	if (!val)
		return -EINVAL;
	if (m->n + 1 > m->cap / 4 * 3) {
		int err = map_resize(m, m->cap ? m->cap * 2 : MAP_MIN);

		if (err)
			return err;
	}
	i = map_find(m, key);
	m->n += !m->slots[i].val;
	m->slots[i] = (struct map_slot){key, val};
	return 0;
}

uint64_t map_get(const struct map *m, uint64_t key)
{
	return m->n ? m->slots[map_find(m, key)].val : 0;
}

/* Moves later entries of the same cluster into the hole, so that no tombstones are needed. */
static void map_close_hole(struct map *m, size_t hole)
{
	size_t mask = m->cap - 1;

	for (size_t i = (hole + 1) & mask; m->slots[i].val; i = (i + 1) & mask) {
		size_t home = (size_t)hash_key(m->mul, m->slots[i].key) & mask;

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->slots[hole].val = 0;
}

uint64_t map_del(struct map *m, uint64_t key)
{
	uint64_t old;
	size_t i;

	if (!m->n)
		return 0;
	i = map_find(m, key);
	old = m->slots[i].val;
	if (!old)
		return 0;
	map_close_hole(m, i);
	m->n--;
	/* Without memory for a smaller table the large one serves as well. */
	if (m->cap > 4 * MAP_MIN && m->n < m->cap / 8)
		(void)map_resize(m, m->cap / 4);
	return old;
}

bool map_next(const struct map *m, size_t *pos, uint64_t *key, uint64_t *val)
{
	for (; *pos < m->cap; ++*pos) {
		const struct map_slot *s = &m->slots[*pos];

		if (!s->val)
			continue;
		*key = s->key;
		*val = s->val;
		++*pos;
		return true;
	}
	return false;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}
