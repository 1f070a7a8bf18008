/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One capture on its way into a merged one: what its beginning says of it, and then its records in
 * order of time, with the PIDs and times that they have in the merged one. Memory: what lies
 * between two watermarks of the capture, as when it is read alone. Internal to merge.c.
 */
#ifndef ACLTAP_STORE_MERGEIN_H
#define ACLTAP_STORE_MERGEIN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model.h"
#include "store/capture.h"
#include "wire.h"

#define MERGEIN_TEXT 128

/* Where a source comes from: one of a plain capture, several of one that was merged before. */
struct mergein_source {
	uint32_t number;	   /* in this capture; 0 of a plain one */
	char id[2 * MERGEIN_TEXT]; /* equal: the same recording */
	char capture_id[MERGEIN_TEXT], boot_id[MERGEIN_TEXT], host[MERGEIN_TEXT];
	struct clock_triple first; /* has_clock only */
	bool has_clock;
	bool unshifted; /* in a merged one: its times are those of its own clock */
};

struct mergein_head {
	bool merged;
	struct clock_triple first; /* of the capture's timeline; has_clock only */
	bool has_clock;
	struct mergein_source *sources; /* n_sources, at least one */
	size_t n_sources;
};

/*
 * Reads up to the first event. Returns 0; an error of capread_open() or of reading; -ENOMEM;
 * -E2BIG: more sources than there are numbers.
 */
int mergein_head(const char *path, struct mergein_head *out);
void mergein_head_free(struct mergein_head *h);

struct mergein;

/* For each source of a capture what it is in the merged one; shared by all captures. */
struct mergein_config {
	int64_t shift_ns;  /* added to all times */
	uint32_t *numbers; /* new numbers by old ones, WIRE_SOURCES_MAX + 1; 0 = none yet */
	uint32_t *used;	   /* the last number given, of all captures */
};

int mergein_open(const char *path, const struct mergein_config *cfg, struct mergein **out);
void mergein_close(struct mergein *in); /* NULL is fine */

struct mergein_record {
	uint64_t key;	 /* place in time: never goes back */
	bool late;	 /* older than its key: it came too late where it was recorded */
	uint32_t sz;	 /* of rec */
	const void *rec; /* valid until the next call */
};

/* 1 and the next record; 0 at the end; -errno: of reading, -ENOMEM, -E2BIG: too many sources. */
int mergein_next(struct mergein *in, struct mergein_record *out);
enum capread_end mergein_ended(const struct mergein *in); /* after mergein_next() gave 0 */
uint64_t mergein_offset(const struct mergein *in);	  /* bytes read, of mergein_size() */
uint64_t mergein_size(const struct mergein *in);
uint64_t mergein_last_clock(const struct mergein *in); /* newest monotonic reading, as merged */

#endif
