// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uses of the API that a tracer gets wrong easily.
 * usage: corners stamp|race [ROUNDS=200]
 * stamp: one stamp is used again without a new message; then a pop that has no push.
 * race: a thread stops a range as soon as its id is there, while the start has not returned yet.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "truth.h"

#define NO_ID UINT32_MAX

static _Atomic uint32_t id = NO_ID;
static _Atomic int stopped;
static struct truth range;
static int rounds = 200;

static void *stop_at_once(void *arg)
{
	struct truth_call end = {.tid = gettid()};
	uint32_t got;

	for (int i = 0; i < rounds; i++) {
		while ((got = id) == NO_ID)
			sched_yield();
		end.before = truth_now();
		must(aclprofRangeStop(got) == 0, "range_stop");
		end.after = truth_now();
		*(struct truth_call *)arg = end;
		stopped = 1;
		while (stopped) /* the id is read when the start returns: it must stay until then */
			sched_yield();
	}
	return NULL;
}

static void race(void)
{
	struct truth_call end;
	pthread_t thread;

	range = (struct truth){.kind = "start/end", .name = "race", .len = 4};
	range.start.tid = gettid();
	range.stamp = checked_stamp("race", 4);
	must(!pthread_create(&thread, NULL, stop_at_once, &end), "pthread_create");
	for (int i = 0; i < rounds; i++) {
		range.start.before = truth_now();
		must(aclprofRangeStart(range.stamp, (uint32_t *)&id) == 0, "range_start");
		range.start.after = truth_now();
		while (!stopped)
			sched_yield();
		truth_write(&range, &end, "complete");
		id = NO_ID;
		stopped = 0;
	}
	must(!pthread_join(thread, NULL), "pthread_join");
}

static void use_again(void)
{
	void *first = checked_stamp("a", 1), *second;

	must(!aclprofPush(first) && !aclprofPop(), "push and pop");
	aclprofDestroyStamp(first);
	second = aclprofCreateStamp();
	must(second == first, "the stamp is the same again");
	must(!aclprofPush(second) && !aclprofPop(), "push and pop");
	aclprofPop();
	aclprofDestroyStamp(second);
}

int main(int argc, char **argv)
{
	must(argc > 1, "usage");
	if (argc > 2)
		rounds = atoi(argv[2]);
	truth_open(NULL);
	wait_for_test();
	if (!strcmp(argv[1], "race"))
		race();
	else
		use_again();
	return 0;
}
