/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The capture file (.acltap): wire records in blocks, append only.
 *
 *   file header, 64 bytes:  magic "ACLTAP\r\n"; u32 format version 1, or 2 with records of several
 *                           sources (wire.h, WIRE_PID_BITS); u32 WIRE_VERSION;
 *                           u32 header size 64; u32 CRC-32 of the 20 bytes before it;
 *                           u64 part, begin, end (see capwrite_keep_last(), else 0); zeros
 *   block:  u32 magic "BLK1"; u32 type (1 records, 2 footer); u32 payload bytes; u32 CRC-32 of
 *           type, payload size and payload; payload, padded with zeros to a multiple of 8
 *   records payload: struct wire + message, each record padded to a multiple of 8
 *   footer payload:  u64 records; u64 first time_ns; u64 last time_ns; u64 blocks
 *
 * All little endian; CRC-32 as in zlib. A block is at most CAPTURE_BLOCK_MAX bytes and written by
 * one write(2), so after a crash or on a full disk the file is whole up to its last block; without
 * a footer it is incomplete. The reader trusts nothing.
 */
#ifndef ACLTAP_STORE_CAPTURE_H
#define ACLTAP_STORE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_SUFFIX ".acltap"
#define CAPTURE_BLOCK_MAX (1u << 20)

/* Writing. */
struct capwrite;

/*
 * Creates path (O_EXCL unless overwrite, never through a symlink) with its header, and locks it
 * until it is closed. -EBUSY: to be overwritten, and being recorded. What lies at path
 * CAPTURE_OLDER counts as path itself: -EEXIST, or with overwrite it is removed.
 */
int capwrite_open(const char *path, bool overwrite, struct capwrite **out);
/* The same for records of several sources: what cannot read those must not try. */
int capwrite_open_merged(const char *path, bool overwrite, struct capwrite **out);
/*
 * From now on at most about max bytes are kept, the last ones (at least half of it). While it grows
 * such a capture is two files, path and path CAPTURE_OLDER, which capread_open(path) reads as one;
 * each begins with what later records need of dropped ones (keep.h), and states how many calls were
 * dropped. capwrite_close() makes one file of them. Before the first record.
 */
#define CAPTURE_OLDER ".older"
int capwrite_keep_last(struct capwrite *w, uint64_t max);
/* Appends one record; blocks are written when full. Error sticks. */
int capwrite_record(struct capwrite *w, const void *rec, size_t sz);
/* Writes the block begun, so that all so far survives a crash of acltap. */
int capwrite_flush(struct capwrite *w);
uint64_t capwrite_bytes(const struct capwrite *w);
/* What the file system has left for the file. 0 or -errno. */
int capwrite_free_bytes(const struct capwrite *w, uint64_t *bytes);
/* Flush, footer, fsync, close. -ENOENT: somebody removed the file meanwhile. Frees w. */
int capwrite_close(struct capwrite *w);
/* Close without footer: the file stays readable up to its last block. Frees w; NULL is fine. */
void capwrite_abandon(struct capwrite *w);
/* The same, and the file is removed, wherever its directory is by now. */
void capwrite_remove(struct capwrite *w);

/* Reading. */
struct capread;

enum capread_end {
	CAPREAD_COMPLETE,  /* footer seen */
	CAPREAD_TRUNCATED, /* ends without one: its recording crashed */
	CAPREAD_DAMAGED,   /* a block that fails its check; what came before was delivered */
	CAPREAD_RUNNING,   /* ends without one, and is being recorded */
};

/* -EINVAL: not a capture (or its header is cut); -ENOTSUP: of a newer version. */
int capread_open(const char *path, struct capread **out);
/* The same of one that acltap itself has just written: no link leads to another (safepath.h). */
int capread_open_own(const char *path, struct capread **out);
bool capread_is_merged(const struct capread *r); /* records of several sources */
/* The next record: 1 and *rec, *sz (valid until the next call); 0 at the end; -errno. */
int capread_next(struct capread *r, const void **rec, size_t *sz);
enum capread_end capread_ended(const struct capread *r); /* after capread_next() gave 0 */
uint64_t capread_offset(const struct capread *r);	 /* bytes read, for progress */
uint64_t capread_size(const struct capread *r);
uint64_t capread_last_ns(const struct capread *r); /* newest time_ns seen */
void capread_close(struct capread *r);

#endif
