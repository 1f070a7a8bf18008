/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffered byte output to a file, a descriptor or memory. The first error sticks: later calls do
 * nothing and out_close() returns it. A file has a temporary name beside the final one until
 * out_close(), is created with O_EXCL | O_NOFOLLOW, and is removed when closed with an error. A
 * device or a FIFO is written to directly. Never through a symbolic link in its place, nor through
 * one in a directory that anybody can write to (-ELOOP, see util/safepath.h).
 */
#ifndef ACLTAP_SINK_OUT_H
#define ACLTAP_SINK_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/* Refuses an existing path with -EEXIST unless overwrite. "-" is standard output. */
int out_file(const char *path, bool overwrite, struct out **out);
/* Standard output or error; both stay open. */
int out_stream(int fd, struct out **out);
/* A file that has its final name at once, so that it can be read while it grows. */
int out_growing(const char *path, bool overwrite, struct out **out);
/* Collects in memory, at most limit bytes (then -ENOSPC): for tests. */
int out_memory(size_t limit, struct out **out);
const char *out_data(const struct out *o, size_t *sz); /* of out_memory */

void out_write(struct out *o, const void *p, size_t n);
void out_str(struct out *o, const char *s);
void out_char(struct out *o, char c);
void out_u64(struct out *o, uint64_t v); /* decimal */
/*
 * For an output that may block for long: wait is asked before each write, which then takes at most
 * a page (so that one that poll() allows does not block). 0, or -errno, which sticks.
 */
void out_set_wait(struct out *o, int (*wait)(int fd));
/* Writes what is buffered; not for memory. Returns the first error. */
int out_flush(struct out *o);
int out_error(const struct out *o); /* first error, or 0 */

/*
 * For hot paths: room for OUT_ROOM bytes, never NULL (after an error they go nowhere), then the
 * number of bytes that were put there. Nothing else may be called in between.
 */
#define OUT_ROOM 1024
char *out_room(struct out *o);
void out_advance(struct out *o, size_t n);

/*
 * For a writer with an order of its own (pread, pwrite): the descriptor of a file with a temporary
 * name, which stays o's. -ESPIPE when it is a device, a pipe or memory.
 */
int out_regular_fd(const struct out *o);

/* Flushes and gives the descriptor and the buffer back; the file keeps its temporary name. */
int out_seal(struct out *o);
/* The final name's last component becomes base; not once it is published. */
int out_rename(struct out *o, const char *base);
/* Seals and gives the final name; out_close() then only frees, out_discard() removes the file. */
int out_publish(struct out *o);

/* Flushes, closes, renames to the final name; frees o. Returns the first error. */
int out_close(struct out *o);
/* Throws away: closes and removes the temporary file; frees o. NULL is fine. */
void out_discard(struct out *o);

#endif
