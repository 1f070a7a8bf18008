// SPDX-License-Identifier: GPL-2.0-only
#include "fuzz/checker.h"

#include <stdlib.h>
#include <string.h>

#include "core/entry.h"

#define REQUIRE(truth)                                                                             \
	do {                                                                                       \
		if (!(truth))                                                                      \
			abort();                                                                   \
	} while (0)

static void read_all(struct checker *c, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c->last_sum += (unsigned char)s[i];
}

static void in_order(const struct checker *c)
{
	REQUIRE(c->begins == 1 && c->ends == 0);
}

static int on_begin(void *ctx, const struct trace_meta *meta)
{
	struct checker *c = ctx;

	REQUIRE(c->begins++ == 0 && c->ends == 0);
	read_all(c, meta->host, strlen(meta->host));
	read_all(c, meta->version, strlen(meta->version));
	return 0;
}

static int on_process(void *ctx, const struct process *p)
{
	struct checker *c = ctx;

	in_order(c);
	read_all(c, p->name, strlen(p->name));
	read_all(c, p->cmdline, strlen(p->cmdline));
	read_all(c, p->exe, strlen(p->exe));
	return 0;
}

static int on_label(void *ctx, const struct label *l)
{
	in_order(ctx);
	read_all(ctx, l->text, l->len);
	return 0;
}

static void check_end(const struct span *sp, bool mark)
{
	switch (sp->status) {
	case SPAN_COMPLETE:
	case SPAN_UNFINISHED:
	case SPAN_SUPERSEDED:
		REQUIRE(sp->has_end);
		break;
	case SPAN_OPEN:
		REQUIRE(!sp->has_end);
		break;
	case SPAN_UNCERTAIN:
		REQUIRE(sp->has_end == mark);
		break;
	default:
		abort();
	}
	REQUIRE(!mark || sp->status == SPAN_COMPLETE || sp->status == SPAN_UNCERTAIN);
	REQUIRE(!mark || sp->end_ns == sp->start_ns);
	/* A clock may put the epoch anywhere, so that one of them wraps around; never the distance.
	 */
	REQUIRE(!sp->has_end || (int64_t)(sp->end_ns - sp->start_ns) >= 0);
}

static int on_span(void *ctx, const struct span *sp)
{
	char shown[SPAN_NAME_MAX];

	in_order(ctx);
	REQUIRE(sp->id && sp->parent < sp->id);
	REQUIRE(sp->kind <= SPAN_MARKER_EX);
	REQUIRE((sp->depth == 0) == (sp->parent == 0) || sp->status == SPAN_UNCERTAIN || sp->depth);
	REQUIRE(sp->payload.len <= sizeof(sp->payload.bytes));
	REQUIRE(sp->name_len <= 255 && !memchr(sp->name ? sp->name : "", 0, sp->name_len));
	read_all(ctx, sp->name, sp->name_len);
	REQUIRE(span_shown_name(sp, shown) == strlen(shown));
	check_end(sp, sp->kind == SPAN_MARKER || sp->kind == SPAN_MARKER_EX);
	return 0;
}

static int on_tally(void *ctx, const struct tally *t)
{
	in_order(ctx);
	REQUIRE(t->count && t->kind <= TALLY_MISMATCH);
	read_all(ctx, tally_kind_name(t->kind), strlen(tally_kind_name(t->kind)));
	return 0;
}

static int on_end(void *ctx, const struct trace_meta *meta)
{
	struct checker *c = ctx;

	(void)meta;
	in_order(c);
	c->ends++;
	return 0;
}

struct consumer checker_consumer(struct checker *c)
{
	return (struct consumer){
		.ctx = c,
		.begin = on_begin,
		.process = on_process,
		.thread = on_label,
		.category = on_label,
		.span = on_span,
		.tally = on_tally,
		.end = on_end,
	};
}

void checker_finished(const struct checker *c)
{
	REQUIRE(c->begins == 1 && c->ends == 1);
}
