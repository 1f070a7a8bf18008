// SPDX-License-Identifier: GPL-2.0-only
/* acltap record: trace a program from its start, or running ones, and write the results. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/finish.h"
#include "cmd/outputs.h"
#include "discover/libpath.h"
#include "live/session.h"
#include "util/log.h"
#include "util/rights.h"
#include "util/str.h"

#define MIB (1ull << 20)

struct record_opts {
	struct opt_strings out;
	struct opt_strings libs;
	struct opt_pids pids;
	uint64_t duration_ns, delay_ns, ring_size;
	bool overwrite, no_follow, dry_run, strict, no_stop, wait, quiet, verbose, no_tab, lanes;
	bool lifecycle, returns, all;
	int probe_site;
};

#define O(field) offsetof(struct record_opts, field)

static const struct opt_word probe_sites[] = { { "auto", 0 }, { "entry", 1 }, { NULL, 0 } };

static const struct opt options[] = {
	{ "output", 'o', OPT_STRINGS, O(out), "PATH",
	  "file by suffix, else directory (default PROF_...)", NULL, NULL },
	{ "force", 'f', OPT_FLAG, O(overwrite), NULL, "overwrite existing files", NULL, NULL },
	{ "pid", 'p', OPT_PIDS, O(pids), "PID", "attach to running processes", NULL, NULL },
	{ "duration", 'd', OPT_DURATION, O(duration_ns), "TIME",
	  "end tracing after that (default: at the end)", NULL, NULL },
	{ "delay", 0, OPT_DURATION, O(delay_ns), "TIME", "begin after that (default 0)", NULL, NULL },
	{ "no-follow", 0, OPT_FLAG, O(no_follow), NULL, "not the children", NULL, NULL },
	{ "wait", 0, OPT_FLAG, O(wait), NULL, "until the command's children ended as well", NULL,
	  NULL },
	{ "lib", 0, OPT_STRINGS, O(libs), "FILE", "a further library or static binary to look in",
	  NULL, NULL },
	{ "ring-size", 0, OPT_SIZE, O(ring_size), "SIZE", "buffer in the kernel (default 16M)", NULL,
	  NULL },
	{ "no-stop", 0, OPT_FLAG, O(no_stop), NULL, "never stop a process to look at its libraries",
	  NULL, NULL },
	{ "probe-site", 0, OPT_WORD, O(probe_site), "WHERE", "auto (default) or entry", probe_sites,
	  NULL },
	{ "lifecycle", 0, OPT_FLAG, O(lifecycle), NULL, "probe create and destroy too", NULL, NULL },
	{ "returns", 0, OPT_FLAG, O(returns), NULL, "probe return values too", NULL, NULL },
	{ "all", 0, OPT_FLAG, O(all), NULL, "count functions that make no event too", NULL, NULL },
	{ "no-tab", 0, OPT_FLAG, O(no_tab), NULL, "csv: no TAB after times", NULL, NULL },
	{ "lanes", 0, OPT_FLAG, O(lanes), NULL, "json: overlapping ranges on rows of their own", NULL,
	  NULL },
	{ "dry-run", 0, OPT_FLAG, O(dry_run), NULL, "only say what would be probed", NULL, NULL },
	{ "strict", 0, OPT_FLAG, O(strict), NULL, "exit 3 when anything was lost or unsure", NULL,
	  NULL },
	{ "quiet", 'q', OPT_FLAG, O(quiet), NULL, "errors and warnings only", NULL, NULL },
	{ "verbose", 'v', OPT_FLAG, O(verbose), NULL, "say more", NULL, NULL },
};

static int check_options(const struct record_opts *o, const struct opt_result *res)
{
	const struct command *c = &cmd_record;

	if (!res->n_args && !o->pids.n)
		return cmd_usage_error(c, "nothing to trace: give -p PID or -- CMD");
	if (res->n_args && o->pids.n)
		return cmd_usage_error(c, "-p and a command exclude each other");
	if (o->ring_size < 4096 || o->ring_size > 1024 * MIB || (o->ring_size & (o->ring_size - 1)))
		return cmd_usage_error(c, "--ring-size must be a power of two from 4K to 1G");
	if (o->wait && !res->n_args)
		return cmd_usage_error(c, "--wait needs a command");
	return -1;
}

/* Everything that one run needs, so that each step is a function of it. */
struct run {
	struct record_opts opts;
	struct opt_result args;
	char *exe;
	struct outputs outputs;
	struct capwrite *capture;
	struct session *session;
	bool launch;
};

/* acltap's own failure, in the status that the mode asks for. */
static int failed(const struct run *r)
{
	return r->launch ? EXIT_LAUNCH : EXIT_FAILED;
}

