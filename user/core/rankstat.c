// SPDX-License-Identifier: GPL-2.0-only
#include "core/rankstat.h"

#include <errno.h>
#include <stdlib.h>

#include "util/grow.h"

struct rank_sum {
	uint32_t row, rank;
	uint64_t total_ns, count;
};

static struct rank_sum *sum_of(struct rankstat *r, uint32_t row, uint32_t rank)
{
	uint64_t key = (uint64_t)row << 32 | rank;
	size_t at = (size_t)map_get(&r->index, key);

	if (at)
		return &r->sums[at - 1];
	if (grow_table(r->sums, r->n, r->cap, 64))
		return NULL;
	if (map_set(&r->index, key, r->n + 1))
		return NULL;
	r->sums[r->n] = (struct rank_sum){.row = row, .rank = rank};
	return &r->sums[r->n++];
}

int rankstat_add(struct rankstat *r, uint32_t row, uint32_t rank, uint64_t ns)
{
	struct rank_sum *s;

	if (r->n >= RANKSTAT_PAIRS_MAX && !map_get(&r->index, (uint64_t)row << 32 | rank)) {
		r->full = true;
		return 0;
	}
	s = sum_of(r, row, rank);
	if (!s)
		return -ENOMEM;
	s->total_ns += ns;
	s->count++;
	return 0;
}

/* Is (x, rank) further out than what was found so far? */
static bool beats(bool smaller, uint32_t rank, uint32_t best)
{
	return smaller || rank < best;
}

static void add_to(struct rank_spread *p, const struct rank_sum *s)
{
	double avg = (double)s->total_ns / (double)s->count;
	bool first = !p->ranks++;

	if (first || (s->total_ns <= p->min_total_ns &&
		      beats(s->total_ns < p->min_total_ns, s->rank, p->min_total_rank))) {
		p->min_total_ns = s->total_ns;
		p->min_total_rank = s->rank;
	}
	if (first || (s->total_ns >= p->max_total_ns &&
		      beats(s->total_ns > p->max_total_ns, s->rank, p->max_total_rank))) {
		p->max_total_ns = s->total_ns;
		p->max_total_rank = s->rank;
	}
	if (first ||
	    (avg <= p->min_avg_ns && beats(avg < p->min_avg_ns, s->rank, p->min_avg_rank))) {
		p->min_avg_ns = avg;
		p->min_avg_rank = s->rank;
	}
	if (first ||
	    (avg >= p->max_avg_ns && beats(avg > p->max_avg_ns, s->rank, p->max_avg_rank))) {
		p->max_avg_ns = avg;
		p->max_avg_rank = s->rank;
	}
}

void rankstat_spread(const struct rankstat *r, struct rank_spread *spreads)
{
	for (size_t i = 0; i < r->n; i++)
		add_to(&spreads[r->sums[i].row], &r->sums[i]);
}

void rankstat_free(struct rankstat *r)
{
	map_free(&r->index);
	free(r->sums);
	*r = (struct rankstat){0};
}
