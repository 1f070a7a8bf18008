// SPDX-License-Identifier: GPL-2.0-only
#include "live/guardian.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "discover/proc.h"
#include "live/stops.h"
#include "util/clock.h"
#include "util/privs.h"
#include "util/rights.h"

/* Probes of a dead acltap go on firing until the kernel has removed them. */
#define WATCH_ROUNDS 400
#define LAST_ROUNDS 3
#define ROUND_NS 5000000
#define DISMISS_ROUNDS 600 /* of that length: it ends by itself */
#define IDLE_LOOK_MS 1000
#define LOOK_MS 50
#define FORGOTTEN_LOOKS 30
#define STOPPED_MAX 256

static void continue_sent(void *ctx, pid_t pid)
{
	if (stops_held(ctx, pid) == STOP_SENT)
		kill(pid, SIGCONT);
}

static void continue_any(void *ctx, pid_t pid)
{
	(void)ctx;
	kill(pid, SIGCONT);
}

void guardian_continue_all(const struct bpf *b, bool every)
{
	/* Those that wait inside a probe (STOP_WAIT) go on by themselves: may_stop is 0. */
	bpf_each_pid(b->stops_fd, every ? continue_any : continue_sent, (void *)b);
}

/* Nothing of acltap's may stay open here: not its links, nor its pipes to others. */
static void close_all_but(const int *keep, size_t n)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		int fd = atoi(e->d_name);
		bool kept = fd <= 2 || fd == dirfd(d);

		for (size_t i = 0; i < n; i++)
			kept |= fd == keep[i];
		if (!kept)
			close(fd);
	}
	if (d)
		closedir(d);
}

/* Parents that stopped themselves over their child: see watch_parents() in procs.c. */
static void continue_parent(void *ctx, pid_t pid)
{
	(void)ctx;
	if (proc_is_stopped(pid))
		kill(pid, SIGCONT);
}

/* Processes that are stopped, and at how many looks in a row they were. */
struct stopped {
	pid_t pid[STOPPED_MAX];
	uint32_t looks[STOPPED_MAX];
	size_t n;
};

static uint32_t looks_so_far(const struct stopped *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->pid[i] == pid)
			return s->looks[i];
	return 0;
}

struct look {
	const struct bpf *b;
	const struct stopped *last;
	struct stopped now;
};

static void look_at(void *ctx, pid_t pid)
{
	struct look *l = ctx;
	uint32_t looks;

	if (stops_held(l->b, pid) != STOP_SENT)
		return;
	looks = looks_so_far(l->last, pid) + 1;
	if (looks > FORGOTTEN_LOOKS) {
		stops_set(l->b, pid, STOP_ARMED, BPF_EXIST);
		kill(pid, SIGCONT);
		l->b->control->blocked_ns = clock_mono_ns();
		__atomic_add_fetch(&l->b->control->released, 1, __ATOMIC_RELAXED);
	} else if (l->now.n < STOPPED_MAX) {
		l->now.pid[l->now.n] = pid;
		l->now.looks[l->now.n++] = looks;
	}
}

/*
 * Continues whoever was stopped at every look for over a second: acltap is blocked, and tells when
 * it is back.
 */
static void release_forgotten(const struct bpf *b, struct stopped *last)
{
	struct look l = {.b = b, .last = last};

	bpf_each_pid(b->stops_fd, look_at, &l);
	*last = l.now;
}

/* Until acltap ends: 'q', or end of file when it died. */
static char watch(const struct bpf *b, int pipe)
{
	struct pollfd p = {.fd = pipe, .events = POLLIN};
	struct stopped stopped = {0};
	char c = 0;
	int n;

	while ((n = poll(&p, 1, stopped.n ? LOOK_MS : IDLE_LOOK_MS)) <= 0)
		if (!n)
			release_forgotten(b, &stopped);
	while (read(pipe, &c, 1) < 0 && errno == EINTR)
		;
	return c;
}

static void drop_stdio(void)
{
	int fd = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static void guard(const struct bpf *b, int pipe)
{
	struct timespec round = {.tv_nsec = ROUND_NS};
	int keep[] = {pipe, b->stops_fd, b->procs_fd};
	sigset_t all;
	bool died;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	drop_stdio();
	close_all_but(keep, 3);
	privs_drop(RIGHT_BIT(RIGHT_KILL) | RIGHT_BIT(RIGHT_BPF));
	died = watch(b, pipe) != 'q';
	b->control->may_stop = 0;
	b->control->gate = 0;
	for (int i = 0; i < (died ? WATCH_ROUNDS : LAST_ROUNDS); i++) {
		/* acltap may have died between marking a process armed and continuing it. */
		guardian_continue_all(b, died && i == 0);
		if (died)
			bpf_each_pid(b->procs_fd, continue_parent, NULL);
		nanosleep(&round, NULL);
	}
	_exit(0);
}

int guardian_start(const struct bpf *b, struct guardian *g)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		return -errno;
	g->pid = fork();
	if (g->pid < 0) {
		int err = -errno;

		close(p[0]);
		close(p[1]);
		return err;
	}
	if (!g->pid) {
		close(p[1]);
		guard(b, p[0]);
	}
	close(p[0]);
	g->pipe = p[1];
	return 0;
}

void guardian_dismiss(struct guardian *g)
{
	const struct timespec round = {.tv_nsec = ROUND_NS};
	bool ended = false;

	if (g->pid <= 0)
		return;
	while (write(g->pipe, "q", 1) < 0 && errno == EINTR)
		;
	close(g->pipe);
	kill(g->pid, SIGCONT); /* somebody may have stopped it */
	for (int i = 0; i < DISMISS_ROUNDS && !ended; i++) {
		ended = waitpid(g->pid, NULL, WNOHANG) != 0;
		if (!ended)
			nanosleep(&round, NULL);
	}
	if (!ended)
		kill(g->pid, SIGKILL);
	g->pid = 0;
}
