// SPDX-License-Identifier: GPL-2.0-only
#include "core/stats_in.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"
#include "util/hash.h"
#include "util/map.h"

#define KEY_MAX (SPAN_NAME_MAX + 16)
/* Names made to have one hash share a chain; beyond this they go to the others. */
#define CHAIN_MAX 16

int stats_new(const struct stats_config *cfg, struct stats **out)
{
	struct stats *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->cfg = *cfg;
	if (!s->cfg.max_values)
		s->cfg.max_values = STATS_VALUES_MAX;
	if (!s->cfg.max_rows)
		s->cfg.max_rows = STATS_ROWS_MAX;
	*out = s;
	return 0;
}

static void free_texts(struct map *m)
{
	uint64_t key, val;
	size_t pos = 0;

	while (map_next(m, &pos, &key, &val))
		free((void *)(uintptr_t)val);
	map_free(m);
}

void stats_free(struct stats *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_rows; i++) {
		values_free(&s->rows[i]->r.values);
		reservoir_free(&s->rows[i]->r.sample);
		free(s->rows[i]->label);
		free(s->rows[i]);
	}
	free(s->rows);
	map_free(&s->index);
	map_free(&s->child_ns);
	free_texts(&s->processes);
	free_texts(&s->first_names);
	free_texts(&s->threads);
	free_texts(&s->categories);
	map_free(&s->programs);
	map_free(&s->ranks);
	rankstat_free(&s->rankstat);
	free(s);
}

/* ---- Rows ---------------------------------------------------------------------------------- */

static enum stats_style style_of(const struct span *sp)
{
	switch (sp->kind) {
	case SPAN_PUSH_POP:
		return STYLE_PUSH_POP;
	case SPAN_START_END:
		return STYLE_START_END;
	default:
		return STYLE_MARKER;
	}
}

/* Another program does not have the names of its predecessor. */
static uint32_t program_of(const struct stats *s, uint32_t pid)
{
	return (uint32_t)map_get(&s->programs, pid);
}

static size_t category_key(const struct stats *s, const struct span *sp, char key[KEY_MAX])
{
	uint32_t program = program_of(s, sp->pid);
	const char *name = map_get_ptr(&s->categories, PAIR(program, sp->category));
	int n;

	if (sp->domain)
		n = snprintf(key, KEY_MAX, "N/A");
	else
		n = snprintf(key, KEY_MAX, "%u%s%.255s", sp->category, name ? " " : "", name ?: "");
	return n < 0 ? 0 : (size_t)n;
}

static size_t rank_key(const struct stats *s, const struct span *sp, char key[KEY_MAX])
{
	const char *name = map_get_ptr(&s->processes, sp->pid);
	int n = snprintf(key, KEY_MAX, "%.255s", name ?: "no rank");

	return n < 0 ? 0 : (size_t)n;
}

/* A row for each program: what is told before any name is known belongs to the first. */
static size_t process_key(const struct stats *s, const struct span *sp, char key[KEY_MAX])
{
	const char *name = map_get_ptr(&s->processes, sp->pid);
	const char *first = map_get_ptr(&s->first_names, sp->pid);
	size_t n = name && strcmp(name, first) != 0 ? strnlen(name, SPAN_NAME_MAX) : 0;

	memcpy(key, &sp->pid, sizeof(sp->pid));
	if (n)
		memcpy(key + sizeof(sp->pid), name, n);
	return sizeof(sp->pid) + n;
}

/* What spans of one row have in common. Returns its length. */
static size_t key_of(const struct stats *s, const struct span *sp, char key[KEY_MAX])
{
	switch (s->cfg.by) {
	case STATS_BY_NAME:
		break;
	case STATS_BY_THREAD:
		memcpy(key, &sp->pid, sizeof(sp->pid));
		memcpy(key + sizeof(sp->pid), &sp->start_tid, sizeof(sp->start_tid));
		return sizeof(sp->pid) + sizeof(sp->start_tid);
	case STATS_BY_PROCESS:
		return process_key(s, sp, key);
	case STATS_BY_CATEGORY:
		return category_key(s, sp, key);
	case STATS_BY_RANK:
		return rank_key(s, sp, key);
	}
	return span_shown_name(sp, key);
}

static struct row *row_new(struct stats *s, enum stats_style style, const char *key, size_t n)
{
	struct row *row;

	if (grow_table(s->rows, s->n_rows, s->cap, 64))
		return NULL;
	row = calloc(1, sizeof(*row) + n + 1);
	if (!row)
		return NULL;
	row->r.style = style;
	row->r.sample.seed = hash_bytes(style, key, n); /* of no other row's business */
	row->key_len = n;
	memcpy(row->key, key, n);
	row->number = (uint32_t)s->n_rows;
	s->rows[s->n_rows++] = row;
	return row;
}

/* The row, made where there is none; *full: there may be no further one. NULL: that or no memory.
 */
