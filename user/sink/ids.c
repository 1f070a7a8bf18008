// SPDX-License-Identifier: GPL-2.0-only
#include "sink/ids.h"

#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

void *ids_at(const struct ids *m, size_t i)
{
	return m->entries + i * m->entry_size;
}

static uint64_t key_at(const struct ids *m, size_t i)
{
	uint64_t key;

	memcpy(&key, ids_at(m, i), sizeof(key));
	return key;
}

/* The slot that holds key, or the free one where it belongs. */
static size_t slot_of(const struct ids *m, uint64_t key)
{
	size_t mask = m->cap * 2 - 1;
	size_t i = (size_t)hash_key(m->mul, key) & mask;

	while (m->slots[i] && key_at(m, m->slots[i] - 1) != key)
		i = (i + 1) & mask;
	return i;
}

void *ids_find(const struct ids *m, uint64_t key)
{
	size_t i;

	if (!m->count)
		return NULL;
	i = slot_of(m, key);
	return m->slots[i] ? ids_at(m, m->slots[i] - 1) : NULL;
}

static int ids_grow(struct ids *m)
{
	size_t cap = m->cap ? m->cap * 2 : 16;
	uint32_t *slots;
	char *entries;

	if (cap > UINT32_MAX / 2)
		return -1;
	entries = realloc(m->entries, cap * m->entry_size);
	if (!entries)
		return -1;
	m->entries = entries;
	slots = calloc(cap * 2, sizeof(*slots));
	if (!slots)
		return -1;
	free(m->slots);
	m->slots = slots;
	m->cap = cap;
	m->mul = hash_mul(cap * 2, slots);
	for (size_t i = 0; i < m->count; i++)
		m->slots[slot_of(m, key_at(m, i))] = (uint32_t)(i + 1);
	return 0;
}

void *ids_get(struct ids *m, uint64_t key)
{
	void *e = ids_find(m, key);

	if (e)
		return e;
	if (m->count == m->cap && ids_grow(m))
		return NULL;
	e = ids_at(m, m->count);
	memset(e, 0, m->entry_size);
	memcpy(e, &key, sizeof(key));
	m->slots[slot_of(m, key)] = (uint32_t)++m->count;
	return e;
}

void ids_free(struct ids *m)
{
	free(m->entries);
	free(m->slots);
	*m = (struct ids){.entry_size = m->entry_size};
}
