/* SPDX-License-Identifier: GPL-2.0-only */
/* A capture once more through the pipeline: what `export` does, and `record` when it ends. */
#ifndef ACLTAP_STORE_REPLAY_H
#define ACLTAP_STORE_REPLAY_H

#include "store/capture.h"

struct consumer;
struct fanout;
struct filter_config;
struct summary;

/*
 * Reads the capture (own: see capread_open_own()) into the sinks of f and into s; either may be
 * NULL. f gets what passes the filter, which may be NULL; s gets all. progress, which may be NULL,
 * is told the bytes read of those there are, about once a block. A truncated or damaged capture is
 * no error: what is whole is exported, *ended tells (when opening succeeded), and the summary says
 * up to when it reaches. Returns 0 or the first error: of opening or reading the capture, of
 * memory, or of a sink (then that sink's err is set; the others are complete).
 */
int export_capture(const char *capture, bool own, struct fanout *f,
		   const struct filter_config *filter, struct summary *s, enum capread_end *ended,
		   void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx);

/* The same of any capture into any consumer; next may be NULL. */
int replay_capture(const char *capture, const struct consumer *next, struct summary *s,
		   enum capread_end *ended,
		   void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx);

#endif