static struct row *row_find(struct stats *s, enum stats_style style, const char *key, size_t n,
			    size_t max_rows, bool *full)
{
	uint64_t hash = hash_bytes(style, key, n);
	struct row *first = map_get_ptr(&s->index, hash), *row;
	size_t length = 0;

	for (row = first; row; row = row->chain, length++)
		if (row->r.style == style && row->key_len == n && !memcmp(row->key, key, n))
			return row;
	*full = length >= CHAIN_MAX || s->n_rows >= max_rows;
	row = *full ? NULL : row_new(s, style, key, n);
	if (!row)
		return NULL;
	row->chain = first;
	/* Without memory for the index the row stays in the list, and the error ends it all. */
	return map_set_ptr(&s->index, hash, row) ? NULL : row;
}

static struct row *row_of(struct stats *s, const struct span *sp)
{
	enum stats_style style = style_of(sp);
	char key[KEY_MAX];
	size_t n = key_of(s, sp, key);
	bool full = false;
	struct row *row = row_find(s, style, key, n, s->cfg.max_rows, &full);

	if (row || !full)
		return row;
	s->unnamed++;
	return row_find(s, style, STATS_OTHERS, strlen(STATS_OTHERS), SIZE_MAX, &full);
}

/* ---- Values -------------------------------------------------------------------------------- */

static int by_values(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	return (x->r.values.n < y->r.values.n) - (x->r.values.n > y->r.values.n);
}

/* Down to half of the limit at once, so that this is rare even with many small rows. */
static int coarsen_largest(struct stats *s)
{
	struct row **all = malloc(s->n_rows * sizeof(struct row *));
	int err = 0;

	if (!all)
		return -ENOMEM;
	memcpy(all, s->rows, s->n_rows * sizeof(struct row *));
	qsort(all, s->n_rows, sizeof(struct row *), by_values);
	for (size_t i = 0; i < s->n_rows && s->n_exact > s->cfg.max_values / 2 && !err; i++) {
		struct values *v = &all[i]->r.values;
		size_t n = v->n;

		if (!n)
			break;
		err = values_coarsen(v);
		s->n_exact -= err ? 0 : n;
		s->n_coarse += !err;
	}
	free(all);
	return err;
}

/* Too many samples together: each has half the room. */
static void thin_samples(struct stats *s)
{
	while (s->n_sampled > s->cfg.max_values && s->cfg.max_sample > 1) {
		s->cfg.max_sample /= 2;
		s->n_sampled = 0;
		for (size_t i = 0; i < s->n_rows; i++) {
			reservoir_shrink(&s->rows[i]->r.sample, s->cfg.max_sample);
			s->n_sampled += s->rows[i]->r.sample.n;
		}
	}
}

static int sample_value(struct stats *s, struct row *row, uint64_t ns)
{
	struct reservoir *sample = &row->r.sample;
	size_t before = sample->n;
	int err;

	if (!s->cfg.max_sample)
		return 0;
	err = reservoir_add(sample, ns, s->cfg.max_sample);
	s->n_sampled += sample->n - before;
	thin_samples(s);
	return err;
}

static int add_value(struct stats *s, struct row *row, uint64_t ns)
{
	struct stats_row *r = &row->r;
	double delta = (double)ns - row->mean;
	int err;

	r->instances++;
	r->total_ns += ns;
	if (r->instances == 1 || ns < r->min_ns)
		r->min_ns = ns;
	if (ns > r->max_ns)
		r->max_ns = ns;
	row->mean += delta / (double)r->instances;
	row->squares += delta * ((double)ns - row->mean);
	err = sample_value(s, row, ns) ?: values_add(&r->values, ns);
	if (err || r->values.pages)
		return err;
	s->n_exact++;
	return s->n_exact > s->cfg.max_values ? coarsen_largest(s) : 0;
}

/* ---- Consumer ------------------------------------------------------------------------------ */

/*
 * Children end before their parent: what they took together waits under the parent's id. Returns
 * the time that was spent in children of sp.
 */
static int child_time(struct stats *s, const struct span *sp, uint64_t *inside)
{
	uint64_t ns = sp->has_end ? sp->end_ns - sp->start_ns : 0, before;

	*inside = 0;
	if (sp->kind != SPAN_PUSH_POP)
		return 0;
	*inside = map_del(&s->child_ns, sp->id);
	if (!sp->parent || !ns)
		return 0;
	before = map_get(&s->child_ns, sp->parent);
	if (!before && s->child_ns.n >= STATS_PARENTS_MAX) {
		s->self_incomplete = true;
		return 0;
	}
	return map_set(&s->child_ns, sp->parent, before + ns);
}

static int add_rank(struct stats *s, const struct row *row, const struct span *sp, uint64_t ns)
{
	uint64_t rank = s->cfg.ranks ? map_get(&s->ranks, sp->pid) : 0;

	return rank ? rankstat_add(&s->rankstat, row->number, (uint32_t)rank - 1, ns) : 0;
}

