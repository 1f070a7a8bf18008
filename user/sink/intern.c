// SPDX-License-Identifier: GPL-2.0-only
#include "sink/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct entry {
	uint64_t hash;
	uint64_t number;
	uint32_t off, len; /* in the texts */
};

struct intern {
	size_t max_texts, max_bytes;
	uint64_t seed;
	struct entry *entries;
	size_t count, cap;
	uint32_t *slots; /* entry number + 1, 0 = free; twice as many as entries */
	char *texts;
	size_t used, size;
};

int intern_new(size_t max_texts, size_t max_bytes, struct intern **out)
{
	struct intern *m;

	if (!max_texts || max_texts > UINT32_MAX / 2 || max_bytes > UINT32_MAX / 2)
		return -EINVAL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->max_texts = max_texts;
	m->max_bytes = max_bytes;
	/* Names are chosen by others: with a secret seed they cannot all be made to collide. */
	if (getrandom(&m->seed, sizeof(m->seed), GRND_NONBLOCK) != sizeof(m->seed))
		m->seed = (uintptr_t)m;
	*out = m;
	return 0;
}

static uint64_t mix(uint64_t h)
{
	h *= 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

static uint64_t hash_of(const struct intern *m, const char *s, size_t n)
{
	uint64_t h = m->seed ^ n, word;

	for (; n >= sizeof(word); n -= sizeof(word), s += sizeof(word)) {
		memcpy(&word, s, sizeof(word));
		h = mix(h ^ word);
	}
	word = 0;
	if (n)
		memcpy(&word, s, n);
	return mix(mix(h ^ word));
}

static size_t slot_of(const struct intern *m, uint64_t hash, const char *s, size_t n)
{
	size_t mask = m->cap * 2 - 1, i = hash & mask;

	for (; m->slots[i]; i = (i + 1) & mask) {
		const struct entry *e = &m->entries[m->slots[i] - 1];

		if (e->hash == hash && e->len == n && (!n || !memcmp(m->texts + e->off, s, n)))
			break;
	}
	return i;
}

uint64_t intern_find(const struct intern *m, const char *s, size_t n)
{
	size_t i;

	if (!m->count)
		return 0;
	i = slot_of(m, hash_of(m, s, n), s, n);
	return m->slots[i] ? m->entries[m->slots[i] - 1].number : 0;
}

static void fill_slots(struct intern *m)
{
	size_t mask = m->cap * 2 - 1;

	memset(m->slots, 0, m->cap * 2 * sizeof(*m->slots));
	for (size_t k = 0; k < m->count; k++) {
		size_t i = m->entries[k].hash & mask;

		while (m->slots[i])
			i = (i + 1) & mask;
		m->slots[i] = (uint32_t)(k + 1);
	}
}

static int grow_entries(struct intern *m)
{
	size_t cap = m->cap ? m->cap * 2 : 64;
	struct entry *entries = realloc(m->entries, cap * sizeof(*entries));
	uint32_t *slots;

	if (!entries)
		return -ENOMEM;
	m->entries = entries;
	slots = realloc(m->slots, cap * 2 * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	m->slots = slots;
	m->cap = cap;
	fill_slots(m);
	return 0;
}

static int grow_texts(struct intern *m, size_t need)
{
	size_t size = m->size ? m->size : 4096;
	char *p;

	while (size < need)
		size *= 2;
	if (size > m->max_bytes)
		size = m->max_bytes;
	p = realloc(m->texts, size);
	if (!p)
		return -ENOMEM;
	m->texts = p;
	m->size = size;
	return 0;
}

int intern_add(struct intern *m, const char *s, size_t n, uint64_t number)
{
	uint64_t hash;

	if (m->count == m->max_texts || n > m->max_bytes - m->used)
		return -ENOSPC;
	if (m->count == m->cap && grow_entries(m))
		return -ENOMEM;
	if (m->used + n > m->size && grow_texts(m, m->used + n))
		return -ENOMEM;
	hash = hash_of(m, s, n);
	if (n)
		memcpy(m->texts + m->used, s, n);
	m->entries[m->count] = (struct entry){hash, number, (uint32_t)m->used, (uint32_t)n};
	m->slots[slot_of(m, hash, s, n)] = (uint32_t)++m->count;
	m->used += n;
	return 0;
}

void intern_clear(struct intern *m)
{
	m->count = m->used = 0;
	if (m->cap)
		memset(m->slots, 0, m->cap * 2 * sizeof(*m->slots));
}

void intern_free(struct intern *m)
{
	if (!m)
		return;
	free(m->entries);
	free(m->slots);
	free(m->texts);
	free(m);
}
