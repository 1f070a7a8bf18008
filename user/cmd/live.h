/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracing without a capture: what the session receives goes through the pipeline into a consumer
 * at once, and into a summary of what went wrong.
 */
#ifndef ACLTAP_CMD_LIVE_H
#define ACLTAP_CMD_LIVE_H

#include "cmd/targets.h"
#include "core/tee.h"
#include "sink/summary.h"

struct live {
	struct pipeline *pipeline;
	struct summary *summary;
	struct tee tee;
	/* When all that has arrived so far has been handed on; may be NULL. 0 or -errno. */
	int (*drained)(void *ctx);
	void *ctx;
	int err; /* first error of the pipeline or of drained */
};

/*
 * drained and ctx are set before. Returns 0, or -errno after telling the user; -EINTR when a signal
 * came since giveup_watch(), which the caller calls before it opens its output.
 */
int live_open(struct live *l, struct targets *t, const struct consumer *next, bool no_status);

/*
 * Traces until the end and finishes the pipeline. As targets_run(); an error of the consumer is
 * the caller's to tell: l->err has it.
 */
int live_run(struct live *l, struct targets *t, int *cmd_status);

/*
 * In the end: the exit status of the command, or acltap's own, err being whether anything failed.
 * Waits for the command.
 */
int live_status(const struct live *l, struct targets *t, int err);

void live_free(struct live *l); /* after the session */

#endif
