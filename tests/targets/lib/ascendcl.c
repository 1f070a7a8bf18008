// SPDX-License-Identifier: GPL-2.0-only
/* Stand-in for libascendcl.so: there only to need libmsprofiler.so, as the real one does. */
#include "acl_prof.h"

aclError aclInit(const char *config);

aclError aclInit(const char *config)
{
	(void)config;
	return 0;
}
