// SPDX-License-Identifier: GPL-2.0-only
#include "core/reservoir.h"

#include <errno.h>
#include <stdlib.h>

/* A counter in odd steps, its bits well mixed: any seed is as good as another. */
static uint64_t draw(struct reservoir *r)
{
	uint64_t x = r->seed += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* One of 0 .. n-1. */
static uint64_t below(struct reservoir *r, uint64_t n)
{
	return (uint64_t)((unsigned __int128)draw(r) * n >> 64);
}

static int append(struct reservoir *r, uint64_t x, size_t max)
{
	if (r->n == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 4;
		uint64_t *v;

		cap = cap < max ? cap : max;
		v = realloc(r->v, cap * sizeof(*v));
		if (!v)
			return -ENOMEM;
		r->v = v;
		r->cap = cap;
	}
	r->v[r->n++] = x;
	return 0;
}

int reservoir_add(struct reservoir *r, uint64_t x, size_t max)
{
	uint64_t at;
	int err;

	if (r->n > max)
		reservoir_shrink(r, max);
	if (r->n == r->seen && r->n < max) {
		err = append(r, x, max);
		r->seen += !err;
		return err;
	}
	at = below(r, ++r->seen);
	if (at < r->n)
		r->v[at] = x;
	return 0;
}

void reservoir_shrink(struct reservoir *r, size_t max)
{
	uint64_t *v;

	if (r->n <= max)
		return;
	/* Where one stands says when it came: those that stay are drawn. */
	for (size_t i = 0; i < max; i++) {
		size_t other = i + (size_t)below(r, r->n - i);
		uint64_t x = r->v[i];

		r->v[i] = r->v[other];
		r->v[other] = x;
	}
	r->n = max;
	v = realloc(r->v, max * sizeof(*v));
	if (v) {
		r->v = v;
		r->cap = max;
	}
}

void reservoir_free(struct reservoir *r)
{
	free(r->v);
	*r = (struct reservoir){0};
}
