/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace as it happens, one line for each finished range or mark, in order of their end:
 *
 *   12:34:56.789012 4242/4250        forward <6.755 us>
 *   12:34:56.789020 4242           * a mark
 *   12:34:56.790100 4242/4250 -- 17 calls of aclprofPush lost
 *
 * Time of the end (where that is not known, of the begin), process and thread, indentation by
 * depth. A consumer; pure but for out and the time zone. Names cannot do anything to a terminal.
 */
#ifndef ACLTAP_VIEW_LINES_H
#define ACLTAP_VIEW_LINES_H

#include <stdbool.h>

#include "core/pipeline.h"
#include "sink/out.h"

struct lines {
	struct out *out;
	bool color;
};

struct consumer lines_consumer(struct lines *l);

#endif
