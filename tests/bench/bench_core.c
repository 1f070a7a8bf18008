// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events per second of decode + order + range on one core, for programs of the usual shape: each
 * iteration is set_message, push, pop (or start, stop), by some threads, records slightly out of
 * order as several CPUs leave them. Prints a table; no verdict.
 *
 *   bench_core [EVENTS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/entry.h"
#include "core/pipeline.h"
#include "wire.h"

#define THREADS 8
#define PER_WATERMARK 8192

struct load {
	const char *name;
	bool ranges;	   /* start/stop instead of push/pop */
	bool other_text;   /* a new text each time */
	unsigned int jump; /* ns by which records may be out of order */
};

struct rec {
	struct wire w;
	char msg[16];
};

static uint64_t n_spans;

static int count_span(void *ctx, const struct span *sp)
{
	(void)ctx;
	n_spans += sp->status == SPAN_COMPLETE;
	return 0;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __u8 func_of(const struct load *l, size_t step)
{
	static const char *const push[] = {"aclprofSetStampTraceMessage", "aclprofPush",
					   "aclprofPop"};
	static const char *const start[] = {"aclprofSetStampTraceMessage", "aclprofRangeStart",
					    "aclprofRangeStart", "aclprofRangeStop"};

	return entry_by_symbol(l->ranges ? start[step % 4] : push[step % 3])->func;
}

/* Thread t's step-th record; steps go set, begin, (return,) end. */
static void make(struct rec *r, const struct load *l, unsigned int t, size_t step, uint64_t time)
{
	size_t of = l->ranges ? step % 4 : step % 3;
	bool is_return = l->ranges && of == 2, is_end = of == (l->ranges ? 3u : 2u);

	memset(r, 0, sizeof(*r));
	r->w.time_ns = time;
	r->w.tgid = 100;
	r->w.tid = 100 + t;
	r->w.kind = is_return ? WIRE_RETURN : WIRE_CALL;
	r->w.func = func_of(l, step);
	r->w.seq = (__u32)(l->ranges ? step / 4 * 3 + of + (of < 2) : step + 1);
	r->w.depth = r->w.min_depth = !l->ranges && is_end;
	r->w.arg0 = is_return ? 0 : is_end && l->ranges ? t : 0x1000 + t * 0x100;
	r->w.arg1 = is_return ? t : 0;
	if (!of) {
		r->w.arg1 = r->w.msg_len = 7;
		memcpy(r->msg, "forward", 7);
		if (l->other_text)
			r->msg[6] = (char)('a' + step / 3 % 26);
	}
	r->w.len = (__u16)(sizeof(r->w) + r->w.msg_len);
}

static int push(struct pipeline *p, const struct rec *r)
{
	int err = pipeline_push(p, r, r->w.len);

	if (err)
		fprintf(stderr, "bench_core: %s\n", strerror(-err));
	return err;
}

static int run(struct pipeline *p, struct rec *recs, size_t n, const struct load *l)
{
	struct rec mark = {.w = {.kind = WIRE_WATERMARK, .len = sizeof(struct wire)}};
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		err = push(p, &recs[i]);
		if (err || i % PER_WATERMARK != PER_WATERMARK - 1)
			continue;
		mark.w.time_ns = (i + 1) * 100 > l->jump ? (i + 1) * 100 - l->jump : 0;
		err = push(p, &mark);
	}
	return err ? err : pipeline_finish(p, true);
}

static int measure(struct rec *recs, size_t n, const struct load *l)
{
	const struct pipeline_config cfg = {0};
	const struct consumer next = {.span = count_span};
	struct pipeline *p;
	double begun;
	int err;

	for (size_t i = 0; i < n; i++)
		make(&recs[i], l, i % THREADS, i / THREADS,
		     (i + 1) * 100 + (l->jump ? i * 2654435761u % l->jump : 0));
	err = pipeline_new(&cfg, &next, &p);
	if (err)
		return err;
	n_spans = 0;
	begun = seconds();
	err = run(p, recs, n, l);
	begun = seconds() - begun;
	pipeline_free(p);
	printf("%-34s %8.2f M events/s %10" PRIu64 " complete\n", l->name, (double)n / begun * 1e-6,
	       n_spans);
	return err;
}

int main(int argc, char **argv)
{
	static const struct load loads[] = {
		{"push/pop, in order", false, false, 0},
		{"push/pop, out of order by 700 ns", false, false, 700},
		{"push/pop, a new text each time", false, true, 700},
		{"start/stop, out of order by 700 ns", true, false, 700},
	};
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 6000000;
	struct rec *recs = calloc(n, sizeof(*recs));
	int err = recs ? 0 : 1;

	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads) && !err; i++)
		err = measure(recs, n, &loads[i]);
	free(recs);
	return err != 0;
}
