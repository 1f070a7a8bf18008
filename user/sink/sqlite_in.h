/* SPDX-License-Identifier: GPL-2.0-only */
/* The database sink: spans and the file in sqlite.c, the rest in sqlite_facts.c. Internal. */
#ifndef ACLTAP_SINK_SQLITE_IN_H
#define ACLTAP_SINK_SQLITE_IN_H

#include "sink/dbfile.h"
#include "sink/dbrow.h"
#include "sink/ids.h"
#include "sink/intern.h"
#include "sink/repair.h"
#include "sink/sink.h"

enum statement {
	INSERT_EVENT,
	INSERT_SPAN,
	INSERT_STRING,
	FIND_STRING, /* only once there is the index */
	INSERT_COUNT,
	INSERT_PROCESS,
	INSERT_THREAD,
	INSERT_CATEGORY,
	INSERT_PROGRAM,
	INSERT_SOURCE,
	INSERT_HOST,
	INSERT_FACT,
	STATEMENTS,
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

static inline struct dbrow sqlite_row(struct db *d, enum statement which)
{
	return (struct dbrow){.stmt = d->stmt[which]};
}

static inline int sqlite_insert(struct db *d, struct dbrow *row)
{
	return dbfile_error(d->file, dbrow_insert(row));
}

/* Binds a text of any bytes; NULL when it is empty. It stays in d->repair until the next. */
int sqlite_bind_text(struct db *d, struct dbrow *row, const char *s, size_t n);

/* sqlite_facts.c: as in struct sink_ops. */
int sqlite_process(struct sink *s, const struct process *p);
int sqlite_thread(struct sink *s, const struct label *l);
int sqlite_category(struct sink *s, const struct label *l);
int sqlite_tally(struct sink *s, const struct tally *t);
int sqlite_source(struct sink *s, const struct trace_source *src);
/* What ran in the processes, for ACLTAP_SPANS.program. */
int sqlite_programs(struct db *d);
/* What is known of the whole capture. */
int sqlite_facts(struct db *d, const struct trace_meta *meta);

#endif
