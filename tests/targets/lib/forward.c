// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library in front of libmsprofiler.so: each function only jumps to the function of the same
 * name there, which is possible between two versions of a name.
 */
#include "acl_prof.h"

#define FORWARD(ret, name, params, args)                                                           \
	__asm__(".symver old_" #name ", aclprof" #name "@ACL_1");                                  \
	ret old_##name params;                                                                     \
	ret aclprof##name params                                                                   \
	{                                                                                          \
		return old_##name args;                                                            \
	}

ACL_PROF_CALLS(FORWARD)
