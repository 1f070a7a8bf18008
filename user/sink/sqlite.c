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

#include "core/entry.h"
#include "sink/dbfile.h"
#include "sink/dbrow.h"
#include "sink/escape.h"
#include "sink/ids.h"
#include "sink/intern.h"
#include "sink/out.h"
#include "sink/repair.h"
#include "sink/sink.h"
#include "sink/sqlite_schema.h"
#include "util/cleanup.h"
#include "util/hash.h"

#define NO_ID 4294967295	  /* the vendor's rangeId, and category of what has none */
#define NO_CONNECTION 4000000000u /* those of marker_ex count up from the next */
#define NAMES_MAX (256u << 10)	  /* kept in memory */
#define NAMES_BYTES (32u << 20)

enum statement {
	INSERT_EVENT,
	INSERT_SPAN,
	INSERT_STRING,
	FIND_STRING, /* only once there is the index */
	INSERT_COUNT,
	INSERT_PROCESS,
	INSERT_THREAD,
	INSERT_CATEGORY,
	INSERT_SOURCE,
	INSERT_HOST,
	INSERT_FACT,
	STATEMENTS,
};

/* What is told twice is told anew; unknown does not replace known. */
static const char *const statements[STATEMENTS] = {
	[INSERT_EVENT] = "INSERT INTO MSTX_EVENTS VALUES(?,?,?,?,?,?,?,?,?,?)",
	[INSERT_SPAN] = "INSERT INTO ACLTAP_SPANS VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
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
	[INSERT_SOURCE] = "INSERT INTO ACLTAP_SOURCES VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[INSERT_HOST] = "INSERT INTO HOST_INFO VALUES(?,?)",
	[INSERT_FACT] = "INSERT OR REPLACE INTO ACLTAP_CAPTURE VALUES(?,?)",
};

struct db {
	struct sink sink;
	struct out *out;
	struct dbfile *file;
	sqlite3_stmt *stmt[STATEMENTS];
	struct intern *names;
	struct repair repair;
	bool indexed;	      /* names beyond memory: STRING_IDS has an index */
	uint64_t next_string; /* id */
	uint64_t connections; /* given to marker_ex */
	struct ids hosts;     /* of a merged trace */
};

struct host {
	uint64_t key;
};

static struct dbrow row_of(struct db *d, enum statement which)
{
	return (struct dbrow){.stmt = d->stmt[which]};
}

static int insert(struct db *d, struct dbrow *row)
{
	return dbfile_error(d->file, dbrow_insert(row));
}

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
	struct dbrow row = row_of(d, INSERT_STRING);
	int err;

	dbrow_int(&row, (int64_t)d->next_string);
	dbrow_text(&row, s, n);
	err = insert(d, &row);
	if (!err)
		*id = d->next_string++;
	return err;
}

