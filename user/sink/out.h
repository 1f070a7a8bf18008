/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffered byte output to a file, a descriptor or memory. The first error sticks: later calls do
 * nothing and out_close() returns it. A file has a temporary name beside the final one until
 * out_close(), is created with O_EXCL | O_NOFOLLOW, and is removed when closed with an error.
 */
#ifndef ACLTAP_SINK_OUT_H
#define ACLTAP_SINK_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/* Refuses an existing path with -EEXIST unless overwrite. "-" is standard output. */
int out_file(const char *path, bool overwrite, struct out **out);
/* Collects in memory, at most limit bytes (then -ENOSPC): for tests. */
int out_memory(size_t limit, struct out **out);
const char *out_data(const struct out *o, size_t *sz); /* of out_memory */

void out_write(struct out *o, const void *p, size_t n);
void out_str(struct out *o, const char *s);
void out_char(struct out *o, char c);
void out_u64(struct out *o, uint64_t v); /* decimal */
int out_error(const struct out *o);      /* first error, or 0 */

/* Flushes, closes, renames to the final name; frees o. Returns the first error. */
int out_close(struct out *o);
/* Throws away: closes and removes the temporary file; frees o. NULL is fine. */
void out_discard(struct out *o);

#endif
