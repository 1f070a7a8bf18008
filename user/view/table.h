/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table of cells as aligned text for people, as CSV, or as JSON: an array with an object for
 * each row, one a line, the titles as keys. Pure but for out. Texts may hold anything: the aligned
 * form shows what would move a cursor and cuts what is long; CSV and JSON keep it whole.
 */
#ifndef ACLTAP_VIEW_TABLE_H
#define ACLTAP_VIEW_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "sink/out.h"

/* A d that is not finite is nothing: "-" when aligned, an empty field in CSV, null in JSON. */
enum cell_type {
	CELL_COUNT,  /* u */
	CELL_ANY,    /* u, or CELL_NOTHING, which is shown as a d that is not finite */
	CELL_TENTHS, /* d, with one decimal */
	CELL_CHANGE, /* d, with one decimal, when aligned with its sign too */
	CELL_P,	     /* d, a probability; aligned with four decimals */
	CELL_ID,     /* d, a whole number that counts nothing */
	CELL_TEXT,   /* s, n bytes */
};

#define CELL_NOTHING UINT64_MAX

struct column {
	const char *title;
	enum cell_type type;
};

union cell {
	uint64_t u;
	double d;
	struct {
		const char *s;
		size_t n;
	};
};

struct table {
	const struct column *columns;
	size_t n_columns;
	const union cell *cells; /* n_rows times n_columns */
	size_t n_rows;
};

enum table_format { TABLE_TEXT, TABLE_CSV, TABLE_JSON };

/* Returns 0 or the first error of o. */
int table_write(const struct table *t, enum table_format format, struct out *o);

#define TABLE_TEXT_MAX 60 /* columns of a terminal that a text takes at most */

/*
 * Copies n bytes of s for a terminal, as log_safe() does, cut to fit, and returns the columns that
 * it takes there.
 */
size_t table_text(const char *s, size_t n, char buf[4 * TABLE_TEXT_MAX]);

#endif
