// SPDX-License-Identifier: GPL-2.0-only
/* Which captures can be merged, and what is added to their times. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/align.h"
#include "core/tee.h"
#include "store/mergeplan.h"
#include "store/replay.h"
#include "util/cleanup.h"
#include "util/hash.h"
#include "util/log.h"
#include "util/map.h"
#include "util/str.h"

__attribute__((format(printf, 3, 4))) static int refuse(char why[MERGE_WHY], int err,
							const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, MERGE_WHY, fmt, ap);
	va_end(ap);
	return err;
}

/* ---- What they are ------------------------------------------------------------------------- */

static int read_heads(struct merge *m, char why[MERGE_WHY])
{
	size_t sources = 0;

	for (size_t i = 0; i < m->cfg.n; i++) {
		struct merge_input *in = &m->cfg.inputs[i];
		char text[LOG_ERROR_MAX];
		int err = mergein_head(in->path, &m->heads[i]);

		if (err == -EINVAL)
			return refuse(why, err, "cannot read '%s': not an acltap capture",
				      in->path);
		if (err == -ENOTSUP)
			return refuse(why, err, "cannot read '%s': written by a newer acltap",
				      in->path);
		if (err)
			return refuse(why, err, "cannot read '%s': %s", in->path,
				      log_error_text(err, text));
		if (!m->heads[i].has_clock)
			return refuse(why, -ENODATA,
				      "'%s' has no reading of a clock: its times mean nothing "
				      "beside others",
				      in->path);
		in->sources = (uint32_t)m->heads[i].n_sources;
		sources += in->sources;
	}
	if (sources > WIRE_SOURCES_MAX)
		return refuse(why, -E2BIG, "%zu captures are more than the %u that one can hold",
			      sources, WIRE_SOURCES_MAX);
	return 0;
}

/* All recordings in a row, by their ids. */
static int refuse_twice(const struct merge *m, char why[MERGE_WHY])
{
	struct map seen = {0}; /* hash -> input + 1 */
	int err = 0;

	for (size_t i = 0; i < m->cfg.n && !err; i++)
		for (size_t k = 0; k < m->heads[i].n_sources && !err; k++) {
			uint64_t hash = hash_str(m->heads[i].sources[k].id);
			size_t other = (size_t)map_get(&seen, hash);

			if (other)
				err = refuse(why, -EEXIST, "'%s' and '%s' hold the same recording",
					     m->cfg.inputs[other - 1].path, m->cfg.inputs[i].path);
			else
				err = map_set(&seen, hash, i + 1);
		}
	map_free(&seen);
	return err;
}

/* ---- Which share a clock ------------------------------------------------------------------- */

/* The kernel whose clock the timeline of a capture is; "" = not known, or of several. */
static const char *boot_of(const struct mergein_head *h)
{
	const char *boot_id = h->sources[0].boot_id;

	for (size_t i = 0; h->merged && i < h->n_sources; i++)
		if (!h->sources[i].unshifted || strcmp(h->sources[i].boot_id, boot_id))
			return "";
	return boot_id;
}

static uint64_t begin_of(const struct merge *m, size_t i)
{
	return m->heads[i].first.mono_ns;
}

static bool overlap(const struct merge *m, size_t i, size_t k)
{
	return begin_of(m, i) <= m->last_ns[k] && begin_of(m, k) <= m->last_ns[i];
}

static bool shares_clock(const struct merge *m, size_t i, size_t k)
{
	const char *a = boot_of(&m->heads[i]), *b = boot_of(&m->heads[k]);

	return *a && !strcmp(a, b) && (!m->cfg.align || overlap(m, i, k));
}

/* Joins the groups of two inputs: the lower number stays. */
static void join(struct merge *m, size_t a, size_t b)
{
	size_t from = m->groups[a] > m->groups[b] ? m->groups[a] : m->groups[b];
	size_t to = m->groups[a] > m->groups[b] ? m->groups[b] : m->groups[a];

	for (size_t i = 0; i < m->cfg.n; i++)
		if (m->groups[i] == from)
			m->groups[i] = to;
}

