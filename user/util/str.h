/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A growing string that is always terminated. The first error (-ENOMEM, -EOVERFLOW) sticks: later
 * calls add nothing, and str_take() or err tells. Pure. Start with a zeroed struct.
 */
#ifndef ACLTAP_UTIL_STR_H
#define ACLTAP_UTIL_STR_H

#include <stddef.h>

struct str {
	char *s; /* NULL until something is added; see str_get() */
	size_t len;
	size_t cap;
	int err;
};

void str_add(struct str *s, const void *p, size_t n);
void str_puts(struct str *s, const char *text);
void str_putc(struct str *s, char c);
void str_printf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The text so far, "" when nothing was added. */
const char *str_get(const struct str *s);

/* Hands the text over (to be freed) and empties s; NULL after an error. */
char *str_take(struct str *s);
void str_free(struct str *s);

#define _str_ __attribute__((cleanup(str_free)))

#endif
