// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/owner.h"

#include <stdbool.h>

#include "util/privs.h"

/* Of the process, as its ids are. */
static bool decided;

int owner_decide(const struct privs_user *u)
{
	if (decided)
		return 0;
	decided = true;
	return privs_own_files(u);
}
