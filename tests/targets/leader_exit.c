// SPDX-License-Identifier: GPL-2.0-only
/* The main thread ends; only then another thread makes ten calls and exits with status 3. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "truth.h"

#define CALLS 10

/* A leader that has ended stays as a zombie until its last thread is gone. */
static int leader_is_zombie(void)
{
	char path[64], buf[512];
	const char *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd >= 0, "open the leader's stat");
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	must(n > 0, "read the leader's stat");
	buf[n] = '\0';
	state = strrchr(buf, ')');
	return state && state[2] == 'Z';
}

static void *run(void *arg)
{
	(void)arg;
	while (!leader_is_zombie())
		usleep(1000);
	wait_for_test();
	for (int i = 0; i < CALLS; i++) {
		struct truth t = truth_push("without leader");

		truth_mark("lonely");
		truth_pop(&t);
	}
	exit(3);
}

int main(void)
{
	pthread_t thread;

	truth_open(NULL);
	must(pthread_create(&thread, NULL, run, NULL) == 0, "pthread_create");
	pthread_exit(NULL);
}
