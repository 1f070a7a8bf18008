// SPDX-License-Identifier: GPL-2.0-only
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

struct text *text_new(const void *bytes, size_t len, bool unreadable, bool cut)
{
	struct text *t;

	if (len > UINT16_MAX)
		len = UINT16_MAX;
	t = malloc(sizeof(*t) + len + 1);
	if (!t)
		return NULL;
	*t = (struct text){.refs = 1, .len = len, .unreadable = unreadable, .cut = cut};
	if (len)
		memcpy(t->bytes, bytes, len);
	t->bytes[len] = 0;
	return t;
}

bool text_same(const struct text *t, const void *bytes, size_t len, bool unreadable, bool cut)
{
	return t->len == len && t->unreadable == unreadable && t->cut == cut &&
	       (!len || !memcmp(t->bytes, bytes, len));
}

void text_put(struct text *t)
{
	if (t && !--t->refs)
		free(t);
}
