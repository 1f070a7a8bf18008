/* SPDX-License-Identifier: GPL-2.0-only */
/* FNV-1a, for keys of struct map: quick, and anybody can make collisions. */
#ifndef ACLTAP_UTIL_HASH_H
#define ACLTAP_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Texts under different seeds are different keys. */
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
