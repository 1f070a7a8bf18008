// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random programs against the truth (harness/world.h). With nothing lost the pipeline must tell
 * exactly the truth; with losses nothing that it calls complete (or unfinished, or superseded) may
 * be wrong, and what the rules prove must be complete. The same when the first records were dropped
 * on purpose (store/keep.h), but for what they need of them.
 *
 *   test_property [CASES [FIRST_SEED]]
 */
#include "harness/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "core/pipeline.h"
#include "harness/world.h"
#include "store/keep.h"

#define EPOCH 5000000000u

static unsigned long n_cases = 3000, first_seed = 1;

/* What came out. */
struct told {
	struct span *spans; /* name replaced by copies in names */
	char (*names)[8];
	size_t n, room;
	uint64_t tallies[TALLY_MISMATCH + 1][PROBE_FUNCS];
	uint64_t null_stamps;
};

struct proof {
	uint64_t spans, complete, proven; /* over all cases with losses */
};

static struct proof proof;
static struct {
	uint64_t spans, named_before, lost_starts;
} kept;

static int on_span(void *ctx, const struct span *sp)
{
	struct told *t = ctx;

	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->spans = realloc(t->spans, t->room * sizeof(*t->spans));
		t->names = realloc(t->names, t->room * sizeof(*t->names));
		assert_non_null(t->spans);
		assert_non_null(t->names);
	}
	t->spans[t->n] = *sp;
	assert_true(sp->name_len < 8);
	memset(t->names[t->n], 0, 8);
	memcpy(t->names[t->n], sp->name, sp->name_len);
	t->n++;
	return 0;
}

static int on_tally(void *ctx, const struct tally *tally)
{
	struct told *t = ctx;

	if (tally->kind == TALLY_NULL_STAMP)
		t->null_stamps += tally->count;
	else
		t->tallies[tally->kind][tally->func] += tally->count;
	return 0;
}

/* ---- Running ------------------------------------------------------------------------------- */

struct bytes {
	struct wire w;
	char text[sizeof(struct wire_count)];
};

static void push(struct pipeline *p, struct wire w, const void *text)
{
	struct bytes b = {.w = w};

	b.w.len = (__u16)(sizeof(w) + w.msg_len);
	memcpy(b.text, text, w.msg_len);
	assert_ok(pipeline_push(p, &b, b.w.len));
}

static void push_clock(struct pipeline *p)
{
	const struct wire w = {
		.time_ns = 1000, .kind = WIRE_CLOCK, .arg0 = EPOCH + 1000, .msg_len = 8};
	__u64 boot = 0;

	push(p, w, &boot);
}

static void push_totals(struct pipeline *p, struct world *world, const struct keep *keep)
{
	struct wire_count total;

	for (unsigned int f = 0; f < PROBE_FUNCS; f++) {
		struct wire w;

		while (sim_loss(&world->kernel, (__u8)f, world->now, &w))
			push(p, w, "");
		w = (struct wire){
			.kind = WIRE_COUNT, .func = (__u8)f, .msg_len = sizeof(struct wire_count)};
		total = world->kernel.funcs[f].total;
		total.lost += keep_dropped(keep, f);
		if (total.calls)
			push(p, w, &total);
	}
}

/* Windows in any order, each ended by the watermark that is true of it. */
static void push_shuffled(struct pipeline *p, const struct world *world, uint64_t random)
{
	int *order = malloc(((size_t)world->n_recs + 1) * sizeof(*order)), n = 0;

	assert_non_null(order);
	for (int i = 0; i < world->n_recs; i++)
		if (!world->recs[i].lost)
			order[n++] = i;
	for (int at = 0; at < n;) {
		int size = 1 + (int)(world_random(&random) % 24);

		if (size > n - at)
			size = n - at;
		for (int i = size - 1; i > 0; i--) {
			int j = (int)(world_random(&random) % ((unsigned int)i + 1));
			int swap = order[at + i];

			order[at + i] = order[at + j];
			order[at + j] = swap;
		}
		for (int i = 0; i < size; i++)
			push(p, world->recs[order[at + i]].w, world->recs[order[at + i]].text);
		at += size;
		if (at < n)
			push(p,
			     (struct wire){.kind = WIRE_WATERMARK,
					   .time_ns = world->recs[order[at]].w.time_ns},
			     "");
	}
	free(order);
}

