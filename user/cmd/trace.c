// SPDX-License-Identifier: GPL-2.0-only
/* acltap trace: a line for each finished range or mark, as it happens. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/filters.h"
#include "cmd/giveup.h"
#include "cmd/live.h"
#include "sink/event_rows.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "view/lines.h"

struct run {
	struct targets targets;
	struct filters filters;
	const char *path; /* of the output, NULL = a stream */
	bool overwrite, json;
	struct filter filter;
	struct lines lines;
	struct event_rows rows;
	struct out *out;
};

#define O(field) offsetof(struct run, field)

static const struct opt options[] = {
	{"output", 'o', OPT_STRING, O(path), "FILE",
	 "- is standard output (default; of -- CMD: stderr)", NULL, NULL},
	{"force", 'f', OPT_FLAG, O(overwrite), NULL, "overwrite an existing file", NULL, NULL},
	{"json", 0, OPT_FLAG, O(json), NULL, "a JSON object a line, as in .ndjson", NULL, NULL},
	FILTERS_OPTIONS(struct run),
	TARGETS_OPTIONS(struct run),
};

/* ---- Output -------------------------------------------------------------------------------- */

/*
 * A reader may stand still for any time. Until it goes on nothing is taken from the kernel, and
 * what has no room there is lost and counted; but whoever wants to end acltap must be heard.
 */
static int wait_writable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	for (;;) {
		int n = poll(&p, 1, 100);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (giveup_asked())
			return -EINTR;
	}
}

static int stream_of(const struct run *r)
{
	if (r->path && strcmp(r->path, "-"))
		return -1;
	return r->targets.argv && !r->path ? STDERR_FILENO : STDOUT_FILENO;
}

static const char *output_name(const struct run *r)
{
	int fd = stream_of(r);

	return fd < 0 ? r->path : fd == STDERR_FILENO ? "standard error" : "standard output";
}

/* https://no-color.org: any text but the empty one. */
static bool wants_color(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return fd >= 0 && isatty(fd) && !(no && *no) && term && strcmp(term, "dumb");
}

static int open_output(struct run *r)
{
	int fd = stream_of(r);
	int err = fd < 0 ? out_growing(r->path, r->overwrite, &r->out) : out_stream(fd, &r->out);

	if (err) {
		log_err(err, "cannot write '%s'", output_name(r));
		if (err == -EEXIST)
			log_hint("-f overwrites");
		return err;
	}
	out_set_wait(r->out, wait_writable);
	r->lines = (struct lines){.out = r->out, .color = wants_color(fd)};
	event_rows_init(&r->rows, r->out, true);
	return 0;
}

static int drained(void *ctx)
{
	return out_flush(ctx);
}

/* ---- The command --------------------------------------------------------------------------- */

static int finish(struct run *r, const struct live *l, int err)
{
	int written = out_close(take_ptr(r->out));

	if (written)
		log_err(written, "cannot write to '%s'", output_name(r));
	else if (l->err)
		log_err(l->err, "cannot go on");
	if (!err && !written) {
		targets_explain_silence(&r->targets);
		summary_print_warnings(l->summary, stderr);
	}
	return written ?: err;
}

static int trace(struct run *r)
{
	struct consumer show = r->json ? event_rows_stream(&r->rows) : lines_consumer(&r->lines);
	const struct consumer next = filter_consumer(&r->filter, &show);
	struct live l = {.drained = drained, .ctx = r->out};
	int err = live_open(&l, &r->targets, &next, true);
	int status = err ? targets_failed(&r->targets) : 0;

	if (!err)
		err = live_run(&l, &r->targets, &status);
	if (!status)
		status = live_status(&l, &r->targets, finish(r, &l, err));
	giveup_done(status);
	targets_free(&r->targets);
	live_free(&l);
	return status;
}

static int run_trace(int argc, char **argv)
{
	struct run r = {.filters = FILTERS_INIT};
	struct opt_result args;
	int status;

	targets_init(&r.targets);
	status = cmd_parse(&cmd_trace, argc, argv, &r, &args);
	if (status < 0)
		status = filters_check(&r.filters, &cmd_trace);
	if (status < 0)
		status = targets_prepare(&r.targets, &cmd_trace, args.n_args ? args.args : NULL);
	r.filter.cfg = filters_config(&r.filters, NULL);
	giveup_watch(targets_failed(&r.targets));
	if (status < 0 && open_output(&r))
		status = targets_failed(&r.targets);
	if (status < 0)
		status = trace(&r);
	event_rows_free(&r.rows);
	out_discard(r.out);
	targets_free(&r.targets);
	filters_free(&r.filters);
	return status;
}

const struct command cmd_trace = {
	.name = "trace",
	.summary = "show ranges and marks as they end, one a line",
	.usage = "[options] -p PID[,PID...]|-n GLOB|-a\n[options] -- CMD [ARG...]",
	.example = "acltap trace -m 'forward*' -p 4242\nacltap trace --json -p 4242 | jq .name",
	.opts = options,
	.n_opts = sizeof(options) / sizeof(options[0]),
	.mode = OPT_COMMAND,
	.run = run_trace,
};
