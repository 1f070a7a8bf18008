/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages to people: standard error only, one line each, in git's manner. A whole message goes
 * through log_safe(), so names from other processes may be passed to %s as they are. The level is
 * the only state. All keep errno.
 */
#ifndef ACLTAP_UTIL_LOG_H
#define ACLTAP_UTIL_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level {
	LOG_QUIET,   /* -q: errors, warnings and their hints */
	LOG_NORMAL,  /* also log_info() and log_status() */
	LOG_VERBOSE, /* -v: also log_verbose() */
};

void log_set_level(enum log_level level);
bool log_is_verbose(void);

#define LOG_FMT(f, a) __attribute__((format(printf, f, a)))

/* "acltap: TEXT: No such process"; without the last part when err is 0. Returns err (-errno). */
int log_err(int err, const char *fmt, ...) LOG_FMT(2, 3);
/* The same without the error's own text, for when TEXT says it already. */
int log_fail(int err, const char *fmt, ...) LOG_FMT(2, 3);
void log_warn(const char *fmt, ...) LOG_FMT(1, 2); /* "acltap: warning: TEXT" */
void log_hint(const char *fmt, ...) LOG_FMT(1, 2); /* "hint: TEXT": what the user can do */
void log_info(const char *fmt, ...) LOG_FMT(1, 2); /* "acltap: TEXT" */
void log_verbose(const char *fmt, ...) LOG_FMT(1, 2);

/*
 * A line that the next message or log_status() overwrites: progress. Shown only when standard
 * error is a terminal and not under -q, as much as fits into its width. A blank removes the line.
 */
void log_status(const char *fmt, ...) LOG_FMT(1, 2);

#define LOG_ERROR_MAX 96
/* The text of -errno, also of those that strerror() does not know (524). Returns buf. */
const char *log_error_text(int err, char buf[LOG_ERROR_MAX]);

/*
 * Copies n bytes of s so that a terminal shows them all and obeys none: control characters, also
 * C1 and those that change the direction of writing, become \n \t \xHH \uHHHH; what is not UTF-8
 * becomes \xHH. Too long a text ends in "...". buf is always terminated (sz >= 4). Returns buf.
 */
const char *log_safe(const char *s, size_t n, char *buf, size_t sz);

#endif
