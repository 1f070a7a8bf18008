// SPDX-License-Identifier: GPL-2.0-only
#include "store/replay.h"

#include <errno.h>

#include "core/pipeline.h"
#include "sink/sink.h"
#include "sink/summary.h"

/* Two consumers behind one. */
struct tee {
	struct consumer a, b;
};

#define TO_ONE(c, op, ...) ((c).op ? (c).op((c).ctx, __VA_ARGS__) : 0)

/* Both are told; the first error counts. */
#define TO_BOTH(t, op, ...)                                                                        \
	({                                                                                         \
		const struct tee *tee_ = (t);                                                      \
		int first_ = TO_ONE(tee_->a, op, __VA_ARGS__);                                     \
		int second_ = TO_ONE(tee_->b, op, __VA_ARGS__);                                    \
		first_ ? first_ : second_;                                                         \
	})

static int tee_begin(void *ctx, const struct trace_meta *meta)
{
	return TO_BOTH(ctx, begin, meta);
}

static int tee_process(void *ctx, const struct process *p)
{
	return TO_BOTH(ctx, process, p);
}

static int tee_thread(void *ctx, const struct label *l)
{
	return TO_BOTH(ctx, thread, l);
}

static int tee_category(void *ctx, const struct label *l)
{
	return TO_BOTH(ctx, category, l);
}

static int tee_span(void *ctx, const struct span *sp)
{
	return TO_BOTH(ctx, span, sp);
}

static int tee_tally(void *ctx, const struct tally *t)
{
	return TO_BOTH(ctx, tally, t);
}

static int tee_end(void *ctx, const struct trace_meta *meta)
{
	return TO_BOTH(ctx, end, meta);
}

static struct consumer tee_consumer(struct tee *t, struct fanout *f, struct summary *s)
{
	*t = (struct tee){0};
	if (s)
		t->a = summary_consumer(s);
	if (f)
		t->b = fanout_consumer(f);
	return (struct consumer){
		.ctx = t,
		.begin = tee_begin,
		.process = tee_process,
		.thread = tee_thread,
		.category = tee_category,
		.span = tee_span,
		.tally = tee_tally,
		.end = tee_end,
	};
}

static int feed(struct capread *r, struct pipeline *p,
		void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx)
{
	uint64_t told = 0;
	const void *rec;
	size_t sz;
	int ret, err;

	while ((ret = capread_next(r, &rec, &sz)) == 1) {
		err = pipeline_push(p, rec, sz);
		if (err)
			return err;
		if (progress && capread_offset(r) != told) {
			told = capread_offset(r);
			progress(ctx, told, capread_size(r));
		}
	}
	return ret;
}

int export_capture(const char *capture, struct fanout *f, struct summary *s,
		   enum capread_end *ended,
		   void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx)
{
	const struct pipeline_config cfg = {0}; /* the capture itself has the options */
	struct pipeline *p = NULL;
	struct consumer next;
	struct capread *r;
	struct tee tee;
	int err;

	err = capread_open(capture, &r);
	if (err)
		return err;
	next = tee_consumer(&tee, f, s);
	err = pipeline_new(&cfg, &next, &p);
	if (!err)
		err = feed(r, p, progress, ctx);
	if (!err) {
		*ended = capread_ended(r);
		if (s && *ended != CAPREAD_COMPLETE)
			summary_incomplete(s, *ended == CAPREAD_DAMAGED, capread_last_ns(r));
		err = pipeline_finish(p, *ended == CAPREAD_COMPLETE);
	}
	pipeline_free(p);
	capread_close(r);
	return err;
}
