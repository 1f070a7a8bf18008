// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tree of processes: fork with a range open, children of children, exec of itself, vfork with a
 * call in between. A child inherits the messages of stamps, but no open ranges.
 * usage: fork_exec [CHILDREN=3]; ACLTAP_TRUTH=FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

static void work(const char *name)
{
	struct truth outer = truth_push(name);
	struct truth range = truth_start("range of a process");

	truth_mark("mark of a process");
	truth_stop(&range);
	truth_pop(&outer);
}

static void reap(pid_t pid)
{
	int status = -1;

	must(pid > 0, "fork");
	must(waitpid(pid, &status, 0) == pid, "waitpid");
	must(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status of a child");
}

static void exec_self(char **argv, const char *mode)
{
	char *args[] = {argv[0], (char *)mode, NULL};

	execv("/proc/self/exe", args);
	_exit(127);
}

/* A mark on a stamp whose message the parent set before the fork. */
static void mark_inherited(void *stamp)
{
	struct truth t = {.kind = "marker", .name = "inherited", .len = 9, .start.tid = gettid()};

	t.start.before = truth_now();
	must(aclprofMark(stamp) == 0, "mark");
	t.start.after = truth_now();
	truth_write(&t, &t.start, "complete");
}

static void child(int number, void *stamp)
{
	pid_t pid;

	truth_child();
	mark_inherited(stamp);
	work("child");
	if (number % 2 == 0) {
		pid = fork();
		if (pid == 0) {
			truth_child();
			work("grandchild");
			_exit(0);
		}
		reap(pid);
	}
	_exit(0);
}

static void vfork_exec(char **argv)
{
	pid_t pid = vfork();

	if (pid == 0) {
		truth_mark("vfork child");
		exec_self(argv, "leaf");
	}
	reap(pid);
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 3;
	struct truth outer;
	void *stamp;
	pid_t pid;

	truth_open(NULL);
	if (argc > 1 && strcmp(argv[1], "leaf") == 0) {
		work("after exec");
		return 0;
	}
	wait_for_test();
	stamp = checked_stamp("inherited", strlen("inherited"));
	outer = truth_push("parent");
	for (int i = 0; i < children; i++) {
		pid = fork();
		if (pid == 0)
			child(i, stamp);
		reap(pid);
	}
	truth_pop(&outer);
	vfork_exec(argv);
	pid = fork();
	if (pid == 0)
		exec_self(argv, "leaf");
	reap(pid);
	work("parent again");
	return 0;
}
