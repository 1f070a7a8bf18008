/* SPDX-License-Identifier: GPL-2.0-only */
/* Message texts: immutable, exactly as large as needed, shared by reference count. Pure. */
#ifndef ACLTAP_CORE_TEXT_H
#define ACLTAP_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	uint32_t refs;
	uint16_t len;
	bool unreadable; /* the message could not be read (whole) */
	bool cut;	 /* the message was longer */
	char bytes[];	 /* len of them, and a NUL */
};

/* One reference; NULL when out of memory. len is at most 65,535. */
struct text *text_new(const void *bytes, size_t len, bool unreadable, bool cut);
bool text_same(const struct text *t, const void *bytes, size_t len, bool unreadable, bool cut);

/* Another reference to t; NULL is fine. */
static inline struct text *text_get(struct text *t)
{
	if (t)
		t->refs++;
	return t;
}

/* Gives a reference back; NULL is fine. */
void text_put(struct text *t);

#endif
