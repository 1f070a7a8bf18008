// SPDX-License-Identifier: GPL-2.0-only
#include "view/table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sink/escape.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/unit.h"

/* The longest number: 20 digits with separators and a decimal. */
#define NUMBER_MAX 48

/* ---- Texts on a terminal ------------------------------------------------------------------- */

/* Characters that take two columns, and those that take none: the blocks in practical use. */
static const struct {
	uint32_t from, to;
	uint8_t columns;
} widths[] = {
	{0x300, 0x36f, 0},     {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0}, {0x2e80, 0x303e, 2},
	{0x3041, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
	{0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2},
	{0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
};

static size_t columns_of(const unsigned char *s, int len)
{
	uint32_t c = len == 1 ? s[0] : s[0] & (0xffu >> (len + 1));

	for (int i = 1; i < len; i++)
		c = c << 6 | (s[i] & 0x3f);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		if (c >= widths[i].from && c <= widths[i].to)
			return widths[i].columns;
	return 1;
}

size_t table_text(const char *s, size_t n, char buf[4 * TABLE_TEXT_MAX])
{
	char safe[4 * TABLE_TEXT_MAX];
	size_t len, at = 0, columns = 0, fit_at = 0, fit_columns = 0;

	log_safe(s, n, safe, sizeof(safe));
	len = strlen(safe);
	while (at < len && columns <= TABLE_TEXT_MAX) {
		int one = utf8_length((const unsigned char *)safe + at, len - at);
		size_t width = one > 0 ? columns_of((const unsigned char *)safe + at, one) : 1;

		at += (size_t)(one > 0 ? one : -one);
		columns += width;
		if (columns <= TABLE_TEXT_MAX - 3) {
			fit_at = at;
			fit_columns = columns;
		}
	}
	if (columns <= TABLE_TEXT_MAX) {
		memcpy(buf, safe, len + 1);
		return columns;
	}
	memcpy(buf, safe, fit_at);
	strcpy(buf + fit_at, "...");
	return fit_columns + 3;
}

/* ---- Aligned ------------------------------------------------------------------------------- */

static const char *tenths(char buf[NUMBER_MAX], double d, bool grouped)
{
	char plain[NUMBER_MAX], whole[UNIT_MAX];
	char *dot;

	snprintf(plain, sizeof(plain), "%.1f", d);
	dot = strchr(plain, '.');
	if (!grouped || !dot || d < 0 || d >= 1e19)
		return memcpy(buf, plain, sizeof(plain));
	*dot = '\0';
	snprintf(buf, NUMBER_MAX, "%s.%s", unit_fmt_count(whole, strtoull(plain, NULL, 10)),
		 dot + 1);
	return buf;
}

/* Zero has no sign, also after rounding. */
static const char *change(char buf[NUMBER_MAX], double d, bool sign)
{
	snprintf(buf, NUMBER_MAX, sign ? "%+.1f" : "%.1f", d);
	return fabs(d) < 0.05 ? strcpy(buf, "0.0") : buf;
}

static const char *probability(char buf[NUMBER_MAX], double d)
{
	snprintf(buf, NUMBER_MAX, "%.4f", d);
	return d > 0 && d < 0.0001 ? strcpy(buf, "<0.0001") : buf;
}

/* Digits alone: 1,024 would be a count. Returns its length. */
static size_t id(char buf[NUMBER_MAX], double d)
{
	return (size_t)snprintf(buf, NUMBER_MAX, "%.0f", d);
}

static bool is_nothing(const struct column *c, const union cell *v)
{
	if (c->type == CELL_ANY)
		return v->u == CELL_NOTHING;
	return c->type != CELL_COUNT && c->type != CELL_TEXT && !isfinite(v->d);
}

/* A cell as shown; returns its columns. */
static size_t show(const struct column *c, const union cell *v, char buf[4 * TABLE_TEXT_MAX])
{
	if (is_nothing(c, v))
		return strlen(strcpy(buf, "-"));
	switch (c->type) {
	case CELL_COUNT:
	case CELL_ANY:
		return strlen(unit_fmt_count(buf, v->u));
	case CELL_TENTHS:
		return strlen(tenths(buf, v->d, true));
	case CELL_CHANGE:
		return strlen(change(buf, v->d, true));
	case CELL_P:
		return strlen(probability(buf, v->d));
	case CELL_ID:
		return id(buf, v->d);
	case CELL_TEXT:
		break;
	}
	return table_text(v->s, v->n, buf);
}

static void pad(struct out *o, size_t n, char c)
{
	while (n-- > 0)
		out_char(o, c);
}

static void aligned_cell(struct out *o, const char *text, size_t columns, size_t width, bool left,
			 bool last)
{
	if (!left)
		pad(o, width - columns, ' ');
	out_str(o, text);
	if (left && !last)
		pad(o, width - columns, ' ');
	if (!last)
		out_write(o, "  ", 2);
}

static void aligned_head(const struct table *t, const size_t *widths_of, struct out *o)
{
	size_t last = t->n_columns - 1;

	for (size_t i = 0; i <= last; i++)
		aligned_cell(o, t->columns[i].title, strlen(t->columns[i].title), widths_of[i],
			     t->columns[i].type == CELL_TEXT, i == last);
	out_char(o, '\n');
	for (size_t i = 0; i <= last; i++) {
		pad(o, widths_of[i], '-');
		if (i < last)
			out_write(o, "  ", 2);
	}
	out_char(o, '\n');
}

static int write_aligned(const struct table *t, struct out *o)
{
	_free_ size_t *width = calloc(t->n_columns, sizeof(*width));
	char buf[4 * TABLE_TEXT_MAX];

	if (!width)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_columns; i++)
		width[i] = strlen(t->columns[i].title);
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns, n = show(&t->columns[c], &t->cells[i], buf);

		if (n > width[c])
			width[c] = n;
	}
	aligned_head(t, width, o);
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns, n = show(&t->columns[c], &t->cells[i], buf);
		bool last = c == t->n_columns - 1;

		aligned_cell(o, buf, n, width[c], t->columns[c].type == CELL_TEXT, last);
		if (last)
			out_char(o, '\n');
	}
	return out_error(o);
}