/* By the index; *id stays 0 when absent. */
static int find_string(struct db *d, const char *s, size_t n, uint64_t *id)
{
	struct dbrow row = row_of(d, FIND_STRING);
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

/* Binds a text of any bytes; NULL when it is empty. It stays in d->repair until the next. */
static int bind_text(struct db *d, struct dbrow *row, const char *s, size_t n)
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

/* ---- What is known beside the spans -------------------------------------------------------- */

static int bind_own_text(struct dbrow *row, const char *s, char **copy)
{
	struct repair r = {0};
	size_t n = strlen(s);
	int err = repair_text(&r, &s, &n);

	*copy = r.buf;
	if (n)
		dbrow_text(row, s, n);
	else
		dbrow_null(row);
	return err;
}

static int db_process(struct sink *s, const struct process *p)
{
	struct db *d = (struct db *)s;
	struct dbrow row = row_of(d, INSERT_PROCESS);
	_free_ char *name = NULL, *cmdline = NULL, *exe = NULL, *host = NULL;
	int err;

	dbrow_int(&row, p->pid);
	dbrow_int_if(&row, p->nspid, p->nspid);
	dbrow_int_if(&row, p->ppid, p->ppid);
	dbrow_int_if(&row, p->rank >= 0, p->rank);
	err = bind_own_text(&row, p->name, &name);
	if (!err)
		err = bind_own_text(&row, p->cmdline, &cmdline);
	if (!err)
		err = bind_own_text(&row, p->exe, &exe);
	dbrow_int_if(&row, p->local_rank >= 0, p->local_rank);
	if (!err)
		err = bind_own_text(&row, p->host ?: "", &host);
	dbrow_int(&row, p->host_pid ? p->host_pid : p->pid);
	dbrow_int_if(&row, p->source, p->source);
	return err ? err : insert(d, &row);
}

static int insert_label(struct db *d, enum statement which, const struct label *l)
{
	struct dbrow row = row_of(d, which);
	int err;

	dbrow_int(&row, l->pid);
	dbrow_int(&row, l->id);
	err = bind_text(d, &row, l->text, l->len);
	return err ? err : insert(d, &row);
}

static int db_thread(struct sink *s, const struct label *l)
{
	return insert_label((struct db *)s, INSERT_THREAD, l);
}

static int db_category(struct sink *s, const struct label *l)
{
	return insert_label((struct db *)s, INSERT_CATEGORY, l);
}

static int db_tally(struct sink *s, const struct tally *t)
{
	struct db *d = (struct db *)s;
	struct dbrow row = row_of(d, INSERT_COUNT);
	const char *kind = tally_kind_name(t->kind), *func = entry_name(t->func);

	dbrow_text(&row, kind, strlen(kind));
	if (t->kind == TALLY_LATE || t->kind == TALLY_BAD)
		dbrow_null(&row);
	else
		dbrow_text(&row, func, strlen(func));
	dbrow_int_if(&row, t->pid, t->pid);
	dbrow_int_if(&row, t->kind == TALLY_FAILED, t->ret);
	dbrow_int(&row, (int64_t)t->count);
	dbrow_int_if(&row, t->to_ns, (int64_t)t->from_ns);
	dbrow_int_if(&row, t->to_ns, (int64_t)t->to_ns);
	dbrow_int_if(&row, t->source, t->source);
	return insert(d, &row);
}

/* ---- Spans --------------------------------------------------------------------------------- */

static int insert_event(struct db *d, const struct span *sp, uint64_t message, uint64_t domain)
{
	struct dbrow row = row_of(d, INSERT_EVENT);
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
	return insert(d, &row);
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

/* event: its row in MSTX_EVENTS, 0 = none. */
static int insert_span(struct db *d, const struct span *sp, uint64_t message, uint64_t domain,
		       uint64_t event)
{
	struct dbrow row = row_of(d, INSERT_SPAN);
	bool is_mstx = sink_span_domain(sp);
	char payload[PUT_U64_MAX];

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
	return insert(d, &row);
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

/* ---- Sources of a merged trace ------------------------------------------------------------- */

/* The row of HOST_INFO, one for each running kernel; hosts of old captures by their name. */
static int host_uid(struct db *d, const struct trace_source *src, char uid[24])
{
	const char *key = *src->boot_id ? src->boot_id : src->host;
	size_t before = d->hosts.count;
	const struct host *h = ids_get(&d->hosts, hash_str(key));
	struct dbrow row = row_of(d, INSERT_HOST);
	_free_ char *host = NULL;
	int err;

	if (!h)
		return -ENOMEM;
	snprintf(uid, 24, "%zu", (size_t)((const char *)h - d->hosts.entries) / sizeof(*h));
	if (d->hosts.count == before)
		return 0;
	dbrow_text(&row, uid, strlen(uid));
	err = bind_own_text(&row, src->host, &host);
	return err ? err : insert(d, &row);
}

static int db_source(struct sink *s, const struct trace_source *src)
{
	struct db *d = (struct db *)s;
	struct dbrow row = row_of(d, INSERT_SOURCE);
	_free_ char *name = NULL, *host = NULL, *boot = NULL, *version = NULL, *ended = NULL;
	char uid[24];
	int err = host_uid(d, src, uid);

	dbrow_int(&row, src->number);
	err = err ?: bind_own_text(&row, src->name, &name);
	dbrow_text(&row, uid, strlen(uid));
	err = err ?: bind_own_text(&row, src->host, &host);
	err = err ?: bind_own_text(&row, src->boot_id, &boot);
	err = err ?: bind_own_text(&row, src->version, &version);
	dbrow_int(&row, src->shift_ns);
	dbrow_int(&row, (int64_t)src->first.mono_ns);
	dbrow_int(&row, (int64_t)src->first.real_ns);
	dbrow_int(&row, (int64_t)src->last.mono_ns);
	dbrow_int(&row, (int64_t)src->last.real_ns);
	err = err ?: bind_own_text(&row, src->ended, &ended);
	return err ? err : insert(d, &row);
}

/* ---- The end ------------------------------------------------------------------------------- */

static int insert_fact(struct db *d, const char *name, int64_t v)
{
	struct dbrow row = row_of(d, INSERT_FACT);

	dbrow_text(&row, name, strlen(name));
	dbrow_int(&row, v);
	return insert(d, &row);
}

static int insert_text_fact(struct db *d, const char *name, const char *text)
{
	struct dbrow row = row_of(d, INSERT_FACT);
	int err;

	dbrow_text(&row, name, strlen(name));
	err = bind_text(d, &row, text, strlen(text));
	return err ? err : insert(d, &row);
}

static int insert_facts(struct db *d, const struct trace_meta *meta)
{
	const struct {
		const char *name;
		uint64_t v;
	} facts[] = {
		{"complete", meta->complete},
		{"firstMonotonicNs", meta->first.mono_ns},
		{"firstRealNs", meta->first.real_ns},
		{"firstBoottimeNs", meta->first.boot_ns},
		{"lastMonotonicNs", meta->last.mono_ns},
		{"lastRealNs", meta->last.real_ns},
		{"lastBoottimeNs", meta->last.boot_ns},
	};
	int err = insert_text_fact(d, "host", meta->host);

	if (!err)
		err = insert_text_fact(d, "version", meta->version);
	if (!err && meta->sources)
		err = insert_text_fact(d, "aligned", meta->aligned);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && !err; i++)
		err = insert_fact(d, facts[i].name, (int64_t)facts[i].v);
	return err;
}

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
	int err = insert_facts(d, meta);

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
	.process = db_process,
	.thread = db_thread,
	.category = db_category,
	.span = db_span,
	.tally = db_tally,
	.source = db_source,
	.end = db_end,
	.free = db_free,
};
