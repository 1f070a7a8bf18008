// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stand-in for libmsprofiler.so: only wrappers, as in the real one. Which instructions they become
 * is decided by the compiler flags of each form (targets.mk) and verified by check_forms.sh.
 */
#include "acl_prof.h"

#define DEFINE_WRAPPER(ret, name, params, args)                                                    \
	ret aclprof##name params                                                                   \
	{                                                                                          \
		return ProfAcl##name args;                                                         \
	}

ACL_PROF_CALLS(DEFINE_WRAPPER)
