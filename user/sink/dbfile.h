/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SQLite on a descriptor. SQLite opens files by name and follows what it finds there; this gives
 * it a file that acltap has created as safely as every other output, and keeps the reason when a
 * write fails. Nobody else can use the database meanwhile: no locks, no journal.
 */
#ifndef ACLTAP_SINK_DBFILE_H
#define ACLTAP_SINK_DBFILE_H

#include <sqlite3.h>

struct dbfile;

/*
 * fd: an empty regular file, for reading and writing, which stays the caller's. path: where
 * SQLite's scratch files go beside. Returns 0 and an open database, or -errno.
 */
int dbfile_open(int fd, const char *path, struct dbfile **out);
sqlite3 *dbfile_db(const struct dbfile *f);

/* What a result code means as -errno: of the file's own first error where there is one, or 0. */
int dbfile_error(const struct dbfile *f, int rc);

/* All statements must be finalized. Returns what closing said; frees f in any case. */
int dbfile_close(struct dbfile *f);

#endif
