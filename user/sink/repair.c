// SPDX-License-Identifier: GPL-2.0-only
#include "sink/repair.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sink/escape.h"

static int make_room(struct repair *r, size_t n)
{
	char *p;

	if (n <= r->cap)
		return 0;
	p = realloc(r->buf, n);
	if (!p)
		return -ENOMEM;
	r->buf = p;
	r->cap = n;
	return 0;
}

/* Bytes at the front that are valid. */
static size_t valid_length(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n;
	uint64_t word;

	while (p < end) {
		int len;

		if (end - p >= (ptrdiff_t)sizeof(word)) {
			memcpy(&word, p, sizeof(word));
			if (!(word & 0x8080808080808080u)) {
				p += sizeof(word);
				continue;
			}
		}
		len = utf8_length(p, (size_t)(end - p));
		if (len < 0)
			break;
		p += len;
	}
	return (size_t)(p - (const unsigned char *)s);
}

/* Each byte becomes three at most. Returns the end. */
static char *put_repaired(char *to, const char *s, size_t n)
{
	while (n) {
		size_t good = valid_length(s, n), bad;

		memcpy(to, s, good);
		to += good;
		s += good;
		n -= good;
		if (!n)
			break;
		bad = (size_t)-utf8_length((const unsigned char *)s, n);
		memcpy(to, "\xef\xbf\xbd", 3);
		to += 3;
		s += bad;
		n -= bad;
	}
	return to;
}

int repair_text(struct repair *r, const char **s, size_t *n)
{
	if (valid_length(*s, *n) == *n)
		return 0;
	if (*n > SIZE_MAX / 4 || make_room(r, 3 * *n))
		return -ENOMEM;
	*n = (size_t)(put_repaired(r->buf, *s, *n) - r->buf);
	*s = r->buf;
	return 0;
}

int repair_name(struct repair *r, const struct span *sp, const char **s, size_t *n)
{
	char *end;

	*s = sp->name ? sp->name : "";
	*n = sp->name_len;
	if (!sp->unreadable)
		return repair_text(r, s, n);
	if (make_room(r, 3 * *n + sizeof(UNREADABLE_TEXT)))
		return -ENOMEM;
	end = put_text(put_repaired(r->buf, *s, *n), UNREADABLE_TEXT);
	*s = r->buf;
	*n = (size_t)(end - r->buf);
	return 0;
}

void repair_free(struct repair *r)
{
	free(r->buf);
	*r = (struct repair){0};
}
