/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hash map from u64 keys to non-zero u64 values (0 = absent) or to pointers. Open addressing;
 * grows and shrinks with its content. All zero is an empty map. Pure.
 */
#ifndef ACLTAP_UTIL_MAP_H
#define ACLTAP_UTIL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key, val;
};

struct map {
	struct map_slot *slots; /* cap of them, a power of two */
	size_t cap, n;
	uint64_t mul; /* see hash.h: a large map cannot be made slow by who chooses its keys */
};

/* Sets or replaces; val must not be 0 (-EINVAL). -ENOMEM leaves the map as it was. */
int map_set(struct map *m, uint64_t key, uint64_t val);
/* The value, or 0. */
uint64_t map_get(const struct map *m, uint64_t key);
/* Removes; returns the value it had, or 0. */
uint64_t map_del(struct map *m, uint64_t key);
/* Next entry, in another order each time the program runs; start with *pos = 0. No map_set or
 * map_del meanwhile. */
bool map_next(const struct map *m, size_t *pos, uint64_t *key, uint64_t *val);
/* Forgets everything; what pointers point at stays. The map can be used again. */
void map_free(struct map *m);

static inline int map_set_ptr(struct map *m, uint64_t key, void *p)
{
	return map_set(m, key, (uint64_t)(uintptr_t)p);
}

static inline void *map_get_ptr(const struct map *m, uint64_t key)
{
	return (void *)(uintptr_t)map_get(m, key);
}

#endif
