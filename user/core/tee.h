/* SPDX-License-Identifier: GPL-2.0-only */
/* Two consumers behind one: both are told everything, the first error counts. Pure. */
#ifndef ACLTAP_CORE_TEE_H
#define ACLTAP_CORE_TEE_H

#include "core/pipeline.h"

struct tee {
	struct consumer a, b;
};

/* a and b may be NULL. t must outlive the consumer. */
struct consumer tee_consumer(struct tee *t, const struct consumer *a, const struct consumer *b);

#endif
