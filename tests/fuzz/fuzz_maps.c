// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as /proc/PID/maps: what is returned lies inside the text and is in order. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "discover/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *pos = text, *last = text;
	unsigned int bad = 0;
	struct mapping m;

	while (maps_next(&pos, text + size, &m, &bad)) {
		if (pos <= last || pos > text + size || m.start >= m.end)
			abort();
		if (m.path < last || m.path_len > (size_t)(pos - m.path))
			abort();
		last = pos;
	}
	if (pos != text + size)
		abort();
	return 0;
}
