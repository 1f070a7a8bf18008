// SPDX-License-Identifier: GPL-2.0-only
#include "harness/evparse.h"

#include <errno.h>
#include <string.h>

static const char *const key_names[N_KEYS] = {
	"stamp", "copy",      "id",   "len",	      "stream", "number",  "type", "value",
	"size",	 "ret",	      "at",   "ptr",	      "child",	"real",	   "boot", "count",
	"from",	 "calls",     "lost", "lost_returns", "kind",	"func",	   "seq",  "gap",
	"depth", "min_depth", "arg0", "arg1",	      "flags",	"msg_len",
};

static const struct {
	const char *name;
	uint16_t flag;
} flag_names[] = {
	{"unreadable", WIRE_F_UNREADABLE}, {"cut", WIRE_F_CUT},	    {"nostate", WIRE_F_NO_STATE},
	{"latestate", WIRE_F_LATE_STATE},  {"noid", WIRE_F_NO_ID},  {"last", WIRE_F_LAST},
	{"returns", WIRE_F_RETURNS},	   {"mixed", WIRE_F_MIXED},
};

int ev_bad(struct script *s, const char *why)
{
	s->why = why;
	return -EINVAL;
}

/* ---- Words -------------------------------------------------------------------------------- */

bool ev_is(struct word w, const char *name)
{
	return strlen(name) == w.n && !memcmp(w.s, name, w.n);
}

struct word ev_word(struct script *s)
{
	struct word w;

	while (s->pos < s->end && (*s->pos == ' ' || *s->pos == '\t' || *s->pos == '\r'))
		s->pos++;
	w.s = s->pos;
	if (s->pos < s->end && *s->pos == '#')
		s->pos = s->end;
	else
		while (s->pos < s->end && !memchr(" \t\r=\"", *s->pos, 5))
			s->pos++;
	w.n = w.s < s->end && *w.s == '#' ? 0 : (size_t)(s->pos - w.s);
	return w;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static bool number(struct word w, uint64_t *out)
{
	bool minus = w.n && *w.s == '-';
	int base = 10;
	uint64_t v = 0;

	w.s += minus;
	w.n -= minus;
	if (w.n > 2 && w.s[0] == '0' && w.s[1] == 'x') {
		base = 16;
		w.s += 2;
		w.n -= 2;
	}
	if (!w.n)
		return false;
	for (size_t i = 0; i < w.n; i++) {
		int d = digit_of(w.s[i]);

		if (d >= base || v > (UINT64_MAX - (uint64_t)d) / (uint64_t)base)
			return false;
		v = v * (uint64_t)base + (uint64_t)d;
	}
	*out = minus ? 0 - v : v;
	return true;
}

static bool unescape(struct script *s, char *c)
{
	int hi, lo;

	switch (*s->pos++) {
	case 'n':
		*c = '\n';
		return true;
	case 'r':
		*c = '\r';
		return true;
	case 't':
		*c = '\t';
		return true;
	case '0':
		*c = 0;
		return true;
	case '"':
	case '\\':
		*c = s->pos[-1];
		return true;
	case 'x':
		if (s->end - s->pos < 2)
			return false;
		hi = digit_of(*s->pos++);
		lo = digit_of(*s->pos++);
		*c = (char)(hi << 4 | lo);
		return hi < 16 && lo < 16;
	default:
		return false;
	}
}

static int quoted(struct script *s)
{
	size_t n = 0;

	for (s->pos++; s->pos < s->end && *s->pos != '"';) {
		char c = *s->pos++;

		if (n == TEXT_MAX)
			return ev_bad(s, "text too long");
		if (c == '\\' && (s->pos == s->end || !unescape(s, &c)))
			return ev_bad(s, "bad escape");
		s->rec.text[n++] = c;
	}
	if (s->pos == s->end)
		return ev_bad(s, "text does not end");
	s->pos++;
	s->line.text_len = n;
	s->line.has_text = true;
	return 0;
}

/* ---- A line ------------------------------------------------------------------------------- */

static int parse_value(struct script *s, struct word name)
{
	struct word w;

	s->pos++; /* = */
	for (int k = 0; k < N_KEYS; k++) {
		if (!ev_is(name, key_names[k]))
			continue;
		w = ev_word(s);
		if (!number(w, &s->line.value[k]))
			return ev_bad(s, "not a number");
		s->line.has[k] = true;
		return 0;
	}
	return ev_bad(s, "unknown key");
}

int ev_rest(struct script *s)
{
	for (;;) {
		struct word w = ev_word(s);
		bool known = false;
		int err = 0;

		if (s->pos < s->end && *s->pos == '=') {
			err = parse_value(s, w);
		} else if (w.n) {
			for (size_t i = 0; i < sizeof(flag_names) / sizeof(*flag_names); i++) {
				if (!ev_is(w, flag_names[i].name))
					continue;
				s->line.flags |= flag_names[i].flag;
				known = true;
			}
			err = known ? 0 : ev_bad(s, "unknown word");
		} else if (s->pos < s->end && *s->pos == '"') {
			err = quoted(s);
		} else {
			return 0;
		}
		if (err)
			return err;
	}
}

static int parse_thread(struct script *s, struct word w)
{
	const char *slash = w.n ? memchr(w.s, '/', w.n) : NULL;
	uint64_t tgid, tid;

	if (ev_is(w, "-"))
		return 0;
	if (!slash)
		slash = w.s + w.n;
	if (!number((struct word){w.s, (size_t)(slash - w.s)}, &tgid) || tgid > UINT32_MAX)
		return ev_bad(s, "not a process id");
	tid = tgid;
	if (slash < w.s + w.n &&
	    !number((struct word){slash + 1, (size_t)(w.s + w.n - slash) - 1}, &tid))
		return ev_bad(s, "not a thread id");
	s->line.tgid = (uint32_t)tgid;
	s->line.tid = (uint32_t)tid;
	return 0;
}

int ev_start(struct script *s, struct word *verb)
{
	struct word w = ev_word(s);
	bool plus = w.n && *w.s == '+';
	int err;

	s->line = (struct line){0};
	if (!number((struct word){w.s + plus, w.n - plus}, &s->line.time_ns))
		return ev_bad(s, "not a time");
	s->line.time_ns += plus ? s->time_ns : 0;
	s->time_ns = s->line.time_ns;
	err = parse_thread(s, ev_word(s));
	*verb = ev_word(s);
	if (!err && ev_is(*verb, "lost")) {
		s->line.lost = true;
		*verb = ev_word(s);
	}
	return err;
}
