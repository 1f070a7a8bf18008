/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data inside of an HTML page: JSON that cannot end the element it stands in, and numbers as bytes
 * in base64. Errors of the output stick in it.
 */
#ifndef ACLTAP_SINK_HTML_TEXT_H
#define ACLTAP_SINK_HTML_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "sink/out.h"
#include "sink/repair.h"

/*
 * A JSON string, quoted, of any bytes. What is no UTF-8 becomes U+FFFD. Escaped are also < > & and
 * all characters that change how a text is laid out or that cannot be seen: control characters,
 * line and paragraph separators, directions (bidi), zero widths. 0 or -ENOMEM.
 */
int html_string(struct out *o, struct repair *r, const char *s, size_t n);
/* A JSON number; beyond 2^53, which JavaScript cannot hold, a string of digits. */
void html_u64(struct out *o, uint64_t v);

/* A stream of bytes in base64, in lines. Zeroed at start but for the output. */
struct html_bytes {
	struct out *out;
	unsigned char held[3];
	unsigned int n_held, column;
};

void html_byte(struct html_bytes *b, unsigned char v);
/* Seven bits a byte, the lowest first; all but the last byte have the top bit. */
void html_varint(struct html_bytes *b, uint64_t v);
/* Signed: 0, -1, 1, -2 become 0, 1, 2, 3. */
void html_signed(struct html_bytes *b, int32_t v);
/* Writes what is held; the stream can begin anew. */
void html_bytes_end(struct html_bytes *b);

#endif
