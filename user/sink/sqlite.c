// SPDX-License-Identifier: GPL-2.0-only
/*
 * The vendor's database and our tables beside it (sqlite_schema.h): one transaction into a file
 * that gets its name when all is in it and on the disk. Memory is SQLite's page cache and a bounded
 * part of the names; of more names than that SQLite itself keeps track by an index.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sink/escape.h"
#include "sink/out.h"
#include "sink/sqlite_in.h"
#include "sink/sqlite_schema.h"
#include "util/cleanup.h"

#define NO_ID 4294967295	  /* the vendor's rangeId, and category of what has none */
#define NO_CONNECTION 4000000000u /* those of marker_ex count up from the next */
#define NAMES_MAX (256u << 10)	  /* kept in memory */
#define NAMES_BYTES (32u << 20)

/* What is told twice is told anew; unknown does not replace known. */
static const char *const statements[STATEMENTS] = {
	[INSERT_EVENT] = "INSERT INTO MSTX_EVENTS VALUES(?,?,?,?,?,?,?,?,?,?)",
	[INSERT_SPAN] = "INSERT INTO ACLTAP_SPANS "
			"VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_STRING] = "INSERT INTO STRING_IDS VALUES(?,?)",
	[FIND_STRING] = "SELECT id FROM STRING_IDS WHERE value = ?",
	[INSERT_COUNT] = "INSERT INTO ACLTAP_COUNTS VALUES(?,?,?,?,?,?,?,?)",
	[INSERT_PROCESS] =
		"INSERT INTO ACLTAP_PROCESSES VALUES(?,?,?,?,?,?,?,?,?,?,?) "
		"ON CONFLICT(pid) DO UPDATE SET source = excluded.source, "
		"localRank = coalesce(excluded.localRank, localRank), "
		"host = coalesce(excluded.host, host), hostPid = excluded.hostPid, "
		"nspid = coalesce(excluded.nspid, nspid), ppid = coalesce(excluded.ppid, ppid), "
		"rank = coalesce(excluded.rank, rank), name = coalesce(excluded.name, name), "
		"cmdline = coalesce(excluded.cmdline, cmdline), exe = coalesce(excluded.exe, exe)",
	[INSERT_THREAD] = "INSERT OR REPLACE INTO ACLTAP_THREADS VALUES(?,?,?)",
	[INSERT_CATEGORY] = "INSERT OR REPLACE INTO ACLTAP_CATEGORIES VALUES(?,?,?)",
	[INSERT_PROGRAM] = "INSERT INTO ACLTAP_PROGRAMS VALUES(?,?,?,?,?,?)",
	[INSERT_SOURCE] = "INSERT INTO ACLTAP_SOURCES VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_HOST] = "INSERT INTO HOST_INFO VALUES(?,?)",
	[INSERT_FACT] = "INSERT OR REPLACE INTO ACLTAP_CAPTURE VALUES(?,?)",
};

static int execute(struct db *d, const char *sql)
{
	return dbfile_error(d->file, sqlite3_exec(dbfile_db(d->file), sql, NULL, NULL, NULL));
}

static int prepare(struct db *d, enum statement which)
{
	int rc = sqlite3_prepare_v3(dbfile_db(d->file), statements[which], -1,
				    SQLITE_PREPARE_PERSISTENT, &d->stmt[which], NULL);

	return dbfile_error(d->file, rc);
}

/* ---- Texts --------------------------------------------------------------------------------- */

static int insert_string(struct db *d, const char *s, size_t n, uint64_t *id)
{
	struct dbrow row = sqlite_row(d, INSERT_STRING);
	int err;

	dbrow_int(&row, (int64_t)d->next_string);
	dbrow_text(&row, s, n);
	err = sqlite_insert(d, &row);
	if (!err)
		*id = d->next_string++;
	return err;
}

/* By the index; *id stays 0 when absent. */
static int find_string(struct db *d, const char *s, size_t n, uint64_t *id)
{
	struct dbrow row = sqlite_row(d, FIND_STRING);
	int rc;

	dbrow_text(&row, s, n);
	rc = row.rc == SQLITE_OK ? sqlite3_step(row.stmt) : row.rc;
	if (rc == SQLITE_ROW)
		*id = (uint64_t)sqlite3_column_int64(row.stmt, 0);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		rc = sqlite3_reset(row.stmt);
	else
		sqlite3_reset(row.stmt);
	return dbfile_error(d->file, rc);
}

/* From now on the names that are not in memory are looked up on disk. */
static int make_index(struct db *d)
{
	int err = execute(d, "CREATE INDEX ACLTAP_STRING_INDEX ON STRING_IDS(value)");

	d->indexed = !err;
	return err ? err : prepare(d, FIND_STRING);
}

