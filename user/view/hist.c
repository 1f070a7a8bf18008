// SPDX-License-Identifier: GPL-2.0-only
#include "view/hist.h"

#include <stdio.h>

#include "util/unit.h"

#define BAR 40

static void write_bin(unsigned int i, uint64_t n, uint64_t most, struct out *o)
{
	static const char bar[] = "########################################";
	char from[UNIT_MAX], to[UNIT_MAX], count[UNIT_MAX], line[256];
	/* What is there at all is seen. */
	int length = (int)((double)n / (double)most * BAR + 0.5);

	if (n && !length)
		length = 1;
	snprintf(line, sizeof(line), "  %12s .. %-12s |%-*.*s| %s\n",
		 unit_fmt_duration(from, i ? 1ull << i : 0),
		 unit_fmt_duration(to, i < 63 ? 2ull << i : UINT64_MAX), BAR, length, bar,
		 unit_fmt_count(count, n));
	out_str(o, line);
}

int hist_write(const uint64_t bins[64], struct out *o)
{
	unsigned int first = 64, last = 0;
	uint64_t most = 0;

	for (unsigned int i = 0; i < 64; i++) {
		if (!bins[i])
			continue;
		if (first == 64)
			first = i;
		last = i;
		if (bins[i] > most)
			most = bins[i];
	}
	for (unsigned int i = first; i <= last; i++)
		write_bin(i, bins[i], most, o);
	return out_error(o);
}
