// SPDX-License-Identifier: GPL-2.0-only
#include "discover/maps.h"

#include <string.h>

struct cursor {
	const char *p, *end;
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* A number of the given base up to max; false when there is none or it is too large. */
static bool take_number(struct cursor *c, unsigned int base, uint64_t max, uint64_t *out)
{
	const char *first = c->p;
	uint64_t v = 0;

	for (; c->p < c->end; c->p++) {
		int d = hex_digit(*c->p);

		if (d < 0 || (unsigned int)d >= base)
			break;
		if (v > (max - d) / base)
			return false;
		v = v * base + d;
	}
	*out = v;
	return c->p > first;
}

static bool take_char(struct cursor *c, char want)
{
	if (c->p == c->end || *c->p != want)
		return false;
	c->p++;
	return true;
}

/* One letter of the permissions: yes or no, nothing else. */
static bool take_flag(struct cursor *c, char yes, char no, bool *out)
{
	*out = c->p < c->end && *c->p == yes;
	return take_char(c, *out ? yes : no);
}

static bool take_perms(struct cursor *c, struct mapping *m)
{
	return take_flag(c, 'r', '-', &m->read) && take_flag(c, 'w', '-', &m->write) &&
	       take_flag(c, 'x', '-', &m->exec) && take_flag(c, 's', 'p', &m->shared);
}

static bool take_device(struct cursor *c, struct mapping *m)
{
	uint64_t major, minor;

	if (!take_number(c, 16, UINT32_MAX, &major) || !take_char(c, ':') ||
	    !take_number(c, 16, UINT32_MAX, &minor))
		return false;
	m->dev_major = major;
	m->dev_minor = minor;
	return true;
}

static bool parse_line(const char *line, const char *end, struct mapping *m)
{
	struct cursor c = {line, end};

	if (!take_number(&c, 16, UINT64_MAX, &m->start) || !take_char(&c, '-') ||
	    !take_number(&c, 16, UINT64_MAX, &m->end) || !take_char(&c, ' ') ||
	    !take_perms(&c, m) || !take_char(&c, ' ') ||
	    !take_number(&c, 16, UINT64_MAX, &m->offset) || !take_char(&c, ' ') ||
	    !take_device(&c, m) || !take_char(&c, ' ') || !take_number(&c, 10, UINT64_MAX, &m->ino))
		return false;
	if (m->start >= m->end || (c.p < end && *c.p != ' '))
		return false;
	/* The kernel pads up to the path; a path itself never begins with a blank. */
	while (c.p < end && *c.p == ' ')
		c.p++;
	m->path = c.p;
	m->path_len = end - c.p;
	return true;
}

bool maps_next(const char **pos, const char *end, struct mapping *m, unsigned int *bad)
{
	while (*pos < end) {
		const char *line = *pos;
		const char *nl = memchr(line, '\n', end - line);

		*pos = nl ? nl + 1 : end;
		if (parse_line(line, nl ? nl : end, m))
			return true;
		if (bad)
			(*bad)++;
	}
	return false;
}
