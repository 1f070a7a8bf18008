/* SPDX-License-Identifier: GPL-2.0-only */
/* A histogram over powers of two as bars of text, one bin a line. Pure but for out. */
#ifndef ACLTAP_VIEW_HIST_H
#define ACLTAP_VIEW_HIST_H

#include <stdint.h>

#include "sink/out.h"

/*
 * bins[i] durations of [2^i, 2^(i+1)) ns (bins[0] from 0): those from the first to the last that
 * has some. Returns the first error of o.
 */
int hist_write(const uint64_t bins[64], struct out *o);

#endif
