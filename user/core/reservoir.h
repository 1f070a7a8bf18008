/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A fair sample of numbers whose count is not known beforehand: as long as there are few all of
 * them, then each with the same chance. The choice follows from the seed and the order alone, so
 * the same trace gives the same sample. All zero is empty. Pure.
 */
#ifndef ACLTAP_CORE_RESERVOIR_H
#define ACLTAP_CORE_RESERVOIR_H

#include <stddef.h>
#include <stdint.h>

struct reservoir {
	uint64_t *v; /* n of them, in no order */
	size_t n, cap;
	uint64_t seen; /* of all that were added */
	uint64_t seed; /* the caller's before the first one; changes with each that is drawn */
};

/* Keeps at most max (>= 1), which may become less but never more. 0 or -ENOMEM (not added). */
int reservoir_add(struct reservoir *r, uint64_t x, size_t max);

/* Down to max, still a fair sample of all that were seen; gives memory back. */
void reservoir_shrink(struct reservoir *r, size_t max);

void reservoir_free(struct reservoir *r);

#endif
