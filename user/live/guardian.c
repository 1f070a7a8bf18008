// SPDX-License-Identifier: GPL-2.0-only
#include "live/guardian.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "discover/proc.h"
#include "util/privs.h"
#include "util/rights.h"

/* Probes of a dead acltap go on firing until the kernel has removed them. */
#define WATCH_ROUNDS 400
#define ROUND_NS 5000000

int guardian_continue_all(int stops_fd, bool every)
{
	uint32_t key, next, state, armed = STOP_ARMED, *prev = NULL;
	int n = 0;

	/* Those that wait inside a probe (STOP_WAIT) go on by themselves: may_stop is 0. */
	while (!bpf_map_get_next_key(stops_fd, prev, &next)) {
		key = next;
		prev = &key;
		if (bpf_map_lookup_elem(stops_fd, &key, &state) || (state != STOP_SENT && !every))
			continue;
		bpf_map_update_elem(stops_fd, &key, &armed, BPF_EXIST);
		kill((pid_t)key, SIGCONT);
		n++;
	}
	return n;
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
static void continue_parents(int procs_fd)
{
	uint32_t key, next, *prev = NULL;

	while (!bpf_map_get_next_key(procs_fd, prev, &next)) {
		key = next;
		prev = &key;
		if (proc_is_stopped((pid_t)key))
			kill((pid_t)key, SIGCONT);
	}
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
	char c = 0;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	drop_stdio();
	close_all_but(keep, 3);
	privs_drop(RIGHT_BIT(RIGHT_KILL) | RIGHT_BIT(RIGHT_BPF));
	while (read(pipe, &c, 1) < 0 && errno == EINTR)
		;
	if (c == 'q')
		_exit(0);
	b->control->may_stop = 0;
	b->control->gate = 0;
	for (int i = 0; i < WATCH_ROUNDS; i++) {
		/* acltap may have died between marking a process armed and continuing it. */
		guardian_continue_all(b->stops_fd, i == 0);
		continue_parents(b->procs_fd);
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
	if (g->pid <= 0)
		return;
	while (write(g->pipe, "q", 1) < 0 && errno == EINTR)
		;
	close(g->pipe);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	g->pid = 0;
}
