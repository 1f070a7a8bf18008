// SPDX-License-Identifier: GPL-2.0-only
/* thread_exec N: a thread, not the main one, makes a call and executes the program anew; N times.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "truth.h"

static int left;

static void *run(void *arg)
{
	char n[16];

	(void)arg;
	truth_mark("before exec");
	if (!left)
		exit(0);
	snprintf(n, sizeof(n), "%d", left - 1);
	execl("/proc/self/exe", "thread_exec", n, (char *)NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	left = argc > 1 ? atoi(argv[1]) : 0;
	truth_open(NULL);
	must(pthread_create(&thread, NULL, run, NULL) == 0, "pthread_create");
	pthread_join(thread, NULL);
	return 1;
}