/* The id of a valid text, which is written when it is new. */
static int string_id(struct db *d, const char *s, size_t n, uint64_t *id)
{
	int err = 0;

	*id = intern_find(d->names, s, n);
	if (!*id && d->indexed)
		err = find_string(d, s, n, id);
	if (*id || err)
		return err;
	err = insert_string(d, s, n, id);
	if (err || d->indexed)
		return err;
	err = intern_add(d->names, s, n, *id);
	return err == -ENOSPC ? make_index(d) : err;
}

int sqlite_bind_text(struct db *d, struct dbrow *row, const char *s, size_t n)
{
	int err = repair_text(&d->repair, &s, &n);

	if (n)
		dbrow_text(row, s, n);
	else
		dbrow_null(row);
	return err;
}

/* ---- Open and begin ------------------------------------------------------------------------ */

static void db_free(struct sink *s)
{
	struct db *d = (struct db *)s;

	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(d->stmt[i]);
	if (d->file)
		dbfile_close(d->file);
	intern_free(d->names);
	ids_free(&d->hosts);
	repair_free(&d->repair);
	out_discard(d->out);
	free(d);
}

/* Nobody reads the file before it is whole, so it needs no way back. */
static int set_up(struct db *d)
{
	int err = execute(d, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
			     "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384;"
			     "PRAGMA encoding='UTF-8'; BEGIN;" SCHEMA_VENDOR SCHEMA_OURS);

	for (int i = 0; i < STATEMENTS && !err; i++)
		if (i != FIND_STRING)
			err = prepare(d, i);
	return err;
}

static int db_open(const char *path, const struct sink_opts *opts, struct sink **out)
{
	struct db *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->next_string = 4;
	d->hosts = IDS_OF(struct host);
	err = out_file(path, opts->overwrite, &d->out);
	if (!err && out_regular_fd(d->out) < 0)
		err = out_regular_fd(d->out);
	if (!err)
		err = intern_new(NAMES_MAX, NAMES_BYTES, &d->names);
	if (!err)
		err = dbfile_open(out_regular_fd(d->out), path, &d->file);
	if (!err)
		err = set_up(d);
	if (err)
		db_free(&d->sink);
	else
		*out = &d->sink;
	return err;
}

static int insert_statuses(struct db *d)
{
	for (int i = SPAN_COMPLETE; i <= SPAN_UNCERTAIN; i++) {
		const char *name = span_status_name(i);
		char sql[96];
		int err;

		snprintf(sql, sizeof(sql), "INSERT INTO ACLTAP_STATUS VALUES(%d,'%s')", i, name);
		err = execute(d, sql);
		if (err)
			return err;
	}
	return 0;
}

static int db_begin(struct sink *s, const struct trace_meta *meta)
{
	(void)meta;
	return insert_statuses((struct db *)s);
}

/* ---- Spans --------------------------------------------------------------------------------- */

static int insert_event(struct db *d, const struct span *sp, uint64_t message, uint64_t domain)
{
	struct dbrow row = sqlite_row(d, INSERT_EVENT);
	const uint64_t process = (uint64_t)sp->pid << 32;
	uint64_t connection = NO_CONNECTION;

	if (sp->kind == SPAN_MARKER_EX)
		connection += ++d->connections;
	dbrow_int(&row, (int64_t)sp->start_ns);
	dbrow_int(&row, (int64_t)sp->end_ns);
	dbrow_int(&row, sp->kind);
	dbrow_int(&row, NO_ID);
	dbrow_int(&row, sink_span_domain(sp) ? NO_ID : sp->category);
	dbrow_int(&row, (int64_t)message);
	dbrow_int(&row, (int64_t)(process | sp->start_tid));
	dbrow_int(&row, (int64_t)(process | sp->end_tid));
	dbrow_int(&row, (int64_t)domain);
	dbrow_int(&row, (int64_t)connection);
	return sqlite_insert(d, &row);
}

/* An INTEGER of SQLite has a sign; what is larger is the decimal text in room. */
static void bind_payload(struct dbrow *row, const struct payload *p, char *room)
{
	uint64_t v = payload_value(p);

	dbrow_int_if(row, p->len || p->type, p->type);
	if (p->len && v > INT64_MAX)
		dbrow_text(row, room, (size_t)(put_u64(room, v) - room));
	else
		dbrow_int_if(row, p->len, (int64_t)v);
	if (p->len)
		dbrow_blob(row, p->bytes, p->len < 8 ? p->len : 8);
	else
		dbrow_null(row);
}

/* The name that its category has, as the id of a text; 0 = none. */
static int category_id(struct db *d, uint64_t *id)
{
	const char *text = versions_category_name(d->sink.versions, d->sink.of);
	size_t n = text ? strlen(text) : 0;
	int err;

	*id = 0;
	if (!n)
		return 0;
	err = repair_text(&d->repair, &text, &n);
	return err ? err : string_id(d, text, n, id);
}

