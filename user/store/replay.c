// SPDX-License-Identifier: GPL-2.0-only
#include "store/replay.h"

#include <errno.h>

#include "core/filter.h"
#include "core/pipeline.h"
#include "core/tee.h"
#include "sink/sink.h"
#include "sink/summary.h"

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

static const char *word_of(enum capread_end ended)
{
	switch (ended) {
	case CAPREAD_TRUNCATED:
		return "truncated";
	case CAPREAD_RUNNING:
		return "running";
	case CAPREAD_DAMAGED:
		return "damaged";
	case CAPREAD_COMPLETE:
		break;
	}
	return NULL;
}

/* Frees r. */
static int replay(struct capread *r, const struct consumer *next, struct summary *s,
		  enum capread_end *ended,
		  void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx)
{
	struct pipeline_config cfg = {0}; /* the capture itself has the options */
	struct pipeline *p = NULL;
	struct consumer both, sum;
	struct tee tee;
	int err;

	cfg.merged = capread_is_merged(r);
	if (s)
		sum = summary_consumer(s);
	both = tee_consumer(&tee, s ? &sum : NULL, next);
	err = pipeline_new(&cfg, &both, &p);
	if (!err)
		err = feed(r, p, progress, ctx);
	if (!err) {
		*ended = capread_ended(r);
		if (s && *ended != CAPREAD_COMPLETE)
			summary_incomplete(s, *ended == CAPREAD_DAMAGED, capread_last_ns(r));
		pipeline_cut(p, word_of(*ended));
		err = pipeline_finish(p, *ended == CAPREAD_COMPLETE);
	}
	pipeline_free(p);
	capread_close(r);
	return err;
}

int replay_capture(const char *capture, const struct consumer *next, struct summary *s,
		   enum capread_end *ended,
		   void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx)
{
	struct capread *r;
	int err = capread_open(capture, &r);

	return err ?: replay(r, next, s, ended, progress, ctx);
}

int export_capture(const char *capture, bool own, struct fanout *f,
		   const struct filter_config *filter, struct summary *s, enum capread_end *ended,
		   void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx)
{
	struct consumer next;
	struct filter stage;
	struct capread *r;
	int err = own ? capread_open_own(capture, &r) : capread_open(capture, &r);

	if (err)
		return err;
	if (!f)
		return replay(r, NULL, s, ended, progress, ctx);
	next = fanout_consumer(f);
	if (filter && filter_is_set(filter)) {
		stage = (struct filter){.cfg = *filter};
		next = filter_consumer(&stage, &next);
	}
	return replay(r, &next, s, ended, progress, ctx);
}
