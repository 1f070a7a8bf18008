// SPDX-License-Identifier: GPL-2.0-only
/* Calls of the API that log what they did; see truth.h. */
#include "truth.h"

#include <string.h>
#include <unistd.h>

static __thread unsigned int depth;

void truth_child(void)
{
	depth = 0;
}

void *checked_stamp(const char *name, size_t len)
{
	void *stamp = aclprofCreateStamp();

	must(stamp, "create stamp");
	must(aclprofSetStampTraceMessage(stamp, name, (uint32_t)len) == 0, "set message");
	return stamp;
}

static struct truth begin(const char *kind, const char *name)
{
	struct truth t = {.kind = kind, .name = name, .len = strlen(name), .depth = depth};

	t.stamp = checked_stamp(name, t.len);
	t.start.tid = gettid();
	return t;
}

void truth_mark(const char *name)
{
	struct truth t = begin("marker", name);
	int ret;

	t.start.before = truth_now();
	ret = aclprofMark(t.stamp);
	t.start.after = truth_now();
	must(ret == 0, "mark");
	aclprofDestroyStamp(t.stamp);
	truth_write(&t, &t.start, "complete");
}

struct truth truth_push(const char *name)
{
	struct truth t = begin("push/pop", name);
	int ret;

	t.start.before = truth_now();
	ret = aclprofPush(t.stamp);
	t.start.after = truth_now();
	must(ret == 0, "push");
	depth++;
	return t;
}

void truth_pop(struct truth *t)
{
	struct truth_call end = {.tid = gettid(), .before = truth_now()};
	int ret = aclprofPop();

	end.after = truth_now();
	must(ret == 0, "pop");
	depth--;
	aclprofDestroyStamp(t->stamp);
	truth_write(t, &end, "complete");
}

struct truth truth_start(const char *name)
{
	struct truth t = begin("start/end", name);
	int ret;

	t.start.before = truth_now();
	ret = aclprofRangeStart(t.stamp, &t.id);
	t.start.after = truth_now();
	must(ret == 0, "range_start");
	return t;
}

void truth_stop(struct truth *t)
{
	struct truth_call end = {.tid = gettid(), .before = truth_now()};
	int ret = aclprofRangeStop(t->id);

	end.after = truth_now();
	must(ret == 0, "range_stop");
	aclprofDestroyStamp(t->stamp);
	truth_write(t, &end, "complete");
}
