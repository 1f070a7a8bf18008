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
	struct opt_strings out;
	struct filters filters;
	struct opt_pids pids;
	bool overwrite, no_tab, lanes, strict, quiet;
};

#define O(field) offsetof(struct export_opts, field)

static const struct opt options[] = {
	{"output", 'o', OPT_STRINGS, O(out), "FILE",
	 "format by suffix: " SINK_SUFFIXES "; - is standard output as .tsv", NULL, NULL},
	{"force", 'f', OPT_FLAG, O(overwrite), NULL, "overwrite existing files", NULL, NULL},
	FILTERS_OPTIONS(struct export_opts),
	{"pid", 'p', OPT_PIDS, O(pids), "PID", "only these processes", NULL, NULL},
	{"no-tab", 0, OPT_FLAG, O(no_tab), NULL, "csv: no TAB after times", NULL, NULL},
	{"lanes", 0, OPT_FLAG, O(lanes), NULL, "json: overlapping ranges on rows of their own",
	 NULL, NULL},
	{"strict", 0, OPT_FLAG, O(strict), NULL, "exit 3 when anything was lost or unsure", NULL,
	 NULL},
	{"quiet", 'q', OPT_FLAG, O(quiet), NULL, "errors and warnings only", NULL, NULL},
};

static int export(const struct export_opts *o, const char *arg)
{
	const struct filter_config filter = filters_config(&o->filters, &o->pids);
	struct outputs outputs = {0};
	_free_ char *source = finish_capture_of(arg);
	struct finish_config cfg = {
		.outputs = &outputs,
		.source = source,
		.sink = {.no_tab = o->no_tab, .lanes = o->lanes, .overwrite = o->overwrite},
		.filter = &filter,
		.quiet = o->quiet};
	struct finish_result res = {0};
	int err = source ? outputs_plan(&o->out, false, o->overwrite, &outputs) : -1;

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
	struct export_opts o = {0};
	struct opt_result res;
	int status = cmd_parse(&cmd_export, argc, argv, &o, &res);

	if (status < 0 && res.n_args != 1)
		status =
			cmd_usage_error(&cmd_export, "name one capture, or the directory it is in");
	if (status < 0 && !o.out.n)
		status = cmd_usage_error(&cmd_export, "nothing to write: give -o FILE");
	if (status < 0)
		status = filters_check(&o.filters, &cmd_export);
	if (status < 0) {
		log_set_level(o.quiet ? LOG_QUIET : LOG_NORMAL);
		status = export(&o, res.args[0]);
	}
	opt_strings_free(&o.out);
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
