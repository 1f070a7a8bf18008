/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wire bytes -> event. In: one record, any bytes, any alignment. Out: a checked header and where
 * the message is. No state.
 */
#ifndef ACLTAP_CORE_DECODE_H
#define ACLTAP_CORE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire.h"

/* A record on its way; both pointers belong to whoever hands it on, valid during the call. */
struct event {
	const struct wire *w;
	const char *msg; /* w->msg_len bytes */
	bool late;	 /* came later than its watermark */
};

/* A message as text: what the program meant, see decode_text(). */
struct message {
	const char *bytes;
	size_t len;
	bool unreadable, cut;
};

/*
 * Copies the header of the sz bytes at rec to *w and sets *ev. What follows len is ignored (the
 * ring reserves in fixed sizes). Returns 0 or -EBADMSG: too short, lengths that do not agree, an
 * unknown kind or function, a time beyond INT64_MAX, a payload that is missing.
 */
int decode(const void *rec, size_t sz, struct wire *w, struct event *ev);

/* Written by the kernel side, so subject to order and watermark? */
bool decode_is_kernel(const struct wire *w);

/* The text ends at the first NUL; when there is one, nothing behind it was missed or cut. */
struct message decode_text(const struct event *ev);

/* Is it the fact of an option of the recording, as "name=1"? */
bool decode_is_option(const struct event *ev, const char *text);

/*
 * The range that a stop ends, or that the return of a start tells: ids of different copies of the
 * library differ.
 */
uint64_t decode_range_id(const struct wire *w);

#endif
