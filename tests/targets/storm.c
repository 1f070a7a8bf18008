// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that call as fast as they can. At the end it prints the calls made, one function a line:
 * "aclprofPush 4000".
 * usage: storm [THREADS=4] [ITERATIONS=100000] [once]
 * once: the name is set only once, and a start/end range spans it all.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "truth.h"

#define MAX_THREADS 64

static int iterations = 100000;
static int once;

static void *run(void *arg)
{
	static const char name[] = "storm";
	void *stamp = checked_stamp(name, strlen(name));

	uint32_t id = 0;

	(void)arg;
	if (once)
		must(aclprofRangeStart(stamp, &id) == 0, "range start");
	for (int i = 0; i < iterations; i++) {
		if (!once)
			aclprofSetStampTraceMessage(stamp, name, sizeof(name) - 1);
		aclprofPush(stamp);
		aclprofPop();
	}
	if (once)
		must(aclprofRangeStop(id) == 0, "range stop");
	aclprofDestroyStamp(stamp);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[MAX_THREADS];
	long n = argc > 1 ? atol(argv[1]) : 4;

	if (argc > 2)
		iterations = atoi(argv[2]);
	once = argc > 3;
	must(n > 0 && n <= MAX_THREADS, "1 to 64 threads");
	wait_for_test();
	for (long i = 0; i < n; i++)
		must(pthread_create(&thread[i], NULL, run, NULL) == 0, "pthread_create");
	for (long i = 0; i < n; i++)
		must(pthread_join(thread[i], NULL) == 0, "pthread_join");
	printf("aclprofCreateStamp %ld\naclprofSetStampTraceMessage %ld\naclprofPush %ld\n"
	       "aclprofPop %ld\naclprofDestroyStamp %ld\n",
	       n, once ? n : n * (iterations + 1), n * iterations, n * iterations, n);
	return fflush(stdout) ? 1 : 0;
}
