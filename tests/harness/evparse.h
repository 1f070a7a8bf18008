/* SPDX-License-Identifier: GPL-2.0-only */
/* A line of an event script, taken apart. Internal to evscript. */
#ifndef ACLTAP_EVPARSE_H
#define ACLTAP_EVPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/kernelsim.h"
#include "wire.h"

#define TEXT_MAX (UINT16_MAX - sizeof(struct wire))

/* Names of values; the order is that of key_names. */
enum key {
	K_STAMP,
	K_COPY,
	K_ID,
	K_LEN,
	K_STREAM,
	K_NUMBER,
	K_TYPE,
	K_VALUE,
	K_SIZE,
	K_RET,
	K_AT,
	K_PTR,
	K_CHILD,
	K_REAL,
	K_BOOT,
	K_COUNT,
	K_FROM,
	K_CALLS,
	K_LOST,
	K_LOST_RETURNS,
	K_KIND,
	K_FUNC,
	K_SEQ,
	K_GAP,
	K_DEPTH,
	K_MIN_DEPTH,
	K_ARG0,
	K_ARG1,
	K_FLAGS,
	K_MSG_LEN,
	N_KEYS
};

/* A piece of the script. */
struct word {
	const char *s;
	size_t n;
};

/* One line, taken apart. */
struct line {
	uint64_t time_ns;
	uint32_t tgid, tid;
	bool lost, has_text;
	uint16_t flags;
	uint64_t value[N_KEYS];
	bool has[N_KEYS];
	size_t text_len;
};

struct script {
	int (*push)(void *ctx, const void *rec, size_t sz);
	void *ctx;
	const char *pos, *end; /* of the line */
	const char *why;       /* what is wrong with it */
	uint64_t time_ns;
	struct line line;
	struct kernelsim kernel;
	struct {
		struct wire w;
		char text[TEXT_MAX];
	} rec;
};

/* Notes what is wrong with the line; returns -EINVAL. */
int ev_bad(struct script *s, const char *why);
bool ev_is(struct word w, const char *name);
/* The next word of the line up to a blank, '=' or quote; empty at the end. */
struct word ev_word(struct script *s);
/* TIME PID/TID [lost] VERB, and everything behind it. Return 0 or -EINVAL. */
int ev_start(struct script *s, struct word *verb);
int ev_rest(struct script *s);

#endif
