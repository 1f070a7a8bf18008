/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of traced functions (include/entrypoints.def) as data. Pure. */
#ifndef ACLTAP_CORE_ENTRY_H
#define ACLTAP_CORE_ENTRY_H

#include <linux/types.h>
#include <stddef.h>

/* What a function means to the reconstruction. */
enum op {
	OP_CREATE,
	OP_MESSAGE,
	OP_MARK,
	OP_PUSH,
	OP_POP,
	OP_START,
	OP_STOP,
	OP_DESTROY,
	OP_MARK_EX,
	OP_CATEGORY,
	OP_CATEGORY_NAME,
	OP_PAYLOAD,
	OP_COUNT,
};

/* When a function is probed; column use of entrypoints.def. */
enum entry_use { USE_ALWAYS, USE_BOTH, USE_STAMP, USE_LIFECYCLE, USE_ALL };

struct entry {
	__u8 func; /* row number, as in wire.func */
	const char *symbol;
	const char *python; /* "" where pyACL has none */
	enum op op;
	enum entry_use use;
	__u64 cookie; /* see COOKIE in probe_config.h */
};

/* Number of rows; entry_get(i)->func == i for every i below it. */
size_t entry_count(void);

/* The row, or NULL when func is not in the table (a newer capture, or garbage). */
const struct entry *entry_get(unsigned int func);

/* The row with that symbol, or NULL. */
const struct entry *entry_by_symbol(const char *symbol);

/*
 * The symbol, or "?" for an unknown number: for messages and outputs. Also names the number under
 * which lost process records are counted (PROBE_FUNC_LIFECYCLE).
 */
const char *entry_name(unsigned int func);

#endif
