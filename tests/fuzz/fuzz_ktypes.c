// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as the types of a kernel: what is cut out of them by their own names is sound. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "discover/ktypes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *types = malloc(size); /* aligned, and ASan sees its end */
	_str_ struct str once = {0}, twice = {0};

	if (!types)
		return 0;
	memcpy(types, data, size);
	if (!ktypes_cut(types, size, types, size, &once) &&
	    ktypes_cut(once.s, once.len, once.s, once.len, &twice))
		abort();
	free(types);
	return 0;
}
