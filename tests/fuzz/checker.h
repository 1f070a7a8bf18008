/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A consumer that believes nothing: aborts when the pipeline tells it what model.h rules out,
 * whatever the records were.
 */
#ifndef ACLTAP_FUZZ_CHECKER_H
#define ACLTAP_FUZZ_CHECKER_H

#include "core/pipeline.h"

struct checker {
	unsigned int begins, ends;
	uint64_t last_sum; /* of all bytes told, so that each is read */
};

/* c is all zero before; must outlive the consumer. */
struct consumer checker_consumer(struct checker *c);

/* After pipeline_finish() returned 0: was all of it told in order? */
void checker_finished(const struct checker *c);

#endif
