/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A span with its texts in few bytes, for the sort: what is usually small or absent takes one byte
 * or none. Only for our own use within one run of acltap. Pure.
 */
#ifndef ACLTAP_SINK_PACK_H
#define ACLTAP_SINK_PACK_H

#include <stddef.h>

#include "core/model.h"

#define PACK_DOMAIN_MAX 4096 /* a longer domain is cut */
/* Room that any span takes at most. */
#define PACK_MAX (170 + UINT16_MAX + PACK_DOMAIN_MAX + 1)

/* Writes sp at p (PACK_MAX bytes) and a number of the caller's; returns the bytes used. */
size_t pack_span(const struct span *sp, uint64_t tag, unsigned char *p);

/* Reads a span back; its texts point into p. Returns 0, or -EIO when the bytes are no span. */
int unpack_span(const unsigned char *p, size_t n, struct span *sp, uint64_t *tag);

#endif
