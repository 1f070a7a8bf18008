// SPDX-License-Identifier: GPL-2.0-only
/* acltap record: trace a program from its start, or running ones, and write the results. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/finish.h"
#include "cmd/giveup.h"
#include "cmd/outputs.h"
#include "cmd/targets.h"
#include "util/log.h"
#include "util/str.h"

/* Everything that one run needs, so that each step is a function of it. */
struct run {
	struct targets targets;
	struct outputs_opts to;
	uint64_t max_size;
	bool last;
	bool dry_run, all;
	struct outputs outputs;
	struct capwrite *capture;
};

#define MIN_LAST (4ull << 20) /* several blocks, see CAPTURE_BLOCK_MAX */

#define O(field) offsetof(struct run, field)

static const struct opt options[] = {
	OUTPUTS_OPTIONS(struct run, "PATH", "file by suffix, else directory (default PROF_...)"),
	TARGETS_OPTIONS(struct run),
	{"all", 0, OPT_FLAG, O(all), NULL, "count functions that make no event too", NULL, NULL},
	{"max-size", 0, OPT_SIZE, O(max_size), "SIZE", "end when the capture is that large", NULL,
	 NULL},
	{"last", 0, OPT_FLAG, O(last), NULL, "instead go on, and keep the last --max-size", NULL,
	 NULL},
	{"dry-run", 0, OPT_FLAG, O(dry_run), NULL, "only say what would be probed", NULL, NULL},
};

static int open_session(struct run *r)
{
	const struct session_config cfg = {.plan.all = r->all,
					   .max_size = r->last ? 0 : r->max_size};

	return targets_open(&r->targets, &cfg);
}

static int dry_run(struct run *r)
{
	_str_ struct str text = {0};
	int err = open_session(r);

	if (!err)
		err = session_describe(r->targets.session, &text);
	if (!err)
		fputs(text.len ? str_get(&text) : "nothing to probe: no traced function found\n",
		      stdout);
	return err || fflush(stdout) ? targets_failed(&r->targets) : EXIT_OK;
}

static int close_capture(struct run *r)
{
	const char *path = r->outputs.capture;
	int err = capwrite_close(r->capture);

	if (err == -ENOENT)
		return log_fail(err, "'%s' was removed or replaced while it was recorded", path);
	return err ? log_err(err, "cannot complete '%s'", path) : 0;
}

/* After tracing: complete the capture, write the outputs, wait for the command. */
static int finish(struct run *r, int trace_err, int cmd_status)
{
	struct finish_config cfg = {
		.outputs = &r->outputs, .sink = r->to.sink, .quiet = r->targets.quiet};
	struct finish_result res = {0};
	bool was = outputs_enter(&r->outputs);
	int err = trace_err;
	bool failed, gone;

	if (err)
		capwrite_abandon(r->capture);
	else
		err = close_capture(r);
	privs_as_owner(was);
	r->capture = NULL;
	gone = !trace_err && err == -ENOENT;
	if (!trace_err)
		targets_explain_silence(&r->targets);
	err = err ?: finish_outputs(&cfg, &res);
	failed = err || res.status; /* a capture of ours that is not whole is told already */
	if (failed && !gone)
		finish_keep_capture(&r->outputs);
	if (r->targets.argv)
		cmd_status = session_wait_command(r->targets.session);
	if (failed && r->targets.argv)
		log_warn("the command's exit status was %d", cmd_status);
	if (failed)
		return targets_failed(&r->targets);
	if (!cmd_status && r->targets.strict &&
	    (res.incomplete || session_missed(r->targets.session)))
		return EXIT_INCOMPLETE;
	return cmd_status;
}

/* Only when there is something to record: -f must not cost a capture for a PID that is gone. */
static int open_capture(struct run *r)
{
	bool was = outputs_enter(&r->outputs);
	int err = capwrite_open(r->outputs.capture, r->to.sink.overwrite, &r->capture);

	if (!err && r->last)
		err = capwrite_keep_last(r->capture, r->max_size);
	privs_as_owner(was);
	if (err == -EBUSY)
		return log_fail(err, "cannot write '%s': another acltap is recording into it",
				r->outputs.capture);
	err = err ?: session_set_capture(r->targets.session, r->capture);
	if (err)
		log_err(err, "cannot write '%s'", r->outputs.capture);
	return err;
}

/* Nothing was recorded: nothing of ours may stay. */
static void remove_outputs(struct run *r)
{
	if (r->capture) {
		bool was = outputs_enter(&r->outputs);

		capwrite_remove(r->capture);
		r->capture = NULL;
		privs_as_owner(was);
	}
	outputs_remove_empty(&r->outputs);
}

static int record(struct run *r)
{
	int err, cmd_status = 0;

	giveup_watch(targets_failed(&r->targets));
	err = outputs_plan(&r->to, true, &r->outputs);
	if (err == -EINVAL)
		return EXIT_USAGE;
	r->targets.override = r->outputs.override;
	err = err ?: open_session(r);
	err = err ?: open_capture(r);
	if (!err && giveup_asked())
		err = log_fail(-EINTR, "ended by a signal before tracing began");
	if (!err) {
		err = targets_run(&r->targets, &cmd_status);
		if (!cmd_status)
			return finish(r, err, cmd_status);
	}
	remove_outputs(r);
	return cmd_status ? cmd_status : targets_failed(&r->targets);
}

static int run_record(int argc, char **argv)
{
	struct run r = {0};
	struct opt_result args;
	int status;

	targets_init(&r.targets);
	status = cmd_parse(&cmd_record, argc, argv, &r, &args);
	if (status < 0 && r.last && r.max_size < MIN_LAST)
		status = cmd_usage_error(&cmd_record, "--last needs --max-size of at least 4M");
	if (status < 0)
		status = targets_prepare(&r.targets, &cmd_record, args.n_args ? args.args : NULL);
	if (status < 0)
		status = r.dry_run ? dry_run(&r) : record(&r);
	giveup_done(status);
	targets_free(&r.targets);
	outputs_free(&r.outputs);
	outputs_opts_free(&r.to);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "trace a program, or running ones, and write what they annotated",
	.usage = "[options] -- CMD [ARG...]\n[options] -p PID[,PID...]|-n GLOB|-a",
	.example = "acltap record -o run -- python3 train.py\nacltap record -d 10s -o marks.csv -p "
		   "4242",
	.opts = options,
	.n_opts = sizeof(options) / sizeof(options[0]),
	.mode = OPT_COMMAND,
	.run = run_record,
};
