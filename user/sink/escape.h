/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text and numbers in the form of the outputs. The put_* functions write at p, which must have the
 * room that is said, and return the end; the out_* ones write any length. Pure.
 *
 * All texts: bytes that are no UTF-8 become U+FFFD, one for each maximal part of a sequence.
 *   CSV    RFC 4180: quoted exactly when it contains a comma, a quote or a line break
 *   JSON   quoted; quotes, backslashes and control characters escaped, all else raw
 *   TSV    \\ \t \n \r and, for other control characters, \xHH; nothing else is escaped
 */
#ifndef ACLTAP_SINK_ESCAPE_H
#define ACLTAP_SINK_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#include "core/model.h"
#include "sink/out.h"

#define PUT_U64_MAX 20
#define PUT_USEC_MAX 24

char *put_u64(char *p, uint64_t v);	    /* decimal; PUT_U64_MAX */
char *put_i64(char *p, int64_t v);	    /* PUT_U64_MAX */
char *put_usec(char *p, uint64_t ns);	    /* 1717575960208120.114; PUT_USEC_MAX */
char *put_usec_short(char *p, uint64_t ns); /* 1 to 3 decimals: 0.0 505.17; PUT_USEC_MAX */
char *put_text(char *p, const char *text);  /* copies a constant */

/* Length of the UTF-8 character at s (n >= 1 bytes left), or minus the bytes to replace. */
int utf8_length(const unsigned char *s, size_t n);

void out_csv(struct out *o, const char *s, size_t n);
void out_json(struct out *o, const char *s, size_t n);
void out_tsv(struct out *o, const char *s, size_t n);

/* The name of a span by one of the writers above; with UNREADABLE_TEXT where it was not read. */
typedef void (*text_writer)(struct out *o, const char *s, size_t n);
void out_span_name(struct out *o, const struct span *sp, text_writer writer);

/* The payload as an unsigned number, its bytes taken as little endian. */
uint64_t payload_value(const struct payload *p);

#endif
