/* SPDX-License-Identifier: GPL-2.0-only */
/* For tables: places of keys, and keys of texts. */
#ifndef ACLTAP_UTIL_HASH_H
#define ACLTAP_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The multiplier of tables so small that it does not matter who can make keys collide. */
#define HASH_MUL 0x9e3779b97f4a7c15u
/* Slots from which on a table has a secret multiplier of its own. */
#define HASH_SMALL 4096

/* Every bit of key reaches the low ones; which keys meet there, only who knows mul can tell. */
static inline uint64_t hash_key(uint64_t mul, uint64_t key)
{
	key *= mul;
	key = (key ^ key >> 32) * HASH_MUL;
	return key ^ key >> 29;
}

/*
 * The multiplier of a table of so many slots that are at table. Where that is changes with each
 * table and each run and is nowhere written, so that whoever makes a capture cannot know it.
 */
static inline uint64_t hash_mul(size_t slots, const void *table)
{
	uint64_t secret = (uintptr_t)table * HASH_MUL;

	return slots < HASH_SMALL ? HASH_MUL : (secret ^ secret >> 32) * HASH_MUL | 1;
}

/* FNV-1a: quick, and anybody can make collisions. Texts under different seeds are other keys. */
static inline uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = 0xcbf29ce484222325u ^ seed;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}

static inline uint64_t hash_str(const char *s)
{
	return hash_bytes(0, s, strlen(s));
}

#endif
