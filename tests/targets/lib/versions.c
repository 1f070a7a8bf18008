// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library with two versions of aclprofMark. The old one, which a program linked today never
 * reaches, does nothing; the other functions have one version.
 */
#define aclprofMark new_mark
#include "acl_prof.h"

#define DEFINE_WRAPPER(ret, name, params, args)                                                    \
	ret aclprof##name params                                                                   \
	{                                                                                          \
		return ProfAcl##name args;                                                         \
	}

ACL_PROF_CALLS(DEFINE_WRAPPER)
#undef aclprofMark

aclError old_mark(void *stamp);

aclError old_mark(void *stamp)
{
	return stamp ? 0 : -1;
}

__asm__(".symver old_mark, aclprofMark@ACL_1");
__asm__(".symver new_mark, aclprofMark@@ACL_2");
