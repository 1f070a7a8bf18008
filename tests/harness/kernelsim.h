/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bookkeeping of the kernel side: sequence numbers, gaps, push depths, counters. Fills in
 * what a record carries as proof, whether or not it then gets through.
 */
#ifndef ACLTAP_KERNELSIM_H
#define ACLTAP_KERNELSIM_H

#include <stdbool.h>

#include "util/map.h"
#include "wire.h"

struct sim_count {
	struct wire_count total;
	__u64 told_lost, told_returns; /* already in a WIRE_LOSS */
	__u64 from_ns, to_ns;	       /* window of what is not told yet */
};

struct kernelsim {
	struct map threads; /* tgid, tid -> struct sim_thread */
	struct map procs;   /* tgid -> gap + 1 */
	struct sim_count funcs[256];
};

/*
 * A record of the kernel side happens: fills seq, gap, depth, min_depth and does its effect.
 * lost: it finds no room. Returns 0 or -ENOMEM.
 */
int sim_record(struct kernelsim *k, struct wire *w, bool lost);
/* The next WIRE_LOSS that is due at now_ns for func; false when there is none. */
bool sim_loss(struct kernelsim *k, __u8 func, __u64 now_ns, struct wire *w);
void sim_free(struct kernelsim *k);

#endif
