// SPDX-License-Identifier: GPL-2.0-only
/*
 * Four threads in step: each nests six ranges, marks at the bottom, and starts two overlapping
 * start/end ranges that the next thread stops, one before and one after its own pops. Each has
 * named itself before: the fourth breaks careless writers, and clears their terminal.
 * usage: threads [ROUNDS=50]; ACLTAP_TRUTH=FILE
 */
#include <pthread.h>
#include <stdlib.h>

#include "truth.h"

#define THREADS 4
#define NESTING 6

static pthread_barrier_t barrier;
static struct truth handed[THREADS][2];
static int rounds = 50;

static void one_round(unsigned int me)
{
	static const char *const level[NESTING] = {"step",   "forward", "layer",
						   "matmul", "tile",	"copy"};
	static const char *const hand[THREADS] = {"hand 0", "hand 1", "hand 2", "hand 3"};
	static const char *const over[THREADS] = {"over 0", "over 1", "over 2", "over 3"};
	struct truth nested[NESTING];
	struct truth *from = handed[(me + THREADS - 1) % THREADS];

	for (int i = 0; i < NESTING; i++) {
		nested[i] = truth_push(level[i]);
		if (i == 1) {
			handed[me][0] = truth_start(hand[me]);
		}
	}
	truth_mark("bottom");
	handed[me][1] = truth_start(over[me]);
	pthread_barrier_wait(&barrier);
	truth_stop(&from[0]);
	for (int i = NESTING - 1; i >= 0; i--)
		truth_pop(&nested[i]);
	truth_stop(&from[1]);
	pthread_barrier_wait(&barrier);
	truth_mark("between");
}

static void *run(void *arg)
{
	static const char *const name[THREADS] = {"loader", "a name of 15 by", "",
						  "\x1b[2J\xff,\"\n\t</b>"};

	must(pthread_setname_np(pthread_self(), name[(uintptr_t)arg]) == 0, "name the thread");
	for (int i = 0; i < rounds; i++)
		one_round((unsigned int)(uintptr_t)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	if (argc > 1)
		rounds = atoi(argv[1]);
	truth_open(NULL);
	wait_for_test();
	must(pthread_barrier_init(&barrier, NULL, THREADS) == 0, "barrier");
	for (uintptr_t i = 0; i < THREADS; i++)
		must(pthread_create(&thread[i], NULL, run, (void *)i) == 0, "pthread_create");
	for (int i = 0; i < THREADS; i++)
		must(pthread_join(thread[i], NULL) == 0, "pthread_join");
	return 0;
}
