/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that choose spans, for every command that shows or exports some. A command embeds
 * struct filters and puts FILTERS_OPTIONS into its table of options. A capture has always all.
 */
#ifndef ACLTAP_CMD_FILTERS_H
#define ACLTAP_CMD_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/cmd.h"
#include "core/filter.h"
#include "util/opt.h"

struct filters {
	struct opt_strings match, exclude;
	struct opt_pids tids;
	uint64_t min_ns, from_ns, to_ns;
};

/* What a command initializes them with: without options everything passes. */
#define FILTERS_INIT                                                                               \
	{                                                                                          \
		.to_ns = UINT64_MAX                                                                \
	}

#define FILTERS_ROW(config, name, letter, type, field, arg, help)                                  \
	{                                                                                          \
		name, letter, type, offsetof(config, filters) + offsetof(struct filters, field),   \
			arg, help, NULL, NULL                                                      \
	}

/* The rows of the table, for a config with a member `filters`. --pid is the command's own. */
#define FILTERS_OPTIONS(config)                                                                    \
	FILTERS_ROW(config, "match", 'm', OPT_STRINGS, match, "GLOB",                              \
		    "only names like that (repeatable)"),                                          \
		FILTERS_ROW(config, "exclude", 0, OPT_STRINGS, exclude, "GLOB",                    \
			    "no names like that (repeatable)"),                                    \
		FILTERS_ROW(config, "min-duration", 0, OPT_DURATION, min_ns, "T",                  \
			    "nothing shorter, so no marks"),                                       \
		FILTERS_ROW(config, "tid", 0, OPT_PIDS, tids, "TID", "only these threads"),        \
		FILTERS_ROW(config, "from", 0, OPT_DURATION, from_ns, "TIME",                      \
			    "what ended after that, from the trace's start"),                      \
		FILTERS_ROW(config, "to", 0, OPT_DURATION, to_ns, "TIME",                          \
			    "what began before that")

/* Returns -1 to go on, or the exit status of a usage error. */
int filters_check(const struct filters *f, const struct command *cmd);

/* The filter; f keeps the memory. pids, which may be NULL, are the processes to show. */
struct filter_config filters_config(const struct filters *f, const struct opt_pids *pids);

void filters_free(struct filters *f);

#endif
