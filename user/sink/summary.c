// SPDX-License-Identifier: GPL-2.0-only
#include "sink/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/summary_in.h"
#include "util/hash.h"
#include "util/log.h"
#include "util/unit.h"

int summary_new(struct summary **out)
{
	struct summary *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->names = IDS_OF(struct name);
	s->by_func = IDS_OF(struct count);
	s->null_stamps = IDS_OF(struct count);
	s->procs = IDS_OF(struct proc);
	*out = s;
	return 0;
}

void summary_free(struct summary *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->names.count; i++)
		free(((struct name *)ids_at(&s->names, i))->s);
	for (size_t i = 0; i < s->procs.count; i++)
		free(((struct proc *)ids_at(&s->procs, i))->name);
	ids_free(&s->names);
	ids_free(&s->by_func);
	ids_free(&s->null_stamps);
	ids_free(&s->procs);
	str_free(&s->ended);
	str_free(&s->drifts);
	free(s);
}

const struct summary_totals *summary_totals(const struct summary *s)
{
	return &s->totals;
}

bool summary_is_strict_failure(const struct summary *s)
{
	const struct summary_totals *t = &s->totals;

	return t->lost || t->lost_returns || t->lost_processes || t->lost_starts || t->unreadable ||
	       t->statuses[SPAN_UNCERTAIN] || s->incomplete_sources;
}

void summary_incomplete(struct summary *s, bool damaged, uint64_t mono_ns)
{
	s->incomplete = true;
	s->damaged = damaged;
	s->reached_ns = mono_ns;
}

/* The entry of a name, or the one for all others; NULL: no memory. */
static struct name *name_of(struct summary *s, const char *text, uint16_t len)
{
	uint64_t hash = hash_bytes(0, text, len), key = hash ^ hash >> 29;
	struct name *n;

	/* Names made to collide only lead to the next key, and to the others in the end. */
	for (int tries = 0; tries < 8; tries++, key++) {
		n = ids_find(&s->names, key);
		if (!n)
			break;
		if (n->len == len && !memcmp(n->s, text, len))
			return n;
	}
	if (n || s->names.count >= SUMMARY_NAMES)
		return &s->others;
	n = ids_get(&s->names, key);
	if (!n)
		return NULL;
	n->s = malloc((size_t)len + 1);
	if (!n->s)
		return NULL;
	memcpy(n->s, text, len);
	n->len = len;
	return n;
}

static int summary_span(void *ctx, const struct span *sp)
{
	struct summary *s = ctx;
	struct name *n;

	s->totals.events++;
	s->totals.kinds[sp->kind & 3]++;
	if (sp->status < 5)
		s->totals.statuses[sp->status]++;
	if (sp->status != SPAN_COMPLETE)
		return 0;
	s->totals.unnamed += !sp->unreadable && !sp->name_len && sp->kind != SPAN_MARKER_EX;
	if (sp->unreadable)
		n = name_of(s, UNREADABLE_TEXT, sizeof(UNREADABLE_TEXT) - 1);
	else
		n = name_of(s, sp->name_len ? sp->name : "", sp->name_len);
	if (!n)
		return -ENOMEM;
	n->count++;
	n->total_ns += sp->end_ns - sp->start_ns;
	return 0;
}

static int add_count(struct ids *m, uint64_t key, uint64_t n)
{
	struct count *c = ids_get(m, key);

	if (!c)
		return -ENOMEM;
	c->n += n;
	return 0;
}

static uint64_t *total_of(struct summary_totals *t, enum tally_kind kind)
{
	switch (kind) {
	case TALLY_ORPHAN:
		return &t->orphans;
	case TALLY_FAILED:
		return &t->failed;
	case TALLY_UNREADABLE:
		return &t->unreadable;
	case TALLY_CUT:
		return &t->cut;
	case TALLY_LOSS:
	case TALLY_LIMIT:
		return &t->lost;
	case TALLY_LOST_RETURN:
		return &t->lost_returns;
	case TALLY_LOST_PROCESS:
		return &t->lost_processes;
	case TALLY_LOST_START:
		return &t->lost_starts;
	case TALLY_NULL_STAMP:
		return &t->null_stamps;
	case TALLY_LATE:
	case TALLY_BAD:
	case TALLY_MISMATCH:
		return &t->errors;
	case TALLY_CALL:
		break;
	}
	return NULL;
}

static int summary_tally(void *ctx, const struct tally *t)
{
	struct summary *s = ctx;
	uint64_t *total = total_of(&s->totals, t->kind);

	if (total)
		*total += t->count;
	if (t->kind == TALLY_NULL_STAMP)
		return add_count(&s->null_stamps, t->pid, t->count);
	return add_count(&s->by_func, (uint64_t)t->kind << 8 | t->func, t->count);
}

static int summary_process(void *ctx, const struct process *p)
{
	struct summary *s = ctx;
	struct proc *proc = ids_get(&s->procs, p->pid);
	char *name = strdup(p->name);

	if (!proc || !name) {
		free(name);
		return -ENOMEM;
	}
	free(proc->name);
	proc->name = name;
	return 0;
}

/* Texts of a trace on a line of their own for people. */
static void say_source(struct str *at, const struct trace_source *src, const char *what)
{
	char name[256], host[256];

	log_safe(src->name, strlen(src->name), name, sizeof(name));
	log_safe(src->host, strlen(src->host), host, sizeof(host));
	/* Of a thousand the first few will do. */
	if (at->len < 4096)
		str_printf(at, "warning: '%s' of %s %s\n", name, host, what);
}

static int summary_source(void *ctx, const struct trace_source *src)
{
	struct summary *s = ctx;
	int64_t drift = summary_drift(&src->first, &src->last);
	char buf[UNIT_MAX], what[160];

	s->sources++;
	if (*src->ended) {
		s->incomplete_sources++;
		snprintf(what, sizeof(what), "was merged %s: what came after is missing",
			 !strcmp(src->ended, "damaged") ? "damaged" : "incomplete");
		say_source(&s->ended, src, what);
	}
	if (summary_drift_size(drift) > DRIFT_WARNING_NS) {
		snprintf(what, sizeof(what),
			 "saw its wall clock move %s by %s; all times follow that at the start",
			 drift < 0 ? "back" : "forward",
			 unit_fmt_duration(buf, summary_drift_size(drift)));
		say_source(&s->drifts, src, what);
	}
	return s->ended.err ? s->ended.err : s->drifts.err;
}

static int summary_end(void *ctx, const struct trace_meta *meta)
{
	struct summary *s = ctx;

	s->meta.first = meta->first;
	s->meta.last = meta->last;
	return 0;
}

struct consumer summary_consumer(struct summary *s)
{
	return (struct consumer){
		.ctx = s,
		.process = summary_process,
		.span = summary_span,
		.tally = summary_tally,
		.source = summary_source,
		.end = summary_end,
	};
}
