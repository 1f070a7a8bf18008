// SPDX-License-Identifier: GPL-2.0-only
/* acltap merge: captures of several processes, ranks and hosts into one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/finish.h"
#include "cmd/outputs.h"
#include "store/merge.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/nofile.h"
#include "util/privs.h"
#include "util/unit.h"

struct merge_opts {
	struct outputs_opts to;
	const char *align;
	bool strict, quiet;
};

#define O(field) offsetof(struct merge_opts, field)

static const struct opt options[] = {
	OUTPUTS_OPTIONS(struct merge_opts, "FILE",
			"format by suffix: .acltap " SINK_SUFFIXES "; else a directory"),
	{"align", 0, OPT_STRING, O(align), "NAME",
	 "make the ends of NAME agree (default: the wall clocks)", NULL, NULL},
	CMD_STRICT_OPTION(struct merge_opts, strict),
	CMD_QUIET_OPTION(struct merge_opts, quiet),
};

static void free_inputs(struct merge_input *inputs, size_t n)
{
	for (size_t i = 0; inputs && i < n; i++)
		free((char *)inputs[i].path);
	free(inputs);
}

/* A directory of ours stands for the capture in it. NULL: no memory. */
static struct merge_input *inputs_of(char **args, size_t n)
{
	struct merge_input *inputs = calloc(n, sizeof(*inputs));

	for (size_t i = 0; inputs && i < n; i++) {
		inputs[i].name = args[i];
		inputs[i].path = finish_capture_of(args[i]);
		if (!inputs[i].path) {
			free_inputs(inputs, n);
			return NULL;
		}
	}
	return inputs;
}

static int refuse_own_input(const struct merge_config *cfg, const struct outputs *o)
{
	struct stat out, in;

	for (size_t i = 0; i < cfg->n && !stat(o->capture, &out); i++)
		if (!stat(cfg->inputs[i].path, &in) && in.st_dev == out.st_dev &&
		    in.st_ino == out.st_ino)
			return log_fail(-EINVAL, "'%s' cannot be both read and written",
					o->capture);
	return 0;
}

/* What else there is to say about them is in the summary. */
static void tell_inputs(const struct merge_config *cfg, const struct merge *m, bool quiet)
{
	struct merge_alignment a = merge_alignment(m);
	char buf[UNIT_MAX], count[UNIT_MAX];

	for (size_t i = 0; i < cfg->n && quiet; i++)
		finish_tell_truncated(cfg->inputs[i].path, cfg->inputs[i].ended);
	if (a.ends)
		log_info("%zu clocks aligned on %s ends of '%s', which then differ by %s at most",
			 a.clocks, unit_fmt_count(count, a.ends), cfg->align,
			 unit_fmt_duration(buf, a.worst_ns));
}

static int write_capture(const struct merge_config *cfg, const struct outputs *o,
			 const struct merge_opts *opts)
{
	char why[MERGE_WHY];
	struct merge *m = NULL;
	int err = merge_plan(cfg, &m, why);

	err = err ?: merge_write(m, o->capture, opts->to.sink.overwrite, why);
	log_status(" ");
	if (err)
		log_fail(err, "%s", why);
	else
		tell_inputs(cfg, m, opts->quiet);
	if (err == -ENOSPC)
		log_hint("the captures are as they were: free space and merge again");
	merge_free(m);
	return err;
}

static int merge(const struct merge_opts *o, const struct merge_config *cfg)
{
	struct outputs outputs = {0};
	struct finish_config finish = {
		.outputs = &outputs,
		.sink = o->to.sink,
		.quiet = o->quiet,
	};
	struct finish_result res = {0};
	bool was;
	int err = outputs_plan(&o->to, true, &outputs);

	if (err == -EINVAL) {
		outputs_free(&outputs);
		return EXIT_USAGE;
	}
	was = outputs_enter(&outputs);
	err = err ?: refuse_own_input(cfg, &outputs);
	err = err ?: write_capture(cfg, &outputs, o);
	privs_as_owner(was);
	if (err)
		outputs_remove_empty(&outputs);
	if (!err) {
		err = finish_outputs(&finish, &res);
		if (err)
			finish_keep_capture(&outputs);
	}
	outputs_free(&outputs);
	for (size_t i = 0; i < cfg->n && !err; i++)
		err = cfg->inputs[i].ended != CAPREAD_COMPLETE; /* as every command says of it */
	if (err)
		return EXIT_FAILED;
	return o->strict && res.incomplete ? EXIT_INCOMPLETE : EXIT_OK;
}

static int run(const struct merge_opts *o, const struct opt_result *args)
{
	struct progress bar = progress_new("merging");
	struct merge_config cfg = {
		.inputs = inputs_of(args->args, (size_t)args->n_args),
		.n = (size_t)args->n_args,
		.align = o->align,
		.progress = progress_show,
		.ctx = &bar,
	};
	int status = EXIT_FAILED;

	nofile_raise(NULL); /* all inputs are open at the same time */
	if (cfg.inputs)
		status = merge(o, &cfg);
	else
		log_err(-ENOMEM, "cannot merge");
	free_inputs(cfg.inputs, cfg.n);
	return status;
}

static int run_merge(int argc, char **argv)
{
	struct merge_opts o = {0};
	struct opt_result res;
	int status = cmd_parse(&cmd_merge, argc, argv, &o, &res);

	if (status < 0 && !res.n_args)
		status = cmd_usage_error(&cmd_merge,
					 "name the captures, or the directories they are in");
	if (status < 0 && !o.to.paths.n)
		status = cmd_usage_error(&cmd_merge, "nothing to write: give -o FILE");
	if (status < 0 && o.align && !*o.align)
		status = cmd_usage_error(&cmd_merge, "--align needs a name");
	if (status < 0) {
		log_set_level(o.quiet ? LOG_QUIET : LOG_NORMAL);
		status = run(&o, &res);
	}
	outputs_opts_free(&o.to);
	return status;
}

const struct command cmd_merge = {
	.name = "merge",
	.summary = "put captures of several processes, ranks and hosts together",
	.usage = "CAPTURE|DIR... -o FILE...",
	.example = "acltap merge node1.acltap node2.acltap -o all.acltap\n"
		   "acltap merge --align barrier PROF_* -o all.pftrace",
	.opts = options,
	.n_opts = sizeof(options) / sizeof(options[0]),
	.mode = OPT_MIXED,
	.run = run_merge,
};
