/* SPDX-License-Identifier: GPL-2.0-only */
/* From a capture to the outputs and the summary: shared by record and export. */
#ifndef ACLTAP_CMD_FINISH_H
#define ACLTAP_CMD_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/outputs.h"
#include "core/filter.h"
#include "store/capture.h"

struct finish_config {
	const struct outputs *outputs;
	const char *source; /* the capture to read; NULL = outputs->capture */
	struct sink_opts sink;
	const struct filter_config *filter; /* of the outputs; NULL = all */
	bool quiet;			    /* no summary */
};

struct finish_result {
	bool incomplete; /* something was lost, uncertain or unreadable: for --strict */
	int status;	 /* EXIT_OK, or EXIT_FAILED: the capture was not whole (told) */
};

/*
 * Replays the capture into every output, prints the summary, and removes a capture that was not
 * asked for. Returns 0, or -errno after telling the user.
 */
int finish_outputs(const struct finish_config *cfg, struct finish_result *res);

/* Reading a capture from a command of its own: the bar of what takes longer than a second, ... */
struct progress {
	uint64_t begin_ns, shown_ns;
	const char *what;
};
struct progress progress_new(const char *what);
void progress_show(void *ctx, uint64_t done, uint64_t total);
/*
 * ... what there is to say when it was not whole, with the exit status that follows: what was read
 * must not pass for everything. EXIT_OK when it was whole.
 */
int finish_tell_truncated(const char *source, enum capread_end ended);
/* ... and when it could not be read. */
void finish_tell_unreadable(int err, const char *source);

/* A directory of ours stands for the capture in it. To be freed; NULL: no memory. */
char *finish_capture_of(const char *arg);

/* After a failure: says where the capture is and how to go on. */
void finish_keep_capture(const struct outputs *o);

#endif
