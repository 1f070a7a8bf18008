// SPDX-License-Identifier: GPL-2.0-only
/* Counts and writes nothing: for benchmarks of what comes before the outputs. */
#include <errno.h>
#include <stdlib.h>

#include "sink/sink.h"

static int null_open(const char *path, const struct sink_opts *opts, struct sink **out)
{
	(void)path;
	(void)opts;
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static int null_span(struct sink *s, const struct span *sp)
{
	(void)sp;
	s->rows++;
	return 0;
}

static void null_free(struct sink *s)
{
	free(s);
}

const struct sink_ops sink_null = {
	.name = "null",
	.suffix = ".null",
	.help = "nothing: only counts",
	.order = SINK_BY_END,
	.open = null_open,
	.span = null_span,
	.free = null_free,
};
