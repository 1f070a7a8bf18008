// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiling is off (run it with ACLTAP_FAKE_PROF=off), so create returns NULL, and the program goes
 * on with it: two threads in step give the NULL stamp different messages, and each event must have
 * the text of its own thread.
 * usage: nullstamp [ROUNDS=20]
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "truth.h"

#define THREADS 2

static pthread_barrier_t barrier;
static int rounds = 20;

static struct truth next(const char *kind, const char *name)
{
	return (struct truth){
		.kind = kind, .name = name, .len = strlen(name), .start.tid = gettid()};
}

static void one_round(const char *name)
{
	struct truth m = next("marker", name), p = next("push/pop", name);
	struct truth_call end = {.tid = gettid()};
	uint32_t id = 4242;

	must(!aclprofCreateStamp(), "create returns NULL: run with ACLTAP_FAKE_PROF=off");
	must(aclprofSetStampTraceMessage(NULL, name, (uint32_t)strlen(name)) == -1, "set message");
	pthread_barrier_wait(&barrier);
	m.start.before = truth_now();
	must(aclprofMark(NULL) == -1, "mark fails");
	m.start.after = truth_now();
	truth_write(&m, &m.start, "complete");
	p.start.before = truth_now();
	must(aclprofPush(NULL) == ACL_ERROR_BAD_STAMP, "push fails");
	p.start.after = truth_now();
	pthread_barrier_wait(&barrier);
	end.before = truth_now();
	must(aclprofPop() == -1, "pop fails");
	end.after = truth_now();
	truth_write(&p, &end, "complete");
	must(aclprofRangeStart(NULL, &id) == ACL_ERROR_BAD_STAMP && id == 4242, "start fails");
	aclprofDestroyStamp(NULL);
}

static void *run(void *name)
{
	for (int i = 0; i < rounds; i++)
		one_round(name);
	return NULL;
}

int main(int argc, char **argv)
{
	static char *const names[THREADS] = {"left", "right"};
	pthread_t thread[THREADS];

	if (argc > 1)
		rounds = atoi(argv[1]);
	truth_open(NULL);
	wait_for_test();
	must(pthread_barrier_init(&barrier, NULL, THREADS) == 0, "barrier");
	for (int i = 0; i < THREADS; i++)
		must(pthread_create(&thread[i], NULL, run, names[i]) == 0, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		must(pthread_join(thread[i], NULL) == 0, "pthread_join");
	truth_expect("failed aclprofRangeStart", (unsigned long)(THREADS * rounds));
	return 0;
}