static int on_span(void *ctx, const struct span *sp)
{
	struct stats *s = ctx;
	uint64_t inside, ns;
	struct row *row;
	int err = child_time(s, sp, &inside);

	if (err)
		return err;
	row = row_of(s, sp);
	if (!row)
		return -ENOMEM;
	if (sp->status == SPAN_UNCERTAIN) {
		row->r.uncertain++;
		return 0;
	}
	if (sp->status != SPAN_COMPLETE) {
		row->r.unfinished++;
		return 0;
	}
	ns = sp->end_ns - sp->start_ns;
	row->r.self_ns += ns > inside ? ns - inside : 0;
	err = add_rank(s, row, sp, ns);
	return err ? err : add_value(s, row, ns);
}

/* Not counted, but what it is in was not busy with itself meanwhile. */
static int on_hidden(void *ctx, const struct span *sp)
{
	uint64_t inside;

	return child_time(ctx, sp, &inside);
}

static int keep_text(struct map *m, uint64_t key, const char *text, size_t n)
{
	char *copy = strndup(text, n);
	void *old = map_get_ptr(m, key);
	int err = copy ? map_set_ptr(m, key, copy) : -ENOMEM;

	free(err ? copy : old);
	return err;
}

/* "rank 3"; of several hosts without one "local rank 1 of node-b". */
static int keep_rank(struct stats *s, const struct process *p)
{
	char text[256] = "no rank";

	if (p->rank >= 0)
		snprintf(text, sizeof(text), "rank %d", p->rank);
	else if (p->source && p->local_rank >= 0)
		snprintf(text, sizeof(text), "local rank %d of %.200s", p->local_rank, p->host);
	return keep_text(&s->processes, p->pid, text, strlen(text));
}

static int note_program(struct stats *s, uint32_t pid, uint32_t image)
{
	uint64_t known = map_get(&s->programs, pid);

	if (known && (!image || image == known >> 32))
		return 0;
	return map_set(&s->programs, pid, PAIR(image, ++s->n_programs));
}

static int on_process(void *ctx, const struct process *p)
{
	struct stats *s = ctx;
	int err = 0;

	if (s->cfg.ranks && p->rank >= 0)
		err = map_set(&s->ranks, p->pid, (uint64_t)p->rank + 1);
	else if (s->cfg.ranks)
		map_del(&s->ranks, p->pid);
	if (err)
		return err;
	if (s->cfg.by == STATS_BY_RANK)
		return keep_rank(s, p);
	if (s->cfg.by == STATS_BY_CATEGORY)
		return note_program(s, p->pid, p->image);
	if (!*p->name || s->cfg.by != STATS_BY_PROCESS)
		return 0;
	if (!map_get_ptr(&s->first_names, p->pid))
		err = keep_text(&s->first_names, p->pid, p->name, strlen(p->name));
	return err ? err : keep_text(&s->processes, p->pid, p->name, strlen(p->name));
}

static int on_thread(void *ctx, const struct label *l)
{
	struct stats *s = ctx;

	if (!l->len || s->cfg.by != STATS_BY_THREAD)
		return 0;
	return keep_text(&s->threads, PAIR(l->pid, l->id), l->text, l->len);
}

static int on_category(void *ctx, const struct label *l)
{
	struct stats *s = ctx;

	if (s->cfg.by != STATS_BY_CATEGORY)
		return 0;
	if (!program_of(s, l->pid) && note_program(s, l->pid, 0))
		return -ENOMEM;
	return keep_text(&s->categories, PAIR(program_of(s, l->pid), l->id), l->text, l->len);
}

static int on_end(void *ctx, const struct trace_meta *meta)
{
	(void)meta;
	return stats_finish(ctx);
}

struct consumer stats_consumer(struct stats *s)
{
	return (struct consumer){
		.ctx = s,
		.process = on_process,
		.thread = on_thread,
		.category = on_category,
		.span = on_span,
		.hidden = on_hidden,
		.end = on_end,
	};
}

size_t stats_count(const struct stats *s)
{
	return s->n_rows;
}

const struct stats_row *stats_get(const struct stats *s, size_t i)
{
	return &s->rows[i]->r;
}

size_t stats_coarse_rows(const struct stats *s)
{
	return s->n_coarse;
}

uint64_t stats_unnamed_spans(const struct stats *s)
{
	return s->unnamed;
}

bool stats_ranks_incomplete(const struct stats *s)
{
	return s->rankstat.full;
}

bool stats_self_incomplete(const struct stats *s)
{
	return s->self_incomplete;
}

const char *stats_style_name(enum stats_style style)
{
	static const char *const names[] = {"PushPop", "StartEnd", "Marker"};

	return names[style];
}
