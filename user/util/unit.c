// SPDX-License-Identifier: GPL-2.0-only
#include "util/unit.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits from *s on; moves *s behind them. strtoull() would take blanks and signs. */
static int take_digits(const char **s, uint64_t *v)
{
	uint64_t n = 0;

	if (!is_digit(**s))
		return -EINVAL;
	for (; is_digit(**s); (*s)++) {
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(**s - '0'), &n))
			return -ERANGE;
	}
	*v = n;
	return 0;
}

int unit_u64(const char *s, uint64_t *v)
{
	uint64_t n;
	int err = take_digits(&s, &n);

	if (err)
		return err;
	if (*s)
		return -EINVAL;
	*v = n;
	return 0;
}

int unit_pid(const char *s, pid_t *pid)
{
	uint64_t n;
	int err = unit_u64(s, &n);

	if (err)
		return err;
	if (!n)
		return -EINVAL;
	if (n > INT_MAX)
		return -ERANGE;
	*pid = (pid_t)n;
	return 0;
}

/* NUMBER[.FRACTION]UNIT; the fraction counts to the last whole thing (bytes, ns). */
static int take_scaled(const char *s, const struct unit *units, uint64_t *v)
{
	uint64_t whole, part = 0, scale = 1;
	const char *fraction = NULL;
	int err = take_digits(&s, &whole);

	if (err)
		return err;
	if (*s == '.') {
		fraction = ++s;
		while (is_digit(*s))
			s++;
		if (s == fraction)
			return -EINVAL;
	}
	while (units->name && strcmp(units->name, s))
		units++;
	if (!units->name)
		return -EINVAL;
	/* Six digits keep the product within 64 bits for every unit in use. */
	for (int i = 0; fraction && i < 6 && is_digit(fraction[i]); i++) {
		part = part * 10 + (uint64_t)(fraction[i] - '0');
		scale *= 10;
	}
	if (__builtin_mul_overflow(whole, units->factor, &whole))
		return -ERANGE;
	part = units->factor / scale * part + units->factor % scale * part / scale;
	if (__builtin_add_overflow(whole, part, v))
		return -ERANGE;
	return 0;
}

int unit_size(const char *s, uint64_t *bytes)
{
	/* No KB or MB: some mean 1000 by it, some 1024. */
	static const struct unit units[] = {
		{"", 1},
		{"B", 1},
		{"K", 1ULL << 10},
		{"k", 1ULL << 10},
		{"KiB", 1ULL << 10},
		{"M", 1ULL << 20},
		{"MiB", 1ULL << 20},
		{"G", 1ULL << 30},
		{"GiB", 1ULL << 30},
		{"T", 1ULL << 40},
		{"TiB", 1ULL << 40},
		{NULL, 0},
	};
	uint64_t v;
	int err = take_scaled(s, units, &v);

	if (!err)
		*bytes = v;
	return err;
}

int unit_duration(const char *s, uint64_t *ns)
{
	static const struct unit units[] = {
		{"", 1000000000},
		{"ns", 1},
		{"us", 1000},
		{"ms", 1000000},
		{"s", 1000000000},
		{"m", 60 * 1000000000ULL},
		{"min", 60 * 1000000000ULL},
		{"h", 3600 * 1000000000ULL},
		{"d", 86400 * 1000000000ULL},
		{NULL, 0},
	};
	uint64_t v;
	int err = take_scaled(s, units, &v);

	if (!err)
		*ns = v;
	return err;
}

int unit_percent(const char *s, uint64_t *thousandths)
{
	static const struct unit units[] = {{"", 1000}, {"%", 1000}, {NULL, 0}};
	uint64_t v;
	int err = take_scaled(s, units, &v);

	if (!err)
		*thousandths = v;
	return err;
}

const char *unit_fmt_count(char buf[UNIT_MAX], uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, v);
	char *p = buf;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return buf;
}

const char *unit_fmt_duration(char buf[UNIT_MAX], uint64_t ns)
{
	/* Compared after rounding: 999,999.9 us must not be written as 1000.000 ms. */
	uint64_t us = ns / 1000 + (ns % 1000 >= 500);
	uint64_t ms = ns / 1000000 + (ns % 1000000 >= 500000);
	uint64_t s = ns / 1000000000 + (ns % 1000000000 >= 500000000);
	uint64_t tenths = ns / 100000000 + (ns % 100000000 >= 50000000);

	if (ns < 1000)
		snprintf(buf, UNIT_MAX, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(buf, UNIT_MAX, "%" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
	else if (us < 1000000)
		snprintf(buf, UNIT_MAX, "%" PRIu64 ".%03" PRIu64 " ms", us / 1000, us % 1000);
	else if (ms < 60000)
		snprintf(buf, UNIT_MAX, "%" PRIu64 ".%03" PRIu64 " s", ms / 1000, ms % 1000);
	else if (tenths < 36000)
		snprintf(buf, UNIT_MAX, "%" PRIu64 "m %02" PRIu64 ".%" PRIu64 "s", tenths / 600,
			 tenths / 10 % 60, tenths % 10);
	else
		snprintf(buf, UNIT_MAX, "%" PRIu64 "h %02" PRIu64 "m %02" PRIu64 "s", s / 3600,
			 s / 60 % 60, s % 60);
	return buf;
}

const char *unit_fmt_bytes(char buf[UNIT_MAX], uint64_t bytes)
{
	static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	unsigned int i = 0;
	uint64_t unit = 1024;

	if (bytes < 1024) {
		snprintf(buf, UNIT_MAX, "%" PRIu64 " B", bytes);
		return buf;
	}
	/* 1023.95 and more of a unit would be written as 1024.0: take the next one. */
	while (i < 5 && bytes / unit * 1024 + bytes % unit / (unit / 1024) >= 1023 * 1024 + 973) {
		unit *= 1024;
		i++;
	}
	snprintf(buf, UNIT_MAX, "%.1f %s", (double)bytes / (double)unit, names[i]);
	return buf;
}
