// SPDX-License-Identifier: GPL-2.0-only
/* To be preloaded: the allocation number NOMEM_AT fails, and so do all after it. */
#include <errno.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t sz);
extern void *__libc_realloc(void *p, size_t n);

static int fails(void)
{
	static long left = -1;
	static int known;

	if (!known) {
		const char *at = getenv("NOMEM_AT");

		known = 1;
		left = at ? atol(at) : 0;
	}
	if (!left)
		return 0;
	if (left > 1) {
		left--;
		return 0;
	}
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n)
{
	return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t sz)
{
	return fails() ? NULL : __libc_calloc(n, sz);
}

void *realloc(void *p, size_t n)
{
	return fails() ? NULL : __libc_realloc(p, n);
}
