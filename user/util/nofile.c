// SPDX-License-Identifier: GPL-2.0-only
#include "util/nofile.h"

#include <stddef.h>

void nofile_raise(struct rlimit *was)
{
	struct rlimit limit = {0};

	if (was)
		*was = limit;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (was)
		*was = limit;
	if (limit.rlim_cur >= NOFILE_MAX)
		return;
	limit.rlim_cur = limit.rlim_max < NOFILE_MAX ? limit.rlim_max : NOFILE_MAX;
	setrlimit(RLIMIT_NOFILE, &limit);
}
