/* SPDX-License-Identifier: GPL-2.0-only */
/* Clock readings in nanoseconds. */
#ifndef ACLTAP_UTIL_CLOCK_H
#define ACLTAP_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
