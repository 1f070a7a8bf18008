// SPDX-License-Identifier: GPL-2.0-only
#include "live/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static ssize_t read_all(int fd, void *p, size_t n)
{
	ssize_t got;

	do
		got = read(fd, p, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static void child(int hold, int status, const char *path, char **argv,
		  const struct launch_inherited *in, const struct privs_user *user)
{
	char go;
	int err = -privs_become(user);

	if (err && write(status, &err, sizeof(err)) == sizeof(err))
		_exit(126);
	if (err)
		_exit(125);
	if (read_all(hold, &go, 1) != 1)
		_exit(125); /* acltap is gone or gave up */
	setrlimit(RLIMIT_NOFILE, &in->files);
	sigaction(SIGCHLD, &in->child, NULL);
	sigprocmask(SIG_SETMASK, &in->mask, NULL);
	execv(path, argv);
	err = errno;
	if (write(status, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

int launch_hold(const char *path, char **argv, const struct launch_inherited *in,
		const struct privs_user *user, struct launch *l)
{
	int hold[2], status[2], err;

	if (pipe2(hold, O_CLOEXEC))
		return -errno;
	if (pipe2(status, O_CLOEXEC)) {
		err = -errno;
		close(hold[0]);
		close(hold[1]);
		return err;
	}
	l->pid = fork();
	if (!l->pid) {
		close(hold[1]);
		close(status[0]);
		child(hold[0], status[1], path, argv, in, user);
	}
	err = l->pid < 0 ? -errno : 0;
	close(hold[0]);
	close(status[1]);
	l->hold = hold[1];
	l->status = status[0];
	if (err) {
		close(l->hold);
		close(l->status);
	}
	return err;
}

int launch_release(struct launch *l)
{
	int err = 0;
	ssize_t n;

	do
		n = write(l->hold, "g", 1);
	while (n < 0 && errno == EINTR);
	close(l->hold);
	n = read_all(l->status, &err, sizeof(err));
	close(l->status);
	return n == sizeof(err) ? -err : 0;
}

void launch_cancel(struct launch *l)
{
	if (l->pid <= 0)
		return;
	close(l->hold);
	close(l->status);
	while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
		;
	l->pid = 0;
}

int launch_exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
