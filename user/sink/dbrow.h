/* SPDX-License-Identifier: GPL-2.0-only */
/* One row at a time into a prepared statement: values in order of its columns, then insert. */
#ifndef ACLTAP_SINK_DBROW_H
#define ACLTAP_SINK_DBROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

struct dbrow {
	sqlite3_stmt *stmt;
	int column;
	int rc; /* first that is not SQLITE_OK */
};

static inline void dbrow_keep(struct dbrow *r, int rc)
{
	if (rc != SQLITE_OK && r->rc == SQLITE_OK)
		r->rc = rc;
}

static inline void dbrow_int(struct dbrow *r, int64_t v)
{
	dbrow_keep(r, sqlite3_bind_int64(r->stmt, ++r->column, v));
}

static inline void dbrow_null(struct dbrow *r)
{
	dbrow_keep(r, sqlite3_bind_null(r->stmt, ++r->column));
}

/* v, or NULL when it is not known. */
static inline void dbrow_int_if(struct dbrow *r, bool known, int64_t v)
{
	if (known)
		dbrow_int(r, v);
	else
		dbrow_null(r);
}

/* The text must stay until the row is inserted. */
static inline void dbrow_text(struct dbrow *r, const char *s, size_t n)
{
	dbrow_keep(r, sqlite3_bind_text64(r->stmt, ++r->column, s, n, SQLITE_STATIC, SQLITE_UTF8));
}

static inline void dbrow_blob(struct dbrow *r, const void *p, size_t n)
{
	dbrow_keep(r, sqlite3_bind_blob64(r->stmt, ++r->column, p, n, SQLITE_STATIC));
}

/* Returns the first result code that was no success, of binding or of inserting, or SQLITE_OK. */
static inline int dbrow_insert(struct dbrow *r)
{
	int rc;

	if (r->rc == SQLITE_OK) {
		rc = sqlite3_step(r->stmt);
		if (rc != SQLITE_DONE)
			r->rc = rc == SQLITE_ROW ? SQLITE_MISUSE : rc;
	}
	dbrow_keep(r, sqlite3_reset(r->stmt));
	return r->rc;
}

#endif