static void make_groups(struct merge *m)
{
	for (size_t i = 0; i < m->cfg.n; i++)
		m->groups[i] = i;
	for (size_t i = 0; i < m->cfg.n; i++)
		for (size_t k = 0; k < i; k++)
			if (m->groups[i] != m->groups[k] && shares_clock(m, i, k))
				join(m, i, k);
	/* Numbers without gaps, in order of first appearance: the first input's is 0. */
	for (size_t i = 0; i < m->cfg.n; i++) {
		if (m->groups[i] != i)
			continue;
		for (size_t k = i; k < m->cfg.n; k++)
			if (m->groups[k] == i)
				m->groups[k] = m->n_groups;
		m->n_groups++;
	}
}

/* The input of the group that was recorded first: its first reading is the group's. */
static size_t earliest(const struct merge *m, size_t group)
{
	size_t best = m->cfg.n;

	for (size_t i = 0; i < m->cfg.n; i++)
		if (m->groups[i] == group &&
		    (best == m->cfg.n || begin_of(m, i) < begin_of(m, best)))
			best = i;
	return best;
}

static uint64_t epoch_of(const struct merge *m, size_t group)
{
	const struct clock_triple *c = &m->heads[earliest(m, group)].first;

	return c->real_ns - c->mono_ns;
}

/* ---- What is added ------------------------------------------------------------------------- */

/* The timeline is that of the host that has been up longest, so that none goes below 0. */
static size_t shift_by_clock(const struct merge *m, int64_t *shifts)
{
	size_t ref = 0;

	for (size_t g = 1; g < m->n_groups; g++)
		if ((int64_t)(epoch_of(m, g) - epoch_of(m, ref)) < 0)
			ref = g;
	for (size_t g = 0; g < m->n_groups; g++)
		shifts[g] = (int64_t)(epoch_of(m, g) - epoch_of(m, ref));
	return ref;
}

static void count_text(const struct align_count *c, char text[64])
{
	if (!c->processes)
		snprintf(text, 64, "not at all");
	else if (c->least == c->most)
		snprintf(text, 64, "%llu time%s", (unsigned long long)c->most,
			 c->most == 1 ? "" : "s");
	else
		snprintf(text, 64, "%llu to %llu times in its %zu processes",
			 (unsigned long long)c->least, (unsigned long long)c->most, c->processes);
}

/* Names every capture that has another count than most. */
static int refuse_counts(const struct merge *m, const struct align *a, char why[MERGE_WHY])
{
	_str_ struct str text = {0};
	struct map votes = {0};
	uint64_t usual = 0, best = 0;

	for (size_t i = 0; i < m->cfg.n; i++) {
		struct align_count c = align_count(a, i);
		uint64_t n = c.least == c.most ? map_get(&votes, c.most) + 1 : 0;

		if (n && map_set(&votes, c.most, n))
			break;
		if (c.most && n > best) {
			best = n;
			usual = c.most;
		}
	}
	map_free(&votes);
	str_printf(&text, "cannot align on '%s': ", m->cfg.align);
	if (usual)
		str_printf(&text, "%llu of %zu captures have it %llu time%s, but ",
			   (unsigned long long)best, m->cfg.n, (unsigned long long)usual,
			   usual == 1 ? "" : "s");
	for (size_t i = 0, told = 0; i < m->cfg.n; i++) {
		struct align_count c = align_count(a, i);
		char count[64];

		if (c.processes && c.least == usual && c.most == usual)
			continue;
		count_text(&c, count);
		str_printf(&text, "%s'%s' has it %s", told++ ? ", " : "", m->cfg.inputs[i].path,
			   count);
	}
	return refuse(why, text.err ? text.err : -EINVAL, "%s", str_get(&text));
}

/* The last reading of its clock is where a capture ends. */
static int on_end(void *ctx, const struct trace_meta *meta)
{
	*(uint64_t *)ctx = meta->last.mono_ns;
	return 0;
}

