// SPDX-License-Identifier: GPL-2.0-only
#include "sink/html_text.h"

#include <stdbool.h>
#include <stdio.h>

#include "sink/escape.h"

#define LINE 96

/* Code point of a valid character of len bytes. */
static uint32_t code_of(const unsigned char *s, int len)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = s[0] & masks[len];

	for (int i = 1; i < len; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

static bool is_escaped(uint32_t c)
{
	if (c < 0x80)
		return c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&' || c == '"' ||
		       c == '\\';
	return c < 0xa0 || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

int html_string(struct out *o, struct repair *r, const char *s, size_t n)
{
	const unsigned char *p, *end, *plain;
	char code[8];
	int len, err = repair_text(r, &s, &n);

	if (err)
		return err;
	out_char(o, '"');
	plain = p = (const unsigned char *)s;
	for (end = p + n; p < end; p += len) {
		uint32_t c;

		len = utf8_length(p, (size_t)(end - p));
		c = code_of(p, len);
		if (!is_escaped(c))
			continue;
		out_write(o, plain, (size_t)(p - plain));
		plain = p + len;
		snprintf(code, sizeof(code), "\\u%04x", c);
		out_str(o, code);
	}
	out_write(o, plain, (size_t)(end - plain));
	out_char(o, '"');
	return 0;
}

void html_u64(struct out *o, uint64_t v)
{
	bool big = v > 1ull << 53;

	if (big)
		out_char(o, '"');
	out_u64(o, v);
	if (big)
		out_char(o, '"');
}

/* ---- Base64 -------------------------------------------------------------------------------- */

static void put_held(struct html_bytes *b)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t v = (uint32_t)b->held[0] << 16 | (uint32_t)b->held[1] << 8 | b->held[2];
	char text[4];

	for (int i = 0; i < 4; i++)
		text[i] = digits[v >> (18 - 6 * i) & 63];
	for (unsigned int i = b->n_held + 1; i < 4; i++)
		text[i] = '=';
	out_write(b->out, text, sizeof(text));
	b->column += 4;
	if (b->column == LINE) {
		out_char(b->out, '\n');
		b->column = 0;
	}
	b->held[0] = b->held[1] = b->held[2] = 0;
	b->n_held = 0;
}

void html_byte(struct html_bytes *b, unsigned char v)
{
	b->held[b->n_held++] = v;
	if (b->n_held == 3)
		put_held(b);
}

void html_varint(struct html_bytes *b, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		html_byte(b, (unsigned char)(v | 0x80));
	html_byte(b, (unsigned char)v);
}

void html_signed(struct html_bytes *b, int32_t v)
{
	html_varint(b, v < 0 ? ((uint32_t)~v << 1 | 1) : (uint32_t)v << 1);
}

void html_bytes_end(struct html_bytes *b)
{
	if (b->n_held)
		put_held(b);
	if (b->column)
		out_char(b->out, '\n');
	b->column = 0;
}
