/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The annotation API as the stand-in library exports it, for the targets. Signatures are those of
 * the vendor's public API reference. 0 is success; -1 and ACL_ERROR_BAD_STAMP are failures.
 */
#ifndef ACLTAP_TARGETS_ACL_PROF_H
#define ACLTAP_TARGETS_ACL_PROF_H

#include <stddef.h>
#include <stdint.h>

#define ACL_ERROR_BAD_STAMP 100000

typedef int aclError;
typedef void *aclrtStream;
typedef struct aclprofEventAttributes aclprofEventAttributes;

/* FUNC(returns, name without its prefix, parameters, arguments): one line per exported call. */
#define ACL_PROF_CALLS(FUNC)                                                                       \
	FUNC(void *, CreateStamp, (void), ())                                                      \
	FUNC(aclError, SetStampTraceMessage, (void *stamp, const char *msg, uint32_t len),         \
	     (stamp, msg, len))                                                                    \
	FUNC(aclError, Mark, (void *stamp), (stamp))                                               \
	FUNC(aclError, Push, (void *stamp), (stamp))                                               \
	FUNC(aclError, Pop, (void), ())                                                            \
	FUNC(aclError, RangeStart, (void *stamp, uint32_t *id), (stamp, id))                       \
	FUNC(aclError, RangeStop, (uint32_t id), (id))                                             \
	FUNC(void, DestroyStamp, (void *stamp), (stamp))                                           \
	FUNC(aclError, MarkEx, (const char *msg, size_t len, aclrtStream stream),                  \
	     (msg, len, stream))                                                                   \
	FUNC(aclError, SetStampCategory, (void *stamp, uint32_t category), (stamp, category))      \
	FUNC(aclError, SetCategoryName, (uint32_t category, const char *name), (category, name))   \
	FUNC(aclError, SetStampPayload, (void *stamp, int32_t type, void *value),                  \
	     (stamp, type, value))                                                                 \
	FUNC(aclError, RangePushEx, (aclprofEventAttributes * attr), (attr))                       \
	FUNC(aclError, RangePop, (void), ())

#define DECLARE_CALL(ret, name, params, args)                                                      \
	ret aclprof##name params;                                                                  \
	ret ProfAcl##name params;
ACL_PROF_CALLS(DECLARE_CALL)
#undef DECLARE_CALL

#endif
