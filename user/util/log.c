// SPDX-License-Identifier: GPL-2.0-only
#include "util/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
	enum log_level level;
	bool status; /* a status line stands on the terminal */
} state = {.level = LOG_NORMAL};

void log_set_level(enum log_level level)
{
	state.level = level;
}

bool log_is_verbose(void)
{
	return state.level >= LOG_VERBOSE;
}

/* Length of the UTF-8 character at s (n > 0 bytes are there) and its value; 0 = not UTF-8. */
static size_t utf8_char(const unsigned char *s, size_t n, uint32_t *c)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	uint32_t v;

	if (!len || len > n || s[0] > 0xf4)
		return 0;
	v = len == 1 ? s[0] : s[0] & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (s[i] & 0x3f);
	}
	if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	*c = v;
	return len;
}

static bool is_shown(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return false;
	/* Line and paragraph separators, marks and overrides of the writing direction. */
	return !((c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
		 c == 0x200f || c == 0x61c || c == 0xfeff);
}

const char *log_safe(const char *s, size_t n, char *buf, size_t sz)
{
	size_t at = 0, cut = 0;

	buf[0] = '\0';
	while (n) {
		char piece[12];
		uint32_t c = 0;
		size_t used = utf8_char((const unsigned char *)s, n, &c), len;

		if (!used || (c < 0x100 && !is_shown(c) && used == 1))
			len = (size_t)snprintf(piece, sizeof(piece),
					       c == '\n'   ? "\\n"
					       : c == '\t' ? "\\t"
							   : "\\x%02x",
					       (unsigned char)s[0]);
		else if (!is_shown(c))
			len = (size_t)snprintf(piece, sizeof(piece), "\\u%04x", c);
		else
			memcpy(piece, s, len = used);
		if (at + len >= sz) {
			strcpy(buf + cut, "...");
			break;
		}
		memcpy(buf + at, piece, len);
		at += len;
		buf[at] = '\0';
		if (at + 3 < sz)
			cut = at; /* up to here the dots still fit */
		used = used ? used : 1;
		s += used;
		n -= used;
	}
	return buf;
}

const char *log_error_text(int err, char buf[LOG_ERROR_MAX])
{
	err = err < 0 ? -err : err;
	switch (err) {
	case 524: /* the kernel's own ENOTSUPP, which leaks out of the uprobe code */
		snprintf(buf, LOG_ERROR_MAX, "The kernel cannot do this here (error 524)");
		return buf;
	case 517:
		snprintf(buf, LOG_ERROR_MAX, "The kernel asks to try later (error 517)");
		return buf;
	default: {
		char tmp[LOG_ERROR_MAX];

		snprintf(buf, LOG_ERROR_MAX, "%s", strerror_r(err, tmp, sizeof(tmp)));
		return buf;
	}
	}
}

/* One write per line: lines of several processes on one terminal do not mix. */
static void put_line(const char *prefix, const char *text, const char *tail)
{
	char line[4096];
	int n = snprintf(line, sizeof(line), "%s%s%s\n", state.status ? "\r\033[K" : "", prefix,
			 tail ? "" : text);

	if (tail)
		n = snprintf(line, sizeof(line), "%s%s%s: %s\n", state.status ? "\r\033[K" : "",
			     prefix, text, tail);
	state.status = false;
	if (n > 0 && (size_t)n >= sizeof(line)) {
		n = sizeof(line) - 1;
		line[n - 1] = '\n';
	}
	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
		return; /* nobody is left to tell */
}

static void LOG_FMT(3, 0) put(const char *prefix, int err, const char *fmt, va_list ap)
{
	char raw[2048], text[3072], why[LOG_ERROR_MAX];
	int saved = errno;
	int n = vsnprintf(raw, sizeof(raw), fmt, ap);

	if (n < 0)
		raw[0] = '\0';
	else if ((size_t)n >= sizeof(raw))
		strcpy(raw + sizeof(raw) - 4, "...");
	log_safe(raw, strlen(raw), text, sizeof(text));
	put_line(prefix, text, err ? log_error_text(err, why) : NULL);
	errno = saved;
}

#define PUT(prefix, err)                                                                           \
	do {                                                                                       \
		va_list ap_;                                                                       \
		va_start(ap_, fmt);                                                                \
		put(prefix, err, fmt, ap_);                                                        \
		va_end(ap_);                                                                       \
	} while (0)

int log_err(int err, const char *fmt, ...)
{
	PUT("acltap: ", err);
	return err;
}

int log_fail(int err, const char *fmt, ...)
{
	PUT("acltap: ", 0);
	return err;
}

void log_warn(const char *fmt, ...)
{
	PUT("acltap: warning: ", 0);
}

void log_hint(const char *fmt, ...)
{
	PUT("hint: ", 0);
}

void log_info(const char *fmt, ...)
{
	if (state.level >= LOG_NORMAL)
		PUT("acltap: ", 0);
}

void log_verbose(const char *fmt, ...)
{
	if (state.level >= LOG_VERBOSE)
		PUT("acltap: ", 0);
}

/* A line that is longer than the terminal is wide could not be removed. */
static void cut_to_width(char *text)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return;
	if (strlen(text) >= size.ws_col)
		text[size.ws_col - 1] = '\0';
}

void log_status(const char *fmt, ...)
{
	char raw[512], text[512], line[600];
	int saved = errno;
	va_list ap;
	int n;

	if (state.level < LOG_NORMAL || !isatty(STDERR_FILENO)) {
		errno = saved;
		return;
	}
	va_start(ap, fmt);
	n = vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	log_safe(raw, n < 0 ? 0 : strlen(raw), text, sizeof(text));
	if (text[strspn(text, " ")] == '\0')
		*text = '\0';
	cut_to_width(text);
	n = snprintf(line, sizeof(line), "\r\033[K%s", text);
	state.status = *text;
	if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
		state.status = false;
	errno = saved;
}
