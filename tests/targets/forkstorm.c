// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generations of processes, each with children and threads; every thread makes a mark in a range.
 * usage: forkstorm [GENERATIONS=4] [CHILDREN=4] [THREADS=6]; ACLTAP_TRUTH=FILE
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

#define MANY 16

static void *run(void *arg)
{
	struct truth t = truth_push("storm of forks");

	truth_mark("in the storm");
	truth_pop(&t);
	return arg;
}

static void live(int generations, int children, int threads)
{
	pthread_t thread[MANY];
	pid_t pid[MANY];
	int status;

	for (int i = 0; i < threads; i++)
		must(!pthread_create(&thread[i], NULL, run, NULL), "pthread_create");
	for (int i = 0; i < threads; i++)
		must(!pthread_join(thread[i], NULL), "pthread_join");
	for (int i = 0; generations && i < children; i++) {
		pid[i] = fork();
		must(pid[i] >= 0, "fork");
		if (pid[i] == 0) {
			truth_child();
			live(generations - 1, children, threads);
			_exit(0);
		}
	}
	for (int i = 0; generations && i < children; i++)
		must(waitpid(pid[i], &status, 0) == pid[i] && !status, "a child");
}

int main(int argc, char **argv)
{
	int generations = argc > 1 ? atoi(argv[1]) : 4, children = argc > 2 ? atoi(argv[2]) : 4,
	    threads = argc > 3 ? atoi(argv[3]) : 6;

	must(children <= MANY && threads <= MANY, "16 at most");
	truth_open(NULL);
	wait_for_test();
	live(generations, children, threads);
	return 0;
}
