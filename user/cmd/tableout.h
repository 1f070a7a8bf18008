/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a table of statistics goes, and what it cannot say itself: shared by stat and diff. */
#ifndef ACLTAP_CMD_TABLEOUT_H
#define ACLTAP_CMD_TABLEOUT_H

#include <stdbool.h>

#include "core/stats.h"
#include "sink/out.h"
#include "util/opt.h"

extern const struct opt_word tableout_formats[]; /* of enum table_format */

struct tableout {
	const char *path; /* of -o: NULL = the stream, "-" = standard output */
	int stream;	  /* STDOUT_FILENO or STDERR_FILENO */
	bool overwrite;
	struct out *out; /* NULL unless open */
};

/* Returns 0, or -errno after telling the user. */
int tableout_open(struct tableout *t);

/* Completes the file unless err, then it stays as it was. 0, or the first error, told. */
int tableout_close(struct tableout *t, int err);

/* After something failed before: leaves no file. Closed: nothing. */
void tableout_discard(struct tableout *t);

/* Warns of what had to be given up to stay within the memory. */
void tableout_tell_limits(const struct stats *s);

#endif
