// SPDX-License-Identifier: GPL-2.0-only
/* acltap export: a capture into any format. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/filters.h"
#include "cmd/finish.h"
#include "cmd/outputs.h"
#include "util/cleanup.h"
#include "util/log.h"

struct export_opts {
	struct outputs_opts to;
	struct filters filters;
	struct opt_pids pids;
	bool strict, quiet;
};

#define O(field) offsetof(struct export_opts, field)

static const struct opt options[] = {
	OUTPUTS_OPTIONS(struct export_opts, "FILE",
			"format by suffix: " SINK_SUFFIXES "; - is standard output as .tsv"),
	FILTERS_OPTIONS(struct export_opts),
	{"pid", 'p', OPT_PIDS, O(pids), "PID", "only these processes", NULL, NULL},
	CMD_STRICT_OPTION(struct export_opts, strict),
	CMD_QUIET_OPTION(struct export_opts, quiet),
};

static int export(const struct export_opts *o, const char *arg)
{
	const struct filter_config filter = filters_config(&o->filters, &o->pids);
	struct outputs outputs = {0};
	_free_ char *source = finish_capture_of(arg);
	struct finish_config cfg = {.outputs = &outputs,
				    .source = source,
				    .sink = o->to.sink,
				    .filter = &filter,
				    .quiet = o->quiet};
	struct finish_result res = {0};
	int err = source ? outputs_plan(&o->to, false, &outputs) : -1;

	if (err == -EINVAL)
		err = EXIT_USAGE;
	if (!err && outputs.capture)
		err = cmd_usage_error(&cmd_export, "a capture is not a format to export to");
	if (!err)
		err = finish_outputs(&cfg, &res);
	outputs_free(&outputs);
	if (err)
		return err == EXIT_USAGE ? EXIT_USAGE : EXIT_FAILED;
	if (res.status)
		return res.status;
	return o->strict && res.incomplete ? EXIT_INCOMPLETE : EXIT_OK;
}

static int run_export(int argc, char **argv)
{
	struct export_opts o = {.filters = FILTERS_INIT};
	struct opt_result res;
	int status = cmd_parse(&cmd_export, argc, argv, &o, &res);

	if (status < 0 && res.n_args != 1)
		status =
			cmd_usage_error(&cmd_export, "name one capture, or the directory it is in");
	if (status < 0 && !o.to.paths.n)
		status = cmd_usage_error(&cmd_export, "nothing to write: give -o FILE");
	if (status < 0)
		status = filters_check(&o.filters, &cmd_export);
	if (status < 0) {
		log_set_level(o.quiet ? LOG_QUIET : LOG_NORMAL);
		status = export(&o, res.args[0]);
	}
	outputs_opts_free(&o.to);
	opt_pids_free(&o.pids);
	filters_free(&o.filters);
	return status;
}

const struct command cmd_export = {
	.name = "export",
	.summary = "turn a capture into other formats",
	.usage = "CAPTURE|DIR -o FILE...",
	.example = "acltap export PROF_20260101120000_4242 -o marks.csv -o marks.ndjson",
	.opts = options,
	.n_opts = sizeof(options) / sizeof(options[0]),
	.mode = OPT_MIXED,
	.run = run_export,
};