/* event: its row in MSTX_EVENTS, 0 = none. */
static int insert_span(struct db *d, const struct span *sp, uint64_t message, uint64_t domain,
		       uint64_t event)
{
	struct dbrow row = sqlite_row(d, INSERT_SPAN);
	bool is_mstx = sink_span_domain(sp);
	char payload[PUT_U64_MAX];
	uint64_t program, category;
	int err = category_id(d, &category);

	if (err)
		return err;
	program = versions_number(d->sink.of);

	dbrow_int(&row, (int64_t)sp->id);
	dbrow_int_if(&row, event, (int64_t)event);
	dbrow_int(&row, (int64_t)sp->start_ns);
	dbrow_int_if(&row, sp->has_end, (int64_t)sp->end_ns);
	dbrow_int(&row, sp->kind);
	dbrow_int(&row, sp->status);
	dbrow_int(&row, sp->depth);
	dbrow_int_if(&row, sp->parent, (int64_t)sp->parent);
	dbrow_int(&row, sp->pid);
	dbrow_int(&row, sp->start_tid);
	dbrow_int(&row, sp->end_tid);
	dbrow_int(&row, (int64_t)message);
	dbrow_int_if(&row, is_mstx, (int64_t)domain);
	dbrow_int_if(&row, !is_mstx, sp->category);
	bind_payload(&row, &sp->payload, payload);
	dbrow_int_if(&row, sp->has_ret, sp->ret);
	dbrow_int(&row, sp->unreadable);
	dbrow_int(&row, sp->cut);
	dbrow_int_if(&row, program, (int64_t)program);
	dbrow_int_if(&row, category, (int64_t)category);
	return sqlite_insert(d, &row);
}

static int db_span(struct sink *s, const struct span *sp)
{
	struct db *d = (struct db *)s;
	const char *text, *domain_text = sink_span_domain(sp) ? sink_span_domain(sp) : "";
	uint64_t message, domain, event = 0;
	size_t n;
	int err = repair_name(&d->repair, sp, &text, &n);

	if (!err)
		err = string_id(d, text, n, &message);
	n = strlen(domain_text);
	if (!err)
		err = repair_text(&d->repair, &domain_text, &n);
	if (!err)
		err = string_id(d, domain_text, n, &domain);
	if (err)
		return err;
	if (sp->status == SPAN_COMPLETE) {
		event = s->rows + 1;
		err = insert_event(d, sp, message, domain);
	}
	if (!err)
		err = insert_span(d, sp, message, domain, event);
	if (err)
		return err;
	/* Nothing is left out: what is no row of the vendor's is one of ours. */
	s->rows += event != 0;
	return 0;
}

/* ---- The end ------------------------------------------------------------------------------- */

/* Closes the database, whose file must then be whole, and flushes it. */
static int complete_file(struct db *d)
{
	int err = execute(d, "COMMIT"), close_err;

	for (int i = 0; i < STATEMENTS; i++) {
		sqlite3_finalize(d->stmt[i]);
		d->stmt[i] = NULL;
	}
	close_err = dbfile_close(take_ptr(d->file));
	if (err || close_err)
		return err ? err : close_err;
	return fsync(out_regular_fd(d->out)) ? -errno : 0;
}

static int db_end(struct sink *s, const struct trace_meta *meta)
{
	struct db *d = (struct db *)s;
	int err = sqlite_facts(d, meta);

	err = err ?: sqlite_programs(d);
	if (!err && !d->hosts.count)
		err = execute(d, "INSERT INTO HOST_INFO SELECT '0', coalesce(value, '') "
				 "FROM ACLTAP_CAPTURE WHERE name = 'host'");
	if (!err)
		err = execute(d, "INSERT INTO SESSION_TIME_INFO SELECT a.value, b.value "
				 "FROM ACLTAP_CAPTURE a, ACLTAP_CAPTURE b "
				 "WHERE a.name = 'firstRealNs' AND b.name = 'lastRealNs'");
	if (!err)
		err = complete_file(d);
	return err ? err : out_close(take_ptr(d->out));
}

const struct sink_ops sink_db = {
	.name = "db",
	.suffix = ".db",
	.help = "the vendor's SQLite database with tables of ours; MindStudio Insight, sqlite3",
	.order = SINK_BY_END,
	.open = db_open,
	.begin = db_begin,
	.process = sqlite_process,
	.thread = sqlite_thread,
	.category = sqlite_category,
	.span = db_span,
	.tally = sqlite_tally,
	.source = sqlite_source,
	.end = db_end,
	.free = db_free,
};
