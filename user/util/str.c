// SPDX-License-Identifier: GPL-2.0-only
#include "util/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for n more bytes and the terminator. */
static int str_grow(struct str *s, size_t n)
{
	size_t cap = s->cap ? s->cap : 64;
	char *p;

	if (s->err)
		return s->err;
	if (n > SIZE_MAX / 2 - s->len - 1)
		return s->err = -EOVERFLOW;
	while (cap < s->len + n + 1)
		cap *= 2;
	if (cap == s->cap)
		return 0;
	p = realloc(s->s, cap);
	if (!p)
		return s->err = -ENOMEM;
	s->s = p;
	s->cap = cap;
	return 0;
}

void str_add(struct str *s, const void *p, size_t n)
{
	if (str_grow(s, n))
		return;
	if (n)
		memcpy(s->s + s->len, p, n);
	s->len += n;
	s->s[s->len] = '\0';
}

void str_puts(struct str *s, const char *text)
{
	str_add(s, text, strlen(text));
}

void str_putc(struct str *s, char c)
{
	str_add(s, &c, 1);
}

void str_printf(struct str *s, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0) {
		s->err = s->err ? s->err : -EOVERFLOW;
	} else if (!str_grow(s, (size_t)n)) {
		vsnprintf(s->s + s->len, (size_t)n + 1, fmt, again);
		s->len += (size_t)n;
	}
	va_end(again);
	va_end(ap);
}

const char *str_get(const struct str *s)
{
	return s->s ? s->s : "";
}

char *str_take(struct str *s)
{
	char *p = NULL;

	if (!s->err && !str_grow(s, 0)) {
		p = s->s;
		p[s->len] = '\0';
		s->s = NULL;
	}
	str_free(s);
	return p;
}

void str_free(struct str *s)
{
	free(s->s);
	*s = (struct str){0};
}
