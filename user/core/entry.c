// SPDX-License-Identifier: GPL-2.0-only
#include "core/entry.h"

#include <string.h>

#include "probe_config.h"

#define DEPTH_OF(op) ((op) == OP_PUSH ? DEPTH_PUSH : (op) == OP_POP ? DEPTH_POP : DEPTH_KEEP)

#define RETURN_OF(op) ((op) == OP_CREATE ? COOKIE_POINTER : 0)

#define ENTRY(id, sym, py, o, a0, a1, m, marg, outp, u)                                            \
	[id] = {.func = id,                                                                        \
		.symbol = sym,                                                                     \
		.python = py,                                                                      \
		.op = OP_##o,                                                                      \
		.use = USE_##u,                                                                    \
		.cookie = COOKIE(id, a0, a1, MSG_##m, marg, outp, DEPTH_OF(OP_##o)) |              \
			  RETURN_OF(OP_##o)},

static const struct entry table[] = {
#include "entrypoints.def"
};

#undef ENTRY

#define N_ENTRIES (sizeof(table) / sizeof(table[0]))

_Static_assert(N_ENTRIES <= PROBE_FUNCS, "counters for every function");

size_t entry_count(void)
{
	return N_ENTRIES;
}

const struct entry *entry_get(unsigned int func)
{
	return func < N_ENTRIES ? &table[func] : NULL;
}

const struct entry *entry_by_symbol(const char *symbol)
{
	for (size_t i = 0; i < N_ENTRIES; i++)
		if (!strcmp(table[i].symbol, symbol))
			return &table[i];
	return NULL;
}

const char *entry_name(unsigned int func)
{
	if (func == PROBE_FUNC_LIFECYCLE)
		return "fork/exec/exit";
	return func < N_ENTRIES ? table[func].symbol : "?";
}
