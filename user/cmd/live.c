// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/live.h"

#include <errno.h>

#include "cmd/giveup.h"
#include "util/log.h"
#include "wire.h"

static int tap(void *ctx, const void *rec, size_t sz)
{
	const struct wire *w = rec;
	struct live *l = ctx;

	if (!l->err)
		l->err = pipeline_push(l->pipeline, rec, sz);
	/* Nothing is let through but by these. */
	if (!l->err && l->drained && (w->kind == WIRE_WATERMARK || w->kind == WIRE_LOSS))
		l->err = l->drained(l->ctx);
	return l->err;
}

int live_open(struct live *l, struct targets *t, const struct consumer *next, bool no_status)
{
	const struct pipeline_config cfg = {0}; /* the records themselves have the options */
	const struct session_config session = {.tap = tap, .tap_ctx = l, .no_status = no_status};
	struct consumer sum, both;
	int err = summary_new(&l->summary);

	if (!err) {
		sum = summary_consumer(l->summary);
		both = tee_consumer(&l->tee, &sum, next);
		err = pipeline_new(&cfg, &both, &l->pipeline);
	}
	if (err)
		return log_err(err, "cannot trace");
	err = targets_open(t, &session);
	if (!err && giveup_asked())
		err = log_fail(-EINTR, "ended by a signal before tracing began");
	return err;
}

int live_run(struct live *l, struct targets *t, int *cmd_status)
{
	int err = targets_run(t, cmd_status);

	if (*cmd_status)
		return err;
	if (!err && !l->err)
		l->err = pipeline_finish(l->pipeline, true);
	return l->err ?: err;
}

int live_status(const struct live *l, struct targets *t, int err)
{
	int status = 0;

	if (t->argv)
		status = session_wait_command(t->session);
	if (err && t->argv)
		log_warn("the command's exit status was %d", status);
	if (err)
		return targets_failed(t);
	if (!status && t->strict &&
	    (summary_is_strict_failure(l->summary) || session_missed(t->session)))
		return EXIT_INCOMPLETE;
	return status;
}

void live_free(struct live *l)
{
	pipeline_free(l->pipeline);
	summary_free(l->summary);
}
