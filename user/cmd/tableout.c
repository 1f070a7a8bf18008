// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/tableout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/owner.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/privs.h"
#include "view/table.h"

const struct opt_word tableout_formats[] = {
	{"table", TABLE_TEXT}, {"csv", TABLE_CSV}, {"json", TABLE_JSON}, {NULL, 0}};

static int stream_of(const struct tableout *t)
{
	if (t->path)
		return strcmp(t->path, "-") ? -1 : STDOUT_FILENO;
	return t->stream;
}

static int tell(const struct tableout *t, int err)
{
	int fd = stream_of(t);

	log_err(err, "cannot write '%s'",
		fd < 0		      ? t->path
		: fd == STDERR_FILENO ? "standard error"
				      : "standard output");
	if (err == -EEXIST)
		log_hint("-f overwrites");
	return err;
}

/*
 * As with other outputs (outputs.h), it belongs to the user who called sudo, but for where only
 * root may write. From here on captures are read with the same rights.
 */
static int open_file(struct tableout *t)
{
	int err = owner_decide(NULL);

	err = err ?: out_file(t->path, t->overwrite, &t->out);
	if (err != -EACCES || !privs_for_user())
		return err;
	privs_as_owner(false);
	err = out_file(t->path, t->overwrite, &t->out);
	if (!err)
		log_info("'%s' is written as root and belongs to root", t->path);
	return err;
}

int tableout_open(struct tableout *t)
{
	int fd = stream_of(t);
	int err = fd < 0 ? open_file(t) : out_stream(fd, &t->out);

	return err ? tell(t, err) : 0;
}

int tableout_close(struct tableout *t, int err)
{
	if (err)
		out_discard(take_ptr(t->out));
	else
		err = out_close(take_ptr(t->out));
	return err ? tell(t, err) : 0;
}

void tableout_discard(struct tableout *t)
{
	out_discard(take_ptr(t->out));
}

void tableout_tell_limits(const struct stats *s)
{
	size_t coarse = stats_coarse_rows(s);

	if (coarse)
		log_info("too many durations to keep: median and percentiles of %zu rows are "
			 "within 1 %%",
			 coarse);
	if (stats_unnamed_spans(s))
		log_warn("more than %d different rows: %llu spans are in '(all others)'",
			 STATS_ROWS_MAX, (unsigned long long)stats_unnamed_spans(s));
	if (stats_ranks_incomplete(s))
		log_warn("too many rows and ranks: the columns about ranks leave some out");
	if (stats_self_incomplete(s))
		log_warn("too many ranges were open at once: some self times are too long");
}