static int read_ends(struct merge *m, struct align *a, char why[MERGE_WHY])
{
	for (size_t i = 0; i < m->cfg.n; i++) {
		const struct consumer end = {.ctx = &m->last_ns[i], .end = on_end};
		const struct consumer names = align_consumer(a, i);
		const char *path = m->cfg.inputs[i].path;
		struct consumer next;
		enum capread_end ended;
		char text[LOG_ERROR_MAX];
		struct tee tee;
		int err;

		next = tee_consumer(&tee, &names, &end);
		err = replay_capture(path, &next, NULL, &ended, m->cfg.progress, m->cfg.ctx);
		if (err)
			return refuse(why, err, "cannot read '%s': %s", path,
				      log_error_text(err, text));
	}
	return 0;
}

/* Nothing may go below 0. */
static uint64_t lift(const struct merge *m, int64_t *shifts)
{
	int64_t low = 0;

	for (size_t i = 0; i < m->cfg.n; i++) {
		int64_t at = (int64_t)begin_of(m, i) + shifts[m->groups[i]];

		low = at < low ? at : low;
	}
	for (size_t g = 0; g < m->n_groups; g++)
		shifts[g] = (int64_t)((uint64_t)shifts[g] - (uint64_t)low);
	return -(uint64_t)low;
}

static int shift_by_name(struct merge *m, const struct align *a, int64_t *shifts,
			 char why[MERGE_WHY])
{
	struct align_result res = {.shifts = shifts};
	bool missing = false;
	int err;

	for (size_t i = 0; i < m->cfg.n; i++)
		missing |= !align_count(a, i).processes;
	err = missing ? -EINVAL : align_solve(a, m->groups, m->n_groups, &res);
	if (err == -EINVAL)
		return refuse_counts(m, a, why);
	m->alignment = (struct merge_alignment){m->n_groups, res.used, res.worst_ns};
	return err;
}

static int decide_shifts(struct merge *m, const struct align *a, char why[MERGE_WHY])
{
	_free_ int64_t *shifts = calloc(m->n_groups, sizeof(*shifts));
	const struct clock_triple *c;
	size_t ref = 0;
	int err = shifts ? 0 : -ENOMEM;

	if (!err && a)
		err = shift_by_name(m, a, shifts, why);
	else if (!err)
		ref = shift_by_clock(m, shifts);
	if (err)
		return err;
	m->epoch = epoch_of(m, ref) - (a ? lift(m, shifts) : 0);
	c = &m->heads[earliest(m, ref)].first;
	m->boot_delta = c->boot_ns - c->mono_ns;
	for (size_t i = 0; i < m->cfg.n; i++)
		m->cfg.inputs[i].shift_ns = shifts[m->groups[i]];
	return 0;
}

static int plan(struct merge *m, char why[MERGE_WHY])
{
	struct align *a = NULL;
	int err = read_heads(m, why);

	err = err ?: refuse_twice(m, why);
	if (!err && m->cfg.align)
		err = align_new(m->cfg.align, &a);
	if (!err && a)
		err = read_ends(m, a, why);
	if (!err) {
		make_groups(m);
		err = decide_shifts(m, a, why);
	}
	align_free(a);
	return err;
}

int merge_plan(const struct merge_config *cfg, struct merge **out, char why[MERGE_WHY])
{
	struct merge *m = calloc(1, sizeof(*m));
	int err = m ? 0 : -ENOMEM;

	snprintf(why, MERGE_WHY, "cannot merge: no memory");
	if (err)
		return err;
	m->cfg = *cfg;
	m->heads = calloc(cfg->n, sizeof(*m->heads));
	m->groups = calloc(cfg->n, sizeof(*m->groups));
	m->last_ns = calloc(cfg->n, sizeof(*m->last_ns));
	err = m->heads && m->groups && m->last_ns ? plan(m, why) : -ENOMEM;
	if (err)
		merge_free(m);
	else
		*out = m;
	return err;
}

struct merge_alignment merge_alignment(const struct merge *m)
{
	return m->alignment;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; m->heads && i < m->cfg.n; i++)
		mergein_head_free(&m->heads[i]);
	free(m->heads);
	free(m->groups);
	free(m->last_ns);
	free(m);
}
