// SPDX-License-Identifier: GPL-2.0-only
#include "core/tee.h"

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

static int tee_hidden(void *ctx, const struct span *sp)
{
	return TO_BOTH(ctx, hidden, sp);
}

static int tee_tally(void *ctx, const struct tally *t)
{
	return TO_BOTH(ctx, tally, t);
}

static int tee_source(void *ctx, const struct trace_source *s)
{
	return TO_BOTH(ctx, source, s);
}

static int tee_end(void *ctx, const struct trace_meta *meta)
{
	return TO_BOTH(ctx, end, meta);
}

struct consumer tee_consumer(struct tee *t, const struct consumer *a, const struct consumer *b)
{
	*t = (struct tee){0};
	if (a)
		t->a = *a;
	if (b)
		t->b = *b;
	return (struct consumer){
		.ctx = t,
		.begin = tee_begin,
		.process = tee_process,
		.thread = tee_thread,
		.category = tee_category,
		.span = tee_span,
		.hidden = tee_hidden,
		.tally = tee_tally,
		.source = tee_source,
		.end = tee_end,
	};
}
