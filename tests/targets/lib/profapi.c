// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stand-in for libprofapi.so: what the wrappers jump to, with the behaviour of the real library as
 * far as a program can see it. ACLTAP_FAKE_PROF=off in the environment at load time means that
 * profiling is off: create returns NULL.
 *
 * The work is done in functions that take the lock and leave it held; the exported ones call them,
 * release it and return the result, which makes them begin with `push %rbx` as the real ones do.
 */
#include "acl_prof.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define POOL_SIZE 100
#define MESSAGE_SIZE 128 /* 126 bytes are accepted */
#define MARK_EX_MAX 155
#define CATEGORY_NAME_MAX 31
#define CATEGORIES 64
#define STACK_SIZE 65536

#define LOCKED __attribute__((noinline)) /* returns with pool.lock held */

struct stamp {
	char message[MESSAGE_SIZE];
	uint32_t category;
	int32_t payload_type;
	uint64_t payload;
	bool used;
	bool started; /* set by the first range_start and never cleared */
	char pad[256 - MESSAGE_SIZE - 24];
};
_Static_assert(sizeof(struct stamp) == 256, "stamps are 256 bytes apart");

/* One for the process, as in the real library: with two threads its own pairs are wrong. */
static struct {
	pthread_mutex_t lock;
	bool off;
	uint8_t free[POOL_SIZE]; /* last in, first out */
	unsigned int n_free;
	struct stamp *stack[STACK_SIZE];
	unsigned int depth;
	char category[CATEGORIES][CATEGORY_NAME_MAX + 1];
	struct stamp stamps[POOL_SIZE];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock(void)
{
	pthread_mutex_lock(&pool.lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&pool.lock);
}

__attribute__((constructor)) static void init(void)
{
	const char *prof = getenv("ACLTAP_FAKE_PROF");

	pool.off = prof && strcmp(prof, "off") == 0;
	for (int i = 0; i < POOL_SIZE; i++)
		pool.free[i] = (uint8_t)(POOL_SIZE - 1 - i);
	pool.n_free = POOL_SIZE;
	pthread_atfork(lock, unlock, unlock);
}

/* NULL and pointers that never came from create are the same: not a stamp. */
static struct stamp *to_stamp(void *p)
{
	uintptr_t offset = (uintptr_t)p - (uintptr_t)pool.stamps;

	if (offset >= sizeof(pool.stamps) || offset % sizeof(struct stamp))
		return NULL;
	return p;
}

static LOCKED void *create(void)
{
	struct stamp *s;

	lock();
	if (pool.off || pool.n_free == 0)
		return NULL;
	s = &pool.stamps[pool.free[--pool.n_free]];
	s->used = true;
	return s;
}

static LOCKED void destroy(void *p)
{
	struct stamp *s = to_stamp(p);

	lock();
	if (!s || !s->used)
		return;
	s->used = false;
	pool.free[pool.n_free++] = (uint8_t)(s - pool.stamps);
}

static LOCKED aclError set_message(void *p, const char *msg, uint32_t len)
{
	struct stamp *s = to_stamp(p);

	lock();
	if (!s || !msg || len >= MESSAGE_SIZE)
		return -1;
	memset(s->message, 0, sizeof(s->message));
	if (len == MESSAGE_SIZE - 1)
		return -1;
	memcpy(s->message, msg, strnlen(msg, len));
	return 0;
}

static LOCKED aclError mark(void *p)
{
	lock();
	return to_stamp(p) ? 0 : -1;
}

static LOCKED aclError push(void *p)
{
	struct stamp *s = to_stamp(p);

	lock();
	if (!s)
		return ACL_ERROR_BAD_STAMP;
	if (pool.depth == STACK_SIZE)
		return -1;
	pool.stack[pool.depth++] = s;
	return 0;
}

static LOCKED aclError pop(void)
{
	lock();
	if (pool.depth == 0)
		return -1;
	pool.depth--;
	return 0;
}

static LOCKED aclError range_start(void *p, uint32_t *id)
{
	struct stamp *s = to_stamp(p);

	lock();
	if (!s || !id)
		return ACL_ERROR_BAD_STAMP;
	s->started = true;
	*id = (uint32_t)(s - pool.stamps);
	return 0;
}

static LOCKED aclError range_stop(uint32_t id)
{
	lock();
	return id < POOL_SIZE && pool.stamps[id].started ? 0 : -1;
}

static LOCKED aclError mark_ex(const char *msg, size_t len, aclrtStream stream)
{
	lock();
	if (!msg || !stream || len > MARK_EX_MAX)
		return -1;
	return strnlen(msg, len + 1) == len ? 0 : -1;
}

static LOCKED aclError set_category(void *p, uint32_t category)
{
	struct stamp *s = to_stamp(p);

	lock();
	if (!s)
		return -1;
	s->category = category;
	return 0;
}

static LOCKED aclError set_category_name(uint32_t category, const char *name)
{
	lock();
	if (!name || strnlen(name, CATEGORY_NAME_MAX + 1) > CATEGORY_NAME_MAX)
		return -1;
	if (category < CATEGORIES)
		strcpy(pool.category[category], name);
	return 0;
}

static LOCKED aclError set_payload(void *p, int32_t type, void *value)
{
	struct stamp *s = to_stamp(p);

	lock();
	if (!s || !value)
		return -1;
	s->payload_type = type;
	memcpy(&s->payload, value, type < 3 ? 8 : 4); /* the type decides the width */
	return 0;
}

static LOCKED aclError range_push_ex(aclprofEventAttributes *attr)
{
	lock();
	return attr ? 0 : -1;
}

static LOCKED aclError range_pop(void)
{
	lock();
	return 0;
}

/* The exported functions: ret must survive unlock(), hence the push. */
#define EXPORT(type, name, params, call)                                                           \
	type ProfAcl##name params                                                                  \
	{                                                                                          \
		type ret = call;                                                                   \
                                                                                                   \
		unlock();                                                                          \
		return ret;                                                                        \
	}

EXPORT(void *, CreateStamp, (void), create())
EXPORT(aclError, SetStampTraceMessage, (void *stamp, const char *msg, uint32_t len),
       set_message(stamp, msg, len))
EXPORT(aclError, Mark, (void *stamp), mark(stamp))
EXPORT(aclError, Push, (void *stamp), push(stamp))
EXPORT(aclError, Pop, (void), pop())
EXPORT(aclError, RangeStart, (void *stamp, uint32_t *id), range_start(stamp, id))
EXPORT(aclError, RangeStop, (uint32_t id), range_stop(id))
EXPORT(aclError, MarkEx, (const char *msg, size_t len, aclrtStream stream),
       mark_ex(msg, len, stream))
EXPORT(aclError, SetStampCategory, (void *stamp, uint32_t category), set_category(stamp, category))
EXPORT(aclError, SetCategoryName, (uint32_t category, const char *name),
       set_category_name(category, name))
EXPORT(aclError, SetStampPayload, (void *stamp, int32_t type, void *value),
       set_payload(stamp, type, value))
EXPORT(aclError, RangePushEx, (aclprofEventAttributes * attr), range_push_ex(attr))
EXPORT(aclError, RangePop, (void), range_pop())

void ProfAclDestroyStamp(void *stamp)
{
	destroy(stamp);
	unlock();
}
