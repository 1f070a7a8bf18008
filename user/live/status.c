// SPDX-License-Identifier: GPL-2.0-only
#include "live/status.h"

#include <stdio.h>

#include "util/log.h"
#include "util/unit.h"

#define MS 1000000ull
#define EVERY_MS 500

static void describe_capture(const struct capwrite *capture, char *text, size_t sz)
{
	char bytes[UNIT_MAX], room[UNIT_MAX];
	uint64_t free_bytes;

	unit_fmt_bytes(bytes, capwrite_bytes(capture));
	if (capwrite_free_bytes(capture, &free_bytes))
		snprintf(text, sz, ", capture %s", bytes);
	else
		snprintf(text, sz, ", capture %s, %s free", bytes,
			 unit_fmt_bytes(room, free_bytes));
}

void status_show(struct status *st, const struct recorder_stats *r, const struct capwrite *capture,
		 uint64_t now_ns)
{
	char count[UNIT_MAX], rate[UNIT_MAX], lost[UNIT_MAX], open[UNIT_MAX], disk[128] = "";
	uint64_t events = r->marks + r->ranges, ms = (now_ns - st->shown_ns) / MS;

	if (ms < EVERY_MS)
		return;
	if (capture)
		describe_capture(capture, disk, sizeof(disk));
	log_status("%s events, %s/s, %s lost, %s open%s", unit_fmt_count(count, events),
		   unit_fmt_count(rate, (events - st->events) * 1000 / ms),
		   unit_fmt_count(lost, r->lost),
		   unit_fmt_count(open, r->open > 0 ? (uint64_t)r->open : 0), disk);
	st->shown_ns = now_ns;
	st->events = events;
}
