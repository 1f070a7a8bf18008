// SPDX-License-Identifier: GPL-2.0-only
/* Facts about real processes that are made for it. */
#include "harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "discover/proc.h"

static int ready[2]; /* a child writes when it is set up */

static void child_ready(void)
{
	if (write(ready[1], "x", 1) != 1)
		_exit(1);
}

/* Forks a child that runs fn and then sleeps; returns when it said that it is ready. */
static pid_t child(void (*fn)(void))
{
	pid_t pid;
	char c;

	assert_ok(pipe(ready));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn();
		child_ready();
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void hostile_name(void)
{
	prctl(PR_SET_NAME, ") Z 1 (x) \n\\R 9");
}

static void names_do_not_confuse(void **state)
{
	pid_t pid = child(hostile_name), ppid = 0, tgid = 0;
	uint64_t start = 0, own = 0;
	char comm[64];
	uid_t uid = 12345;

	(void)state;
	assert_int_equal(proc_comm(pid, comm, sizeof(comm)), 15);
	assert_memory_equal(comm, ") Z 1 (x) \n\\R 9", 15);
	assert_ok(proc_ppid(pid, &ppid));
	assert_int_equal(ppid, getpid());
	assert_ok(proc_start_time(pid, &start));
	assert_ok(proc_start_time(getpid(), &own));
	assert_true(own > 0 && start >= own);
	assert_false(proc_is_zombie(pid));
	assert_ok(proc_uid(pid, &uid));
	assert_int_equal(uid, geteuid());
	assert_ok(proc_tgid(pid, &tgid));
	assert_int_equal(tgid, pid);
	end(pid);
}

static void nothing(void)
{
}

static int never(void *ctx, const struct proc_file *pf)
{
	(void)ctx;
	(void)pf;
	fail();
	return 0;
}

static void gone_and_zombie(void **state)
{
	struct proc_rank rank;
	pid_t pid = child(nothing), p;
	char buf[64];
	uint64_t v;
	siginfo_t info;

	(void)state;
	kill(pid, SIGKILL);
	assert_ok(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	assert_true(proc_is_zombie(pid));
	assert_err(proc_scan_maps(pid, never, NULL), ESRCH);
	end(pid);
	assert_true(proc_is_zombie(pid));
	assert_err(proc_comm(pid, buf, sizeof(buf)), ESRCH);
	assert_err(proc_cmdline(pid, buf, sizeof(buf)), ESRCH);
	assert_err(proc_start_time(pid, &v), ESRCH);
	assert_err(proc_pidns(pid, &v), ESRCH);
	assert_err(proc_ppid(pid, &p), ESRCH);
	assert_err(proc_tgid(pid, &p), ESRCH);
	assert_err(proc_nspid(pid, &p), ESRCH);
	assert_err(proc_rank(pid, &rank), ESRCH);
	assert_err(proc_open_exe(pid), ESRCH);
	assert_err(proc_scan_maps(pid, never, NULL), ESRCH);
}

static void *wait_for_leader(void *arg)
{
	char path[64];
	FILE *f;
	char state = 0;

	/* The kernel marks the leader as a zombie a little after its last user instruction. */
	(void)arg;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	while (state != 'Z') {
		f = fopen(path, "re");
		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			_exit(1);
		fclose(f);
	}
	child_ready();
	for (;;)
		pause();
}

static void leader_ends(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, wait_for_leader, NULL))
		_exit(1);
	pthread_exit(NULL);
}

static int find_exe(void *ctx, const struct proc_file *pf)
{
	struct stat a, b;

	if (pf->fd >= 0 && !fstat(pf->fd, &a) && !stat("/proc/self/exe", &b) &&
	    a.st_ino == b.st_ino && a.st_dev == b.st_dev)
		++*(int *)ctx;
	return 0;
}

static void leader_gone_threads_live(void **state)
{
	pid_t pid = child(leader_ends);
	int n = 0;

	(void)state;
	assert_false(proc_is_zombie(pid));
	assert_false(proc_is_kernel_thread(pid));
	assert_ok(proc_scan_maps(pid, find_exe, &n));
	assert_int_equal(n, 1);
	end(pid);
}

/* ---- descendants ---- */

#define DEPTH 12

