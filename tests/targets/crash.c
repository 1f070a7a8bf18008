// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends abruptly right after its last call, with a push and a start/end range open.
 * usage: crash segv|abort|kill|exit [STATUS]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "truth.h"

#define MARKS 10

static void die(const char *how, int status)
{
	volatile uintptr_t nowhere = 8;

	if (strcmp(how, "segv") == 0)
		*(volatile int *)nowhere = 0;
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	_exit(status);
}

int main(int argc, char **argv)
{
	const struct rlimit no_core = {0, 0};
	struct truth push, range, last;

	if (argc < 2) {
		fprintf(stderr, "usage: crash segv|abort|kill|exit [STATUS]\n");
		return 2;
	}
	setrlimit(RLIMIT_CORE, &no_core);
	truth_open(NULL);
	wait_for_test();
	push = truth_push("open push");
	range = truth_start("open range");
	for (int i = 0; i < MARKS; i++)
		truth_mark("before the end");
	truth_write(&push, NULL, "unfinished");
	truth_write(&range, NULL, "unfinished");
	last = truth_push("last");
	truth_pop(&last);
	die(argv[1], argc > 2 ? atoi(argv[2]) : 0);
}
