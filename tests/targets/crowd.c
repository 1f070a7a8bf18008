// SPDX-License-Identifier: GPL-2.0-only
/*
 * More threads at the same time than acltap has room for. Each makes its calls when it is its turn
 * (the library has 100 stamps) and stays; one push of each stays open. Then the first half ends,
 * and the others call again and pop what they had pushed. In the end it prints the calls made, one
 * function a line, as storm does.
 * usage: crowd [THREADS=5000]; ACLTAP_TRUTH=FILE
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "truth.h"

#define STACK (64 << 10)

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_called, half_gone;
static unsigned long stamps, marks, pushes, pops, ranges;
static long threads = 5000;

struct member {
	pthread_t thread;
	long number;
	char name[32], again[32];
};

static void calls(const char *name)
{
	struct truth t;

	truth_mark(name);
	t = truth_push(name);
	truth_pop(&t);
	t = truth_start(name);
	truth_stop(&t);
	stamps += 3;
	marks++;
	pushes++;
	pops++;
	ranges++;
}

/* Its stamp is given back at once: it is the push that stays. */
static struct truth push_held(void)
{
	struct truth t = truth_push("held");

	aclprofDestroyStamp(t.stamp);
	t.stamp = NULL;
	stamps++;
	pushes++;
	return t;
}

static void *run(void *arg)
{
	struct member *m = arg;
	struct truth held;

	snprintf(m->name, sizeof(m->name), "thread %ld", m->number);
	snprintf(m->again, sizeof(m->again), "again %ld", m->number);
	pthread_mutex_lock(&turn);
	calls(m->name);
	held = push_held();
	pthread_mutex_unlock(&turn);
	pthread_barrier_wait(&all_called);
	if (m->number < threads / 2) {
		truth_write(&held, NULL, "unfinished");
		return NULL;
	}
	pthread_barrier_wait(&half_gone);
	pthread_mutex_lock(&turn);
	calls(m->again);
	truth_pop(&held);
	pops++;
	pthread_mutex_unlock(&turn);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	struct member *m;

	if (argc > 1)
		threads = atol(argv[1]);
	m = calloc((size_t)threads, sizeof(*m));
	must(m && threads > 1, "2 threads at least");
	truth_open(NULL);
	wait_for_test();
	must(!pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, STACK), "stack size");
	must(!pthread_barrier_init(&all_called, NULL, (unsigned int)threads + 1), "barrier");
	must(!pthread_barrier_init(&half_gone, NULL, (unsigned int)(threads - threads / 2) + 1),
	     "barrier");
	for (long i = 0; i < threads; i++) {
		m[i].number = i;
		must(!pthread_create(&m[i].thread, &attr, run, &m[i]), "pthread_create");
	}
	pthread_barrier_wait(&all_called);
	for (long i = 0; i < threads / 2; i++)
		must(!pthread_join(m[i].thread, NULL), "pthread_join");
	pthread_barrier_wait(&half_gone);
	for (long i = threads / 2; i < threads; i++)
		must(!pthread_join(m[i].thread, NULL), "pthread_join");
	printf("aclprofSetStampTraceMessage %lu\naclprofMark %lu\naclprofPush %lu\naclprofPop %lu\n"
	       "aclprofRangeStart %lu\naclprofRangeStop %lu\n",
	       stamps, marks, pushes, pops, ranges, ranges);
	free(m);
	return fflush(stdout) ? 1 : 0;
}