static void chain(void)
{
	for (int i = 1; i < DEPTH; i++) {
		pid_t pid = fork();

		if (pid < 0)
			_exit(1);
		if (pid) {
			for (;;)
				pause();
		}
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
}

struct seen {
	pid_t v[64];
	size_t n;
};

static int note(void *ctx, pid_t pid)
{
	struct seen *s = ctx;

	assert_true(s->n < 64);
	s->v[s->n++] = pid;
	return 0;
}

static int refuse(void *ctx, pid_t pid)
{
	(void)pid;
	++*(int *)ctx;
	return 23;
}

static void descendants_once_and_in_order(void **state)
{
	pid_t first = child(chain), other = child(nothing), parent;
	struct seen s = {.n = 0};
	int calls = 0;

	(void)state;
	assert_ok(proc_for_each_descendant(first, note, &s));
	assert_int_equal(s.n, DEPTH - 1);
	for (size_t i = 0; i < s.n; i++) {
		assert_ok(proc_ppid(s.v[i], &parent));
		assert_int_equal(parent, i ? s.v[i - 1] : first);
	}
	s.n = 0;
	assert_ok(proc_for_each_descendant(getpid(), note, &s));
	assert_int_equal(s.n, DEPTH + 1);
	s.n = 0;
	assert_ok(proc_for_each_descendant(other, note, &s));
	assert_int_equal(s.n, 0);
	assert_int_equal(proc_for_each_descendant(first, refuse, &calls), 23);
	assert_int_equal(calls, 1);
	end(first); /* and the chain behind it, by PR_SET_PDEATHSIG */
	end(other);
}

static int is_self(void *ctx, pid_t pid)
{
	*(int *)ctx += pid == getpid();
	return 0;
}

static void all_processes(void **state)
{
	int n = 0;

	(void)state;
	assert_ok(proc_for_each(is_self, &n));
	assert_int_equal(n, 1);
}

/* ---- environment, rights, namespaces ---- */

/*
 * A shell with this environment, that waits. It says when it runs: the kernel fills in arguments
 * and environment only after it has closed the close-on-exec files.
 */
static pid_t with_environment(char *const *env)
{
	char *const argv[] = {"sh", "-c", "echo; read x", NULL};
	int out[2], in[2];
	pid_t pid;
	char c;

	assert_ok(pipe2(out, O_CLOEXEC));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!pipe(in) && dup2(in[0], 0) == 0 && dup2(out[1], 1) == 1)
			execve("/bin/sh", argv, env);
		_exit(1);
	}
	close(out[1]);
	assert_int_equal(read(out[0], &c, 1), 1);
	close(out[0]);
	return pid;
}

static void ranks(void **state)
{
	static const struct {
		char *env[5];
		int err, rank, local;
	} cases[] = {
		{{"LOCAL_RANK=2", "RANK=7", "X=1"}, 0, 7, 2},
		{{"RANK=7", "LOCAL_RANK=2"}, 0, 7, 2},
		{{"SLURM_PROCID=5", "LOCAL_RANK=1"}, 0, 5, 1},
		{{"SLURM_PROCID=5", "RANK=6", "SLURM_LOCALID=1"}, 0, 6, 1},
		{{"SLURM_LOCALID=1", "LOCAL_RANK=4"}, 0, -1, 4},
		{{"OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_RANK=9"}, 0, 9, 1},
		{{"LOCAL_RANK=0"}, 0, -1, 0},
		{{"RANK=0"}, 0, 0, -1},
		{{"RANK=x", "LOCAL_RANK=3"}, 0, -1, 3},
		{{"RANK=x", "SLURM_PROCID=3"}, 0, 3, -1},
		{{"RANK=-1"}, -ENODATA, 0, 0},
		{{"RANK=99999999999"}, -ENODATA, 0, 0},
		{{"RANK", "RANKS=3", "XRANK=4", ""}, -ENODATA, 0, 0},
		{{NULL}, -ENODATA, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t pid = with_environment(cases[i].env);
		struct proc_rank rank;

		assert_int_equal(proc_rank(pid, &rank), cases[i].err);
		assert_int_equal(rank.rank, cases[i].err ? -1 : cases[i].rank);
		assert_int_equal(rank.local, cases[i].err ? -1 : cases[i].local);
		end(pid);
	}
}

static void command_line_and_program(void **state)
{
	char *const env[] = {NULL};
	pid_t pid = with_environment(env);
	char buf[4096];
	ssize_t n;
	int fd;

	(void)state;
	assert_int_equal(proc_cmdline(pid, buf, sizeof(buf)), 19);
	assert_memory_equal(buf, "sh\0-c\0echo; read x", 19);
	n = proc_exe(pid, buf, sizeof(buf));
	assert_true(n > 1 && *buf == '/');
	fd = proc_open_exe(pid);
	assert_true(fd >= 0);
	close(fd);
	end(pid);
}

static void new_namespace(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID))
		_exit(1);
	pid = fork();
	if (pid < 0)
		_exit(1);
	if (pid) { /* the child says that it is ready */
		for (;;)
			pause();
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void pid_namespaces(void **state)
{
	pid_t pid = child(new_namespace), nspid = 0;
	struct seen s = {.n = 0};
	uint64_t own, its;

	(void)state;
	assert_ok(proc_for_each_descendant(pid, note, &s));
	assert_int_equal(s.n, 1);
	assert_ok(proc_nspid(s.v[0], &nspid));
	assert_int_equal(nspid, 1);
	assert_ok(proc_pidns(getpid(), &own));
	assert_ok(proc_pidns(s.v[0], &its));
	assert_true(own != its);
	assert_ok(proc_nspid(pid, &nspid));
	assert_true(nspid > 1);
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_do_not_confuse),
		cmocka_unit_test(gone_and_zombie),
		cmocka_unit_test(leader_gone_threads_live),
		cmocka_unit_test(descendants_once_and_in_order),
		cmocka_unit_test(all_processes),
		cmocka_unit_test(ranks),
		cmocka_unit_test(command_line_and_program),
		cmocka_unit_test(pid_namespaces),
	};

	return RUN(tests);
}
