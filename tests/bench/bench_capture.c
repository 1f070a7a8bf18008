// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a capture without tracing anything: as many spans as wanted, a third of them marks, push
 * and pop, start and stop, in the shape of the vendor's example, by some threads of one process.
 * For what has to be measured or bounded in size.
 *
 *   bench_capture PATH SPANS [NAMES]     NAMES different messages (default 20), taken in turn
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "harness/kernelsim.h"
#include "store/capture.h"
#include "wire.h"

#define THREADS 8
#define TGID 100
#define STEP_NS 350
#define BEGIN_NS 1000000000ull
#define PER_WATERMARK 8192

static const struct step {
	const char *symbol;
	bool is_return;
	bool ends_span;
} steps[] = {
	{"aclprofSetStampTraceMessage", false, false},
	{"aclprofMark", false, true},
	{"aclprofSetStampTraceMessage", false, false},
	{"aclprofPush", false, false},
	{"aclprofPop", false, true},
	{"aclprofSetStampTraceMessage", false, false},
	{"aclprofRangeStart", false, false},
	{"aclprofRangeStart", true, false},
	{"aclprofRangeStop", false, true},
};

#define N_STEPS (sizeof(steps) / sizeof(steps[0]))

struct rec {
	struct wire w;
	char msg[64];
};

struct gen {
	struct capwrite *out;
	struct kernelsim sim;
	uint64_t n_names, records, time_ns;
};

static int put(struct gen *g, struct rec *r)
{
	r->w.time_ns = g->time_ns;
	r->w.len = (__u16)(sizeof(r->w) + r->w.msg_len);
	return capwrite_record(g->out, r, r->w.len);
}

static int put_text(struct gen *g, enum wire_fact key, uint32_t tgid, const char *text)
{
	struct rec r = {.w = {.kind = WIRE_FACT, .tgid = tgid, .tid = tgid, .arg1 = key}};

	r.w.msg_len = (__u16)snprintf(r.msg, sizeof(r.msg), "%s", text);
	return put(g, &r);
}

static int put_clock(struct gen *g)
{
	struct rec r = {.w = {.kind = WIRE_CLOCK, .msg_len = sizeof(uint64_t)}};

	r.w.arg0 = g->time_ns + 1700000000000000000ull;
	memcpy(r.msg, &g->time_ns, sizeof(g->time_ns));
	return put(g, &r);
}

/* Every so often, as while tracing: without them all would be kept for the order. */
static int put_watermark(struct gen *g)
{
	struct rec r = {.w = {.kind = WIRE_WATERMARK}};

	return put(g, &r);
}

/* Thread t's step in its round, with the round's own stamp and range id. */
static int put_call(struct gen *g, unsigned int t, const struct step *step, uint64_t round)
{
	struct rec r = {.w = {.tgid = TGID, .tid = TGID + t}};
	const struct entry *e = entry_by_symbol(step->symbol);
	int err;

	r.w.kind = step->is_return ? WIRE_RETURN : WIRE_CALL;
	r.w.func = e->func;
	r.w.arg0 = 0x1000 + t;
	if (step->is_return || e->op == OP_STOP)
		r.w.arg0 = 0;
	if (step->is_return)
		r.w.arg1 = (uint32_t)(round * THREADS + t + 1);
	else if (e->op == OP_STOP)
		r.w.arg0 = (uint32_t)(round * THREADS + t + 1);
	if (e->op == OP_MESSAGE)
		r.w.arg1 = r.w.msg_len =
			(__u16)snprintf(r.msg, sizeof(r.msg), "forward layer %06" PRIu64,
					(round * THREADS + t) % g->n_names);
	g->time_ns += STEP_NS;
	r.w.time_ns = g->time_ns;
	err = sim_record(&g->sim, &r.w, false);
	if (!err)
		err = put(g, &r);
	if (!err && ++g->records % PER_WATERMARK == 0)
		err = put_watermark(g);
	return err;
}

static int put_totals(struct gen *g)
{
	int err = 0;

	for (unsigned int func = 0; func < 256 && !err; func++) {
		struct rec r = {.w = {.kind = WIRE_COUNT, .func = (__u8)func}};

		r.w.msg_len = sizeof(struct wire_count);
		memcpy(r.msg, &g->sim.funcs[func].total, sizeof(struct wire_count));
		if (entry_get(func))
			err = put(g, &r);
	}
	return err;
}

/* id: of no other capture. */
static int generate(struct gen *g, const char *id, uint64_t spans)
{
	int err = put_clock(g);

	if (!err)
		err = put_text(g, FACT_VERSION, 0, ACLTAP_VERSION);
	if (!err)
		err = put_text(g, FACT_CAPTURE_ID, 0, id);
	if (!err)
		err = put_text(g, FACT_NAME, TGID, "generated");
	for (uint64_t round = 0; spans && !err; round++)
		for (size_t i = 0; i < N_STEPS && !err; i++)
			for (unsigned int t = 0; t < THREADS && spans && !err; t++) {
				err = put_call(g, t, &steps[i], round);
				spans -= steps[i].ends_span;
			}
	if (!err)
		err = put_totals(g);
	return err ? err : put_clock(g);
}

int main(int argc, char **argv)
{
	uint64_t spans = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	struct gen g = {.n_names = 20, .time_ns = BEGIN_NS};
	int err, closed;

	if (argc > 3)
		g.n_names = strtoull(argv[3], NULL, 10);
	if (!spans || !g.n_names) {
		fputs("usage: bench_capture PATH SPANS [NAMES]\n", stderr);
		return 2;
	}
	err = capwrite_open(argv[1], true, &g.out);
	if (!err) {
		err = generate(&g, argv[1], spans);
		closed = capwrite_close(g.out);
		err = err ? err : closed;
	}
	sim_free(&g.sim);
	if (err)
		fprintf(stderr, "bench_capture: %s: %s\n", argv[1], strerror(-err));
	return err != 0;
}
