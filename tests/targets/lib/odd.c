// SPDX-License-Identifier: GPL-2.0-only
/*
 * A library in which some functions cannot be told apart or traced: aclprofPop is an indirect
 * function, aclprofRangePop shares its code with aclprofPush, the rest is as it should be.
 */
#include "acl_prof.h"

void *aclprofCreateStamp(void)
{
	return ProfAclCreateStamp();
}

aclError aclprofSetStampTraceMessage(void *stamp, const char *msg, uint32_t len)
{
	return ProfAclSetStampTraceMessage(stamp, msg, len);
}

void aclprofDestroyStamp(void *stamp)
{
	ProfAclDestroyStamp(stamp);
}

aclError aclprofMark(void *stamp)
{
	return ProfAclMark(stamp);
}

aclError aclprofPush(void *stamp)
{
	return ProfAclPush(stamp);
}

/* As linkers do that fold equal code. */
__asm__(".globl aclprofRangePop\n.type aclprofRangePop, @function\n"
	".set aclprofRangePop, aclprofPush");

static aclError pop(void)
{
	return ProfAclPop();
}

static aclError (*choose_pop(void))(void)
{
	return pop;
}

aclError aclprofPop(void) __attribute__((ifunc("choose_pop")));