/* ---- CSV and JSON -------------------------------------------------------------------------- */

static void plain_cell(const struct column *c, const union cell *v, struct out *o, text_writer text)
{
	char buf[NUMBER_MAX];

	if (is_nothing(c, v)) {
		out_str(o, text == out_json ? "null" : "");
		return;
	}
	switch (c->type) {
	case CELL_COUNT:
	case CELL_ANY:
		out_u64(o, v->u);
		break;
	case CELL_TENTHS:
		out_str(o, tenths(buf, v->d, false));
		break;
	case CELL_CHANGE:
		out_str(o, change(buf, v->d, false));
		break;
	case CELL_P:
		snprintf(buf, sizeof(buf), "%.3g", v->d);
		out_str(o, buf);
		break;
	case CELL_ID:
		id(buf, v->d);
		out_str(o, buf);
		break;
	case CELL_TEXT:
		text(o, v->s, v->n);
		break;
	}
}

static int write_csv(const struct table *t, struct out *o)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (i)
			out_char(o, ',');
		out_csv(o, t->columns[i].title, strlen(t->columns[i].title));
	}
	out_char(o, '\n');
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns;

		plain_cell(&t->columns[c], &t->cells[i], o, out_csv);
		out_char(o, c == t->n_columns - 1 ? '\n' : ',');
	}
	return out_error(o);
}

static int write_json(const struct table *t, struct out *o)
{
	out_char(o, '[');
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns;
		const struct column *column = &t->columns[c];

		out_str(o, c ? "," : i ? ",\n{" : "\n{");
		out_json(o, column->title, strlen(column->title));
		out_char(o, ':');
		plain_cell(column, &t->cells[i], o, out_json);
		if (c == t->n_columns - 1)
			out_char(o, '}');
	}
	out_str(o, "\n]\n");
	return out_error(o);
}

int table_write(const struct table *t, enum table_format format, struct out *o)
{
	switch (format) {
	case TABLE_CSV:
		return write_csv(t, o);
	case TABLE_JSON:
		return write_json(t, o);
	case TABLE_TEXT:
		break;
	}
	return write_aligned(t, o);
}