static int find_command(struct run *r)
{
	int err = libpath_find_command(r->args.args[0], &r->exe);

	if (!err)
		return -1;
	log_err(err, "cannot run '%s'", r->args.args[0]);
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static void explain(int err)
{
	struct rights rights;
	char text[512];

	rights_read(&rights);
	if (*rights_explain(&rights, RIGHTS_TRACE | RIGHT_BIT(RIGHT_SYS_ADMIN), err, text,
			    sizeof(text)))
		log_hint("%s", text);
}

static int open_session(struct run *r)
{
	struct session_config cfg = {
		.pids = r->opts.pids.v,
		.n_pids = r->opts.pids.n,
		.argv = r->launch ? r->args.args : NULL,
		.exe = r->exe,
		.libs = r->opts.libs.v,
		.n_libs = r->opts.libs.n,
		.plan = { .all = r->opts.all,
			  .lifecycle = r->opts.lifecycle,
			  .returns = r->opts.returns,
			  .force_entry = r->opts.probe_site == 1 },
		.ring_size = r->opts.ring_size,
		.duration_ns = r->opts.duration_ns,
		.delay_ns = r->opts.delay_ns,
		.follow = !r->opts.no_follow,
		.no_stop = r->opts.no_stop,
		.wait = r->opts.wait,
		.capture = r->capture,
	};
	int err = session_open(&cfg, &r->session);

	if (err == -EPERM || err == -EACCES)
		explain(err);
	return err;
}

static int dry_run(struct run *r)
{
	_str_ struct str text = { 0 };
	int err = open_session(r);

	if (!err)
		err = session_describe(r->session, &text);
	if (!err)
		fputs(str_get(&text), stdout);
	return err || fflush(stdout) ? failed(r) : EXIT_OK;
}

/* What the user should hear when nothing at all was seen. */
static void explain_silence(const struct run *r)
{
	struct recorder_stats st = session_stats(r->session);

	if (st.calls || st.null_stamps)
		return;
	if (!session_saw_library(r->session)) {
		log_warn("no process mapped a library with the traced functions");
		log_hint("'acltap list -p PID' shows what was found; --lib FILE names a library");
	} else {
		log_warn("the library is probed, but none of its functions was called");
	}
	if (r->launch && libpath_sudo_lost_environment())
		log_hint("under sudo LD_LIBRARY_PATH and ASCEND_* are gone: try sudo -E");
}

static int trace(struct run *r, int *cmd_status)
{
	int err = session_run(r->session);

	if (err && session_exec_error(r->session)) {
		log_err(err, "cannot run '%s'", r->args.args[0]);
		*cmd_status = err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
		return err;
	}
	return session_stop(r->session) ?: err;
}

/* After tracing: complete the capture, write the outputs, wait for the command. */
static int finish(struct run *r, int trace_err, int cmd_status)
{
	struct finish_config cfg = { .outputs = &r->outputs,
				     .sink = { .no_tab = r->opts.no_tab,
					       .lanes = r->opts.lanes,
					       .overwrite = r->opts.overwrite },
				     .quiet = r->opts.quiet };
	struct finish_result res = { 0 };
	int err = trace_err;

	if (err)
		capwrite_abandon(r->capture);
	else
		err = capwrite_close(r->capture);
	r->capture = NULL;
	if (err && !trace_err)
		log_err(err, "cannot complete '%s'", r->outputs.capture);
	if (!trace_err)
		explain_silence(r);
	err = err ?: finish_outputs(&cfg, &res);
	if (err)
		finish_keep_capture(&r->outputs);
	if (r->launch)
		cmd_status = session_wait_command(r->session);
	if (err && r->launch)
		log_info("the command's exit status was %d", cmd_status);
	if (err)
		return failed(r);
	if (!cmd_status && r->opts.strict && res.incomplete)
		return EXIT_INCOMPLETE;
	return cmd_status;
}

static int record(struct run *r)
{
	int err, cmd_status = 0;

	err = outputs_plan(&r->opts.out, true, r->opts.overwrite, &r->outputs);
	if (err)
		return failed(r);
	err = capwrite_open(r->outputs.capture, r->opts.overwrite, &r->capture);
	if (err) {
		log_err(err, "cannot write '%s'", r->outputs.capture);
		return failed(r);
	}
	err = open_session(r);
	if (!err) {
		err = trace(r, &cmd_status);
		if (!cmd_status)
			return finish(r, err, cmd_status);
	}
	capwrite_abandon(r->capture);
	r->capture = NULL;
	unlink(r->outputs.capture);
	outputs_remove_empty(&r->outputs);
	return cmd_status ? cmd_status : failed(r);
}

static int run_record(int argc, char **argv)
{
	struct run r = { .opts.ring_size = 16 * MIB };
	int status = cmd_parse(&cmd_record, argc, argv, &r.opts, &r.args);

	r.launch = r.args.n_args > 0;
	if (status < 0)
		status = check_options(&r.opts, &r.args);
	if (status < 0) {
		log_set_level(r.opts.quiet ? LOG_QUIET : r.opts.verbose ? LOG_VERBOSE : LOG_NORMAL);
		status = r.launch ? find_command(&r) : -1;
	}
	if (status < 0)
		status = r.opts.dry_run ? dry_run(&r) : record(&r);
	session_free(r.session);
	outputs_free(&r.outputs);
	free(r.exe);
	opt_strings_free(&r.opts.out);
	opt_strings_free(&r.opts.libs);
	opt_pids_free(&r.opts.pids);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "trace a program, or running ones, and write what they annotated",
	.usage = "[options] -- CMD [ARG...]\n[options] -p PID[,PID...]",
	.example = "acltap record -o run -- python3 train.py\nacltap record -d 10s -o marks.csv -p 4242",
	.opts = options,
	.n_opts = sizeof(options) / sizeof(options[0]),
	.mode = OPT_COMMAND,
	.run = run_record,
};
