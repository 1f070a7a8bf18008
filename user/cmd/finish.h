/* SPDX-License-Identifier: GPL-2.0-only */
/* From a capture to the outputs and the summary: shared by record and export. */
#ifndef ACLTAP_CMD_FINISH_H
#define ACLTAP_CMD_FINISH_H

#include <stdbool.h>

#include "cmd/outputs.h"

struct finish_config {
	const struct outputs *outputs;
	const char *source; /* the capture to read; NULL = outputs->capture */
	struct sink_opts sink;
	bool quiet; /* no summary */
};

struct finish_result {
	bool incomplete; /* something was lost, uncertain or unreadable: for --strict */
	bool truncated;  /* the capture has no footer */
};

/*
 * Replays the capture into every output, prints the summary, gives the files to the sudo user, and
 * removes a capture that was not asked for. Returns 0, or -errno after telling the user.
 */
int finish_outputs(const struct finish_config *cfg, struct finish_result *res);

/* After a failure: says where the capture is and how to go on. */
void finish_keep_capture(const struct outputs *o);

#endif