static void note(struct keep *keep, struct wire w, const char *text)
{
	struct bytes b = {.w = w};

	b.w.len = (__u16)(sizeof(w) + w.msg_len);
	memcpy(b.text, text, w.msg_len);
	assert_ok(keep_note(keep, &b));
}

static void note_option(struct keep *keep, const char *text)
{
	note(keep,
	     (struct wire){.time_ns = 1000,
			   .kind = WIRE_FACT,
			   .arg1 = FACT_OPTION,
			   .msg_len = (__u16)strlen(text)},
	     text);
}

static int push_kept(void *ctx, const void *rec, size_t sz)
{
	return pipeline_push(ctx, rec, sz);
}

/* The first records are not there, but what is kept of them. */
static void push_rest(struct pipeline *p, const struct world *world, const struct world_opts *opts,
		      int cut, struct keep *keep)
{
	if (opts->lifecycle)
		note_option(keep, "lifecycle=1");
	if (opts->returns)
		note_option(keep, "returns=1");
	for (int i = 0; i < cut; i++)
		if (!world->recs[i].lost)
			note(keep, world->recs[i].w, world->recs[i].text);
	keep_next_part(keep);
	assert_ok(keep_begin(keep, push_kept, p));
	keep_next_part(keep);
	for (int i = cut; i < world->n_recs; i++)
		if (!world->recs[i].lost)
			push(p, world->recs[i].w, world->recs[i].text);
}

/* cut: so many records are dropped; 0: none, and options are no records. */
static void run(struct world *world, const struct world_opts *opts, uint64_t seed, int cut,
		struct told *told)
{
	const struct pipeline_config cfg = {.lifecycle = opts->lifecycle && !cut,
					    .returns = opts->returns && !cut};
	struct keep keep = {.room = SIZE_MAX};
	const struct consumer next = {.ctx = told, .span = on_span, .tally = on_tally};
	struct pipeline *p;

	assert_ok(pipeline_new(&cfg, &next, &p));
	push_clock(p);
	if (cut)
		push_rest(p, world, opts, cut, &keep);
	else
		push_shuffled(p, world, seed);
	push_totals(p, world, &keep);
	assert_ok(pipeline_finish(p, true));
	keep_free(&keep);
	pipeline_free(p);
}

/* ---- Comparing ------------------------------------------------------------------------------ */

/* Of the case under way. */
static const char *failure;
static uint64_t looking_at; /* start of the span that is compared */
static uint64_t failed_at;

#define HOLDS(cond)                                                                                \
	do {                                                                                       \
		if (!(cond) && !failure) {                                                         \
			failure = #cond;                                                           \
			failed_at = looking_at;                                                    \
		}                                                                                  \
	} while (0)

static const struct wire *rec(const struct world *w, int i)
{
	return &w->recs[i].w;
}

/* Opening record -> truth. */
static int *index_truths(const struct world *w)
{
	int *of = malloc(((size_t)w->n_recs + 1) * sizeof(*of));

	assert_non_null(of);
	for (int i = 0; i < w->n_recs; i++)
		of[i] = -1;
	for (int i = 0; i < w->n_truths; i++)
		of[w->truths[i].open_rec] = i;
	return of;
}

