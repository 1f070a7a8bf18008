// SPDX-License-Identifier: GPL-2.0-only
#include "sink/escape.h"

#include <stdbool.h>
#include <string.h>

#include "wire.h"

static const char digit_pairs[] = "0001020304050607080910111213141516171819"
				  "2021222324252627282930313233343536373839"
				  "4041424344454647484950515253545556575859"
				  "6061626364656667686970717273747576777879"
				  "8081828384858687888990919293949596979899";

char *put_u64(char *p, uint64_t v)
{
	char buf[PUT_U64_MAX];
	char *q = buf + sizeof(buf);
	size_t n;

	while (v >= 100) {
		q -= 2;
		memcpy(q, digit_pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		q -= 2;
		memcpy(q, digit_pairs + v * 2, 2);
	} else {
		*--q = (char)('0' + v);
	}
	n = (size_t)(buf + sizeof(buf) - q);
	memcpy(p, q, n);
	return p + n;
}

char *put_i64(char *p, int64_t v)
{
	if (v >= 0)
		return put_u64(p, (uint64_t)v);
	*p++ = '-';
	return put_u64(p, -(uint64_t)v);
}

char *put_usec(char *p, uint64_t ns)
{
	unsigned int frac = (unsigned int)(ns % 1000);

	p = put_u64(p, ns / 1000);
	*p++ = '.';
	*p++ = (char)('0' + frac / 100);
	memcpy(p, digit_pairs + frac % 100 * 2, 2);
	return p + 2;
}

char *put_usec_short(char *p, uint64_t ns)
{
	p = put_usec(p, ns);
	for (int i = 0; i < 2 && p[-1] == '0'; i++)
		p--;
	return p;
}

char *put_text(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

int utf8_length(const unsigned char *s, size_t n)
{
	unsigned char c = s[0], low = 0x80, high = 0xbf;
	int more;

	if (c < 0x80)
		return 1;
	if (c < 0xc2 || c > 0xf4)
		return -1;
	more = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	/* Too long forms, surrogates and what is above U+10FFFF show in the second byte. */
	if (c == 0xe0)
		low = 0xa0;
	else if (c == 0xed)
		high = 0x9f;
	else if (c == 0xf0)
		low = 0x90;
	else if (c == 0xf4)
		high = 0x8f;
	for (int i = 1; i <= more; i++) {
		if ((size_t)i >= n || s[i] < low || s[i] > high)
			return -i;
		low = 0x80;
		high = 0xbf;
	}
	return more + 1;
}

/* What a form does with a byte. */
enum { KEEP, ESCAPE, CHECK /* not ASCII */ };

struct form {
	unsigned char action[256];
	void (*escape)(struct out *o, unsigned char c);
};

static void write_text(struct out *o, const char *s, size_t n, const struct form *f)
{
	const unsigned char *p = (const unsigned char *)s, *end = p + n, *kept = p;

	while (p < end) {
		int len;

		if (f->action[*p] == KEEP) {
			p++;
			continue;
		}
		if (f->action[*p] == CHECK) {
			len = utf8_length(p, (size_t)(end - p));
			if (len > 0) {
				p += len;
				continue;
			}
			out_write(o, kept, (size_t)(p - kept));
			out_write(o, "\xef\xbf\xbd", 3);
			p -= len;
		} else {
			out_write(o, kept, (size_t)(p - kept));
			f->escape(o, *p++);
		}
		kept = p;
	}
	out_write(o, kept, (size_t)(end - kept));
}

static void escape_csv(struct out *o, unsigned char c)
{
	(void)c;
	out_write(o, "\"\"", 2);
}

/* Inside quotes only the quote itself is doubled. */
static const struct form form_csv = {
	.action = {['"'] = ESCAPE, [0x80 ... 0xff] = CHECK},
	.escape = escape_csv,
};

void out_csv(struct out *o, const char *s, size_t n)
{
	static const bool special[256] = {['"'] = 1, [','] = 1, ['\n'] = 1, ['\r'] = 1};
	bool quoted = false;

	for (size_t i = 0; i < n && !quoted; i++)
		quoted = special[(unsigned char)s[i]];
	if (quoted)
		out_char(o, '"');
	write_text(o, s, n, &form_csv);
	if (quoted)
		out_char(o, '"');
}

static const char hex[] = "0123456789abcdef";

static void escape_json(struct out *o, unsigned char c)
{
	static const char letters[256] = {
		['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
		['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
	};
	char text[6] = {'\\', letters[c]};

	if (text[1]) {
		out_write(o, text, 2);
		return;
	}
	memcpy(text, "\\u00", 4);
	text[4] = hex[c >> 4];
	text[5] = hex[c & 15];
	out_write(o, text, 6);
}

static const struct form form_json = {
	.action = {[0 ... 0x1f] = ESCAPE,
		   ['"'] = ESCAPE,
		   ['\\'] = ESCAPE,
		   [0x7f] = ESCAPE,
		   [0x80 ... 0xff] = CHECK},
	.escape = escape_json,
};

void out_json(struct out *o, const char *s, size_t n)
{
	out_char(o, '"');
	write_text(o, s, n, &form_json);
	out_char(o, '"');
}

static void escape_tsv(struct out *o, unsigned char c)
{
	static const char letters[256] = {
		['\\'] = '\\',
		['\n'] = 'n',
		['\r'] = 'r',
		['\t'] = 't',
	};
	char text[4] = {'\\', letters[c]};

	if (text[1]) {
		out_write(o, text, 2);
		return;
	}
	text[1] = 'x';
	text[2] = hex[c >> 4];
	text[3] = hex[c & 15];
	out_write(o, text, 4);
}

static const struct form form_tsv = {
	.action =
		{[0 ... 0x1f] = ESCAPE, ['\\'] = ESCAPE, [0x7f] = ESCAPE, [0x80 ... 0xff] = CHECK},
	.escape = escape_tsv,
};

void out_tsv(struct out *o, const char *s, size_t n)
{
	write_text(o, s, n, &form_tsv);
}

void out_span_name(struct out *o, const struct span *sp, text_writer writer)
{
	char text[WIRE_MSG_MAX + sizeof(UNREADABLE_TEXT)];
	size_t n = sp->name_len;

	if (!sp->unreadable) {
		writer(o, sp->name, n);
		return;
	}
	if (n > WIRE_MSG_MAX)
		n = WIRE_MSG_MAX;
	if (n)
		memcpy(text, sp->name, n);
	memcpy(text + n, UNREADABLE_TEXT, sizeof(UNREADABLE_TEXT));
	writer(o, text, n + strlen(UNREADABLE_TEXT));
}

uint64_t payload_value(const struct payload *p)
{
	uint64_t v = 0;

	for (int i = 0; i < p->len && i < 8; i++)
		v |= (uint64_t)p->bytes[i] << (8 * i);
	return v;
}
