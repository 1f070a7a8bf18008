/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts for formats that must have valid UTF-8: replaced are the same bytes as in escape.h. */
#ifndef ACLTAP_SINK_REPAIR_H
#define ACLTAP_SINK_REPAIR_H

#include <stddef.h>

#include "core/model.h"

/* Room for one repaired text; zeroed at start, used again by each call. */
struct repair {
	char *buf;
	size_t cap;
};

/* *s and *n become valid UTF-8: the same when they are, else in r's room. 0 or -ENOMEM. */
int repair_text(struct repair *r, const char **s, size_t *n);
/* The name of a span, with the mark of escape.h when it could not be read. 0 or -ENOMEM. */
int repair_name(struct repair *r, const struct span *sp, const char **s, size_t *n);
void repair_free(struct repair *r);

#endif