/* The record that opened a span: times do not go back, so it can be looked up. */
static int find_record(const struct world *w, const struct span *sp)
{
	uint64_t start = sp->start_ns - EPOCH;
	int lo = 0, hi = w->n_recs;

	while (lo < hi) {
		int mid = lo + (hi - lo) / 2;

		if (rec(w, mid)->time_ns < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < w->n_recs && rec(w, lo)->time_ns == start; lo++)
		if (rec(w, lo)->kind == WIRE_CALL && rec(w, lo)->tid == sp->start_tid &&
		    rec(w, lo)->tgid == sp->pid && rec(w, lo)->seq == sp->seq)
			return lo;
	return -1;
}

static void check_times(const struct span *sp, const struct truth *t)
{
	bool has_end = t->status != SPAN_OPEN;

	HOLDS(sp->has_end == has_end);
	if (has_end)
		HOLDS(sp->end_ns == t->end_ns + EPOCH);
	HOLDS(sp->start_ns == t->start_ns + EPOCH);
	HOLDS(!has_end || sp->end_ns >= sp->start_ns);
	HOLDS(sp->end_tid == t->end_tid);
}

static void check_place(const struct told *told, const struct world *w, const struct span *sp,
			const struct truth *t)
{
	const struct truth *parent = t->parent < 0 ? NULL : &w->truths[t->parent];
	const struct span *up = NULL;

	for (size_t i = 0; i < told->n && sp->parent; i++)
		if (told->spans[i].id == sp->parent)
			up = &told->spans[i];
	HOLDS(sp->depth == t->depth);
	HOLDS(!parent == !up);
	if (parent && up)
		HOLDS(up->start_ns == parent->start_ns + EPOCH && up->start_tid == parent->tid &&
		      up->seq == parent->seq);
}

/* With nothing lost: all of it, exactly. */
static void check_exact(const struct told *told, const struct world *w, size_t i,
			const struct truth *t, const struct world_opts *opts)
{
	const struct span *sp = &told->spans[i];

	HOLDS(sp->status == t->status);
	HOLDS(!strcmp(told->names[i], t->name));
	HOLDS(sp->category == t->category);
	HOLDS(sp->has_ret == opts->returns);
	HOLDS(!opts->returns || sp->ret == t->ret);
	check_times(sp, t);
	check_place(told, w, sp, t);
}

/* Whatever is not called uncertain must be true. */
static void check_sound(const struct told *told, size_t i, const struct truth *t,
			const struct world_opts *opts)
{
	const struct span *sp = &told->spans[i];

	if (sp->status == SPAN_UNCERTAIN)
		return;
	HOLDS(t->exists || sp->status == SPAN_OPEN);
	HOLDS(!strcmp(told->names[i], t->name));
	/* Before the first one that got through, nobody can know that there are categories. */
	HOLDS(sp->category == t->category || !sp->category);
	HOLDS(sp->depth == t->depth || opts->copies);
	if (sp->status == SPAN_OPEN)
		return; /* what was lost after the last record nobody can know */
	/* With copies only what was opened since the last loss is known to be around it. */
	HOLDS(sp->depth <= t->depth);
	HOLDS(sp->status == t->status);
	check_times(sp, t);
}

static bool delivered(const struct world *w, int i)
{
	return i >= 0 && !w->recs[i].lost;
}

/*
 * Did another start return the same id meanwhile? If its entry was lost, so is the order. Nor is
 * it known of a stop before the return whether it was of an earlier range that is still open.
 */
static bool id_is_disputed(const struct world *w, const struct truth *t)
{
	if (t->close_rec < t->ret_rec)
		return true;
	for (int i = t->open_rec; i < t->close_rec; i++)
		if (i != t->ret_rec && rec(w, i)->kind == WIRE_RETURN &&
		    rec(w, i)->tgid == t->pid && rec(w, i)->func == rec(w, t->open_rec)->func &&
		    rec(w, i)->arg1 == rec(w, t->ret_rec)->arg1)
			return true;
	return false;
}

/* Do the rules prove it? Says no in some cases where they do. */
static bool is_proven(const struct world *w, const struct truth *t, const struct world_opts *opts)
{
	const struct wire *open = rec(w, t->open_rec);

	if (!t->exists || !opts->safe_processes || opts->categories)
		return false;
	if (!delivered(w, t->open_rec) || !delivered(w, t->close_rec))
		return false;
	if (!delivered(w, t->text_rec) || rec(w, t->text_rec)->gap != open->gap)
		return false;
	if (t->kind == SPAN_START_END)
		return delivered(w, t->ret_rec) && !id_is_disputed(w, t) &&
		       rec(w, t->close_rec)->gap == open->gap;
	/* The depth of all copies together proves nothing of one. */
	if (t->kind == SPAN_PUSH_POP)
		return !opts->copies || !rec(w, t->close_rec)->gap;
	return !opts->returns || delivered(w, t->ret_rec);
}

/*
 * What was opened by a record that got through is told, one way or another. But for a start whose
 * return was lost, and the end of its thread as well: the return of a new thread's call of the
 * same number may be taken for its own.
 */
static bool may_be_untold(const struct world *w, const struct truth *t)
{
	if (!t->exists || !delivered(w, t->open_rec))
		return true;
	return t->kind == SPAN_START_END && !delivered(w, t->ret_rec) && w->processes_lost;
}

static void check_counts(const struct told *told, const struct world *w, bool lossless)
{
	for (unsigned int f = 0; f < PROBE_FUNCS; f++) {
		const struct wire_count *c = &w->kernel.funcs[f].total;
		const uint64_t(*t)[PROBE_FUNCS] = told->tallies;

		HOLDS(t[TALLY_CALL][f] == c->calls);
		HOLDS(t[f == PROBE_FUNC_LIFECYCLE ? TALLY_LOST_PROCESS : TALLY_LOSS][f] == c->lost);
		HOLDS(t[TALLY_LOST_RETURN][f] == c->lost_returns);
		HOLDS(!t[TALLY_MISMATCH][f] && !t[TALLY_LATE][f] && !t[TALLY_BAD][f]);
		HOLDS(!lossless || t[TALLY_ORPHAN][f] == w->orphans[f]);
		HOLDS(!lossless || !t[TALLY_LOST_START][f]);
	}
	HOLDS(!lossless || told->null_stamps == w->null_stamps);
}

static void compare(const struct told *told, const struct world *w, const struct world_opts *opts)
{
	int *of = index_truths(w);
	bool *seen = calloc((size_t)w->n_truths + 1, sizeof(*seen));

	assert_non_null(seen);
	for (size_t i = 0; i < told->n; i++) {
		int r = find_record(w, &told->spans[i]), t = r < 0 ? -1 : of[r];

		looking_at = told->spans[i].start_ns - EPOCH;

		/* Of a failed call whose return was lost, only the call is known. */
		HOLDS(t >= 0 || (r >= 0 && opts->drop &&
				 (told->spans[i].status == SPAN_UNCERTAIN ||
				  told->spans[i].status == SPAN_OPEN)));
		if (t < 0)
			continue;
		HOLDS(!seen[t]);
		HOLDS(told->spans[i].kind == w->truths[t].kind);
		seen[t] = true;
		proof.spans += opts->drop != 0;
		proof.complete += opts->drop && told->spans[i].status == SPAN_COMPLETE;
		if (!opts->drop)
			check_exact(told, w, i, &w->truths[t], opts);
		check_sound(told, i, &w->truths[t], opts);
		if (w->truths[t].status == SPAN_COMPLETE && is_proven(w, &w->truths[t], opts)) {
			proof.proven += opts->drop != 0;
			HOLDS(told->spans[i].status == SPAN_COMPLETE);
		}
	}
	for (int i = 0; i < w->n_truths; i++)
		HOLDS(seen[i] || may_be_untold(w, &w->truths[i]));
	check_counts(told, w, !opts->drop);
	free(of);
	free(seen);
}

/* A name that was set in the process itself is known; that it was reset may not be. */
static bool is_kept(const struct world *w, const struct truth *t)
{
	if (t->text_rec < 0 || rec(w, t->text_rec)->kind != WIRE_CALL)
		return false;
	if (t->kind != SPAN_START_END)
		return true;
	return t->status == SPAN_COMPLETE && !id_is_disputed(w, t);
}

/* With the first cut records dropped. */
static void compare_rest(const struct told *told, const struct world *w,
			 const struct world_opts *opts, int cut)
{
	int *of = index_truths(w);

	for (size_t i = 0; i < told->n; i++) {
		const struct span *sp = &told->spans[i];
		int r = find_record(w, sp), t = r < 0 ? -1 : of[r];

		looking_at = sp->start_ns - EPOCH;
		HOLDS(t < 0 || r >= cut);
		HOLDS(t >= 0 || (r >= 0 && opts->drop && sp->status == SPAN_UNCERTAIN) ||
		      sp->status == SPAN_OPEN);
		if (t < 0)
			continue;
		check_sound(told, i, &w->truths[t], opts);
		kept.spans++;
		kept.named_before += sp->status == SPAN_COMPLETE && w->truths[t].text_rec >= 0 &&
				     w->truths[t].text_rec < cut;
		if (!opts->drop && !opts->categories && !opts->copies && is_kept(w, &w->truths[t]))
			HOLDS(sp->status == w->truths[t].status);
	}
	for (unsigned int f = 0; f < PROBE_FUNCS; f++) {
		HOLDS(told->tallies[TALLY_CALL][f] == w->kernel.funcs[f].total.calls);
		HOLDS(!told->tallies[TALLY_MISMATCH][f] && !told->tallies[TALLY_BAD][f] &&
		      !told->tallies[TALLY_LATE][f]);
		HOLDS(opts->drop || told->tallies[TALLY_ORPHAN][f] <= w->orphans[f]);
		kept.lost_starts += told->tallies[TALLY_LOST_START][f];
	}
	free(of);
}

/* For whoever looks into a failure. */
static void dump(const struct told *told, const struct world *w)
{
	for (int i = 0; i < w->n_recs; i++) {
		const struct wire *r = rec(w, i);

		fprintf(stderr,
			"%" PRIu64 " %u/%u %s kind %d %s arg0=%llu arg1=%u seq=%u gap=%u "
			"depth=%u min=%u \"%.*s\"\n",
			(uint64_t)r->time_ns, r->tgid, r->tid, w->recs[i].lost ? "lost" : "",
			r->kind, entry_name(r->func), (unsigned long long)r->arg0, r->arg1, r->seq,
			r->gap, r->depth, r->min_depth, (int)r->msg_len, w->recs[i].text);
	}
	for (size_t i = 0; i < told->n; i++) {
		const struct span *sp = &told->spans[i];

		fprintf(stderr, "%s \"%s\" %" PRIu64 "..%" PRIu64 " %u/%u->%u %s\n",
			span_kind_name(sp->kind), told->names[i], sp->start_ns - EPOCH,
			sp->has_end ? sp->end_ns - EPOCH : 0, sp->pid, sp->start_tid, sp->end_tid,
			span_status_name(sp->status));
	}
}

static void one_case(uint64_t seed, bool cut_it)
{
	int cut;
	uint64_t random = seed;
	uint64_t bits = world_random(&random);
	const struct world_opts opts = {
		.steps = 20 + (unsigned int)(bits >> 8) % 600,
		.drop = bits & 1 ? 20 + (unsigned int)(bits >> 20) % 400 : 0,
		.returns = bits >> 1 & 1,
		.lifecycle = bits >> 2 & 1,
		.categories = bits >> 3 & 1,
		.safe_processes = cut_it || bits >> 4 & 1,
		.copies = !(bits >> 5 & 3),
	};
	struct told told = {0};
	struct world world;

	assert_ok(world_make(random, &opts, &world));
	cut = cut_it && world.n_recs ? 1 + (int)(bits >> 33) % world.n_recs : 0;
	run(&world, &opts, seed, cut, &told);
	if (cut)
		compare_rest(&told, &world, &opts, cut);
	else
		compare(&told, &world, &opts);
	if (failure)
		dump(&told, &world);
	world_free(&world);
	free(told.spans);
	free(told.names);
}

static void try_case(unsigned long seed, bool cut_it)
{
	const char *why;

	one_case(seed, cut_it);
	why = failure;
	failure = NULL;
	if (why)
		fail_msg("case %lu: span at %" PRIu64 ": %s", seed, failed_at, why);
}

static void random_programs_are_told_as_they_were(void **state)
{
	(void)state;
	for (unsigned long i = 0; i < n_cases; i++)
		try_case(first_seed + i, false);
	fprintf(stderr,
		"%lu cases; with losses %" PRIu64 " spans, %" PRIu64 " complete, %" PRIu64
		" of them demanded\n",
		n_cases, proof.spans, proof.complete, proof.proven);
	assert_true(n_cases < 100 || (proof.complete && proof.proven));
}

static void and_when_the_first_records_were_dropped(void **state)
{
	(void)state;
	for (unsigned long i = 0; i < n_cases; i++)
		try_case(first_seed + i, true);
	fprintf(stderr,
		"%lu cases; %" PRIu64 " spans, %" PRIu64 " named before the cut, %" PRIu64
		" lost starts\n",
		n_cases, kept.spans, kept.named_before, kept.lost_starts);
	assert_true(n_cases < 100 || (kept.named_before && kept.lost_starts));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs_are_told_as_they_were),
		cmocka_unit_test(and_when_the_first_records_were_dropped),
	};

	if (argc > 1)
		n_cases = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		first_seed = strtoul(argv[2], NULL, 10);
	return RUN(tests);
}
