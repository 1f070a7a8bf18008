// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/filters.h"

int filters_check(const struct filters *f, const struct command *cmd)
{
	if (f->to_ns <= f->from_ns && f->from_ns)
		return cmd_usage_error(cmd, "--to must be later than --from");
	return -1;
}

/* As the filter has it, to which 0 is the end: what begins at the beginning begins before 1 ns. */
static uint64_t end_of(const struct filters *f)
{
	return f->to_ns == UINT64_MAX ? 0 : f->to_ns ?: 1;
}

struct filter_config filters_config(const struct filters *f, const struct opt_pids *pids)
{
	return (struct filter_config){
		.match = f->match.v,
		.n_match = f->match.n,
		.exclude = f->exclude.v,
		.n_exclude = f->exclude.n,
		.pids = pids ? pids->v : NULL,
		.n_pids = pids ? pids->n : 0,
		.tids = f->tids.v,
		.n_tids = f->tids.n,
		.min_ns = f->min_ns,
		.from_ns = f->from_ns,
		.to_ns = end_of(f),
	};
}

void filters_free(struct filters *f)
{
	opt_strings_free(&f->match);
	opt_strings_free(&f->exclude);
	opt_pids_free(&f->tids);
	*f = (struct filters){0};
}
