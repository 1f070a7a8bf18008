// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that share the memory of their parent: clone() with CLONE_VM, and vfork. Their calls
 * are those of processes of their own. A thread ends with a range open; the next thread gets its
 * number when the kernel can be asked for it (as root), and begins with an empty stack all the
 * same.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

#define STACK (256 << 10)

static int shared(void *arg)
{
	struct truth t = truth_push("shares memory");

	(void)arg;
	truth_mark("in shared memory");
	truth_pop(&t);
	return 0;
}

static void clone_vm(void)
{
	char *stack = malloc(STACK);
	int status = -1;
	pid_t pid;

	must(stack, "memory");
	pid = clone(shared, stack + STACK, CLONE_VM | SIGCHLD, NULL);
	must(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "clone");
	free(stack);
}

static void vfork_child(void)
{
	int status = -1;
	pid_t pid = vfork();

	if (pid == 0) {
		truth_mark("before exec");
		_exit(0);
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "vfork");
}

static void *leaves_open(void *arg)
{
	struct truth t = truth_push("left open");

	t.stamp = NULL;
	truth_write(&t, NULL, "unfinished");
	*(pid_t *)arg = gettid();
	return NULL;
}

static void *begins_anew(void *arg)
{
	struct truth t = truth_push("new thread");

	truth_mark("of a new thread");
	truth_pop(&t);
	*(pid_t *)arg = gettid();
	return NULL;
}

/* The next number that the kernel gives, if it can be told. */
static void next_number(pid_t tid)
{
	FILE *f = fopen("/proc/sys/kernel/ns_last_pid", "we");

	if (!f)
		return;
	fprintf(f, "%d", tid - 1);
	fclose(f);
}

static void run(void *(*what)(void *), pid_t *tid)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, what, tid), "pthread_create");
	must(!pthread_join(thread, NULL), "pthread_join");
}

int main(void)
{
	pid_t old, new;

	truth_open(NULL);
	wait_for_test();
	clone_vm();
	vfork_child();
	for (int i = 0; i < 20; i++) {
		run(leaves_open, &old);
		next_number(old);
		run(begins_anew, &new);
		if (new == old)
			break;
	}
	printf("%s\n", new == old ? "same number" : "other number");
	return fflush(stdout) ? 1 : 0;
}
