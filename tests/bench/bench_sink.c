// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows per second that an output writes on one core, sorting and the file's completion included,
 * without what comes before it (see bench_core.c). Prints a line; no verdict.
 *
 *   bench_sink PATH [ROWS]      the suffix of PATH chooses the sink
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sink/sink.h"

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int write_rows(const struct consumer *to, uint64_t n)
{
	static const char name[] = "forward layer 07";
	struct span sp = {.name = name, .name_len = sizeof(name) - 1, .has_end = true};
	const struct trace_meta meta = {.host = "host", .version = ACLTAP_VERSION};
	int err = to->begin(to->ctx, &meta);

	sp.kind = SPAN_PUSH_POP;
	sp.pid = 100;
	for (uint64_t i = 0; i < n && !err; i++) {
		sp.id = i + 1;
		sp.start_tid = sp.end_tid = 100 + (uint32_t)(i % 8);
		sp.start_ns = 1700000000000000000ull + i * 700;
		sp.end_ns = sp.start_ns + 300 + i % 400;
		err = to->span(to->ctx, &sp);
	}
	return err ? err : to->end(to->ctx, &meta);
}

static int measure(struct fanout *f, const struct sink_ops *ops, const char *path, uint64_t n)
{
	const struct sink_opts opts = {.overwrite = true};
	int err = fanout_add(f, ops, path, &opts);
	struct consumer to;
	double begun;

	if (err)
		return err;
	to = fanout_consumer(f);
	begun = seconds();
	err = write_rows(&to, n);
	begun = seconds() - begun;
	if (!err)
		printf("%-34s %8.2f M rows/s\n", ops->name, (double)n / begun * 1e-6);
	return err;
}

int main(int argc, char **argv)
{
	const struct sink_ops *ops = argc > 1 ? sink_by_path(argv[1]) : NULL;
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 3000000;
	struct fanout *f;
	int err;

	if (!ops) {
		fputs("usage: bench_sink PATH [ROWS]\n", stderr);
		return 2;
	}
	err = fanout_new(&f);
	if (!err) {
		err = measure(f, ops, argv[1], n);
		fanout_free(f);
	}
	if (err)
		fprintf(stderr, "bench_sink: %s: %s\n", argv[1], strerror(-err));
	return err != 0;
}
