// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library in front of libmsprofiler.so (LD_PRELOAD) that reaches each function there through
 * dlsym(), as wrappers that count or log do: both are called for each call.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "acl_prof.h"

#define PASS_ON(ret, name, params, args)                                                           \
	ret aclprof##name params                                                                   \
	{                                                                                          \
		static ret(*next) params;                                                          \
                                                                                                   \
		if (!next)                                                                         \
			*(void **)&next = dlsym(RTLD_NEXT, "aclprof" #name);                       \
		if (!next)                                                                         \
			abort();                                                                   \
		return next args;                                                                  \
	}

ACL_PROF_CALLS(PASS_ON)
