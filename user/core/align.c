// SPDX-License-Identifier: GPL-2.0-only
#include "core/align.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"
#include "util/map.h"

/* The ends in one process. */
struct ends {
	size_t capture;
	uint64_t *v; /* n of them, in order */
	size_t n, cap;
	uint64_t count; /* those not kept as well */
};

struct align {
	char *name;
	size_t name_len;
	struct ends *procs; /* of all captures */
	size_t n_procs, cap;
	size_t capture;	 /* whose trace is coming */
	struct map pids; /* its processes: number in procs + 1 */
	uint64_t epoch;
};

int align_new(const char *name, struct align **out)
{
	struct align *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->name = strdup(name);
	if (!a->name) {
		free(a);
		return -ENOMEM;
	}
	a->name_len = strlen(name);
	*out = a;
	return 0;
}

void align_free(struct align *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_procs; i++)
		free(a->procs[i].v);
	free(a->procs);
	map_free(&a->pids);
	free(a->name);
	free(a);
}

/* ---- Traces in ----------------------------------------------------------------------------- */

static struct ends *ends_of(struct align *a, uint32_t pid)
{
	size_t at = (size_t)map_get(&a->pids, pid);

	if (at)
		return &a->procs[at - 1];
	if (grow_table(a->procs, a->n_procs, a->cap, 16))
		return NULL;
	if (map_set(&a->pids, pid, a->n_procs + 1))
		return NULL;
	a->procs[a->n_procs] = (struct ends){.capture = a->capture};
	return &a->procs[a->n_procs++];
}

static int add_end(struct ends *e, uint64_t ns)
{
	if (e->count++ >= ALIGN_ENDS)
		return 0;
	if (grow_table(e->v, e->n, e->cap, 64))
		return -ENOMEM;
	e->v[e->n++] = ns;
	return 0;
}

static int on_begin(void *ctx, const struct trace_meta *meta)
{
	struct align *a = ctx;

	a->epoch = meta->first.real_ns - meta->first.mono_ns;
	return 0;
}

static int on_span(void *ctx, const struct span *sp)
{
	struct align *a = ctx;
	char name[SPAN_NAME_MAX];
	struct ends *e;

	if (sp->status != SPAN_COMPLETE || span_shown_name(sp, name) != a->name_len ||
	    memcmp(name, a->name, a->name_len))
		return 0;
	e = ends_of(a, sp->pid);
	return e ? add_end(e, sp->end_ns - a->epoch) : -ENOMEM;
}

struct consumer align_consumer(struct align *a, size_t capture)
{
	a->capture = capture;
	map_free(&a->pids);
	return (struct consumer){.ctx = a, .begin = on_begin, .span = on_span};
}

struct align_count align_count(const struct align *a, size_t capture)
{
	struct align_count c = {0};

	for (size_t i = 0; i < a->n_procs; i++) {
		const struct ends *e = &a->procs[i];

		if (e->capture != capture)
			continue;
		if (!c.processes++ || e->count < c.least)
			c.least = e->count;
		if (e->count > c.most)
			c.most = e->count;
	}
	return c;
}

/* ---- Shifts out ---------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* first[group * n + k] = the first of the group's processes to reach its k-th end. */
static void first_ends(const struct align *a, const size_t *groups, size_t n, uint64_t *first)
{
	for (size_t i = 0; i < a->n_procs; i++) {
		const struct ends *e = &a->procs[i];
		uint64_t *f = first + groups[e->capture] * n;

		for (size_t k = 0; k < n; k++)
			if (e->v[k] < f[k])
				f[k] = e->v[k];
	}
}

static int64_t median(int64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	/* Of two in the middle: without overflow, and the same for whatever is added to both. */
	return n % 2 ? v[n / 2] : v[n / 2 - 1] + (int64_t)((uint64_t)(v[n / 2] - v[n / 2 - 1]) / 2);
}

static void worst(const uint64_t *first, size_t n_groups, size_t n, struct align_result *out)
{
	for (size_t k = 0; k < n; k++) {
		uint64_t low = UINT64_MAX, high = 0;

		for (size_t g = 0; g < n_groups; g++) {
			uint64_t at = first[g * n + k] + (uint64_t)out->shifts[g] - first[k] +
				      (UINT64_MAX >> 1);

			low = at < low ? at : low;
			high = at > high ? at : high;
		}
		if (high - low > out->worst_ns)
			out->worst_ns = high - low;
	}
}

static bool counts_agree(const struct align *a, const size_t *groups, size_t n_groups)
{
	bool has_any;

	for (size_t i = 1; i < a->n_procs; i++)
		if (a->procs[i].count != a->procs[0].count)
			return false;
	for (size_t g = 0; g < n_groups; g++) {
		has_any = false;
		for (size_t i = 0; i < a->n_procs; i++)
			has_any |= groups[a->procs[i].capture] == g;
		if (!has_any)
			return false;
	}
	return a->n_procs;
}

int align_solve(const struct align *a, const size_t *groups, size_t n_groups,
		struct align_result *out)
{
	size_t n = a->n_procs ? a->procs[0].n : 0;
	uint64_t *first;
	int64_t *diff;

	if (!counts_agree(a, groups, n_groups))
		return -EINVAL;
	first = malloc(n_groups * n * sizeof(*first));
	diff = malloc(n * sizeof(*diff));
	if (!first || !diff) {
		free(first);
		free(diff);
		return -ENOMEM;
	}
	memset(first, 0xff, n_groups * n * sizeof(*first));
	first_ends(a, groups, n, first);
	for (size_t g = 0; g < n_groups; g++) {
		for (size_t k = 0; k < n; k++)
			diff[k] = (int64_t)(first[k] - first[g * n + k]);
		out->shifts[g] = median(diff, n);
	}
	out->used = n;
	out->worst_ns = 0;
	worst(first, n_groups, n, out);
	free(first);
	free(diff);
	return 0;
}
