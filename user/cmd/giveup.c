// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/giveup.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "util/clock.h"

/* What the handler needs; set before it is installed. */
static volatile sig_atomic_t giveup_status, giveup_left, giveup_pid;
static uint64_t giveup_armed_ns;

/* timeout(1) sends the same signal twice at once: to its child, then to the group. */
#define SAME_SIGNAL_NS 200000000ull

static void give_up(int signal)
{
	static const char text[] = "acltap: gave up; what was not written yet is in the capture\n";
	int saved = errno;
	ssize_t ignored;

	if (clock_mono_ns() - giveup_armed_ns < SAME_SIGNAL_NS && giveup_left == 0)
		return;
	if (giveup_left > 0) { /* the first one: results are being written already */
		giveup_left = 0;
		giveup_armed_ns = clock_mono_ns();
		if (giveup_pid > 0)
			kill(giveup_pid, signal);
		errno = saved;
		return;
	}
	ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)ignored;
	_exit(giveup_status);
}

void giveup_arm(int status, pid_t command, bool signalled)
{
	static const int signals[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
	/* Those of the keyboard are the command's. */
	size_t n = sizeof(signals) / sizeof(signals[0]) - (command > 0 ? 2 : 0);
	struct sigaction old, sa = {.sa_handler = give_up, .sa_flags = SA_RESTART};
	sigset_t set;

	giveup_status = status;
	giveup_pid = command;
	giveup_left = !signalled;
	giveup_armed_ns = clock_mono_ns();
	sigemptyset(&set);
	for (size_t i = 0; i < n; i++) {
		if (sigaction(signals[i], NULL, &old) || old.sa_handler == SIG_IGN)
			continue; /* nohup */
		sigaction(signals[i], &sa, NULL);
		sigaddset(&set, signals[i]);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void nothing(int signal)
{
	(void)signal;
}

void giveup_never(int signal)
{
	struct sigaction old, sa = {.sa_handler = nothing, .sa_flags = SA_RESTART};

	if (!sigaction(signal, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(signal, &sa, NULL);
}

static volatile sig_atomic_t giveup_seen;

static void remember(int signal)
{
	(void)signal;
	giveup_seen = 1;
}

static const int early[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};

#define N_EARLY (sizeof(early) / sizeof(early[0]))

void giveup_watch(void)
{
	struct sigaction old, sa = {.sa_handler = remember, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < N_EARLY; i++)
		if (!sigaction(early[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(early[i], &sa, NULL);
}

bool giveup_asked(void)
{
	bool asked = giveup_seen;
	sigset_t pending;

	if (!sigpending(&pending))
		for (size_t i = 0; i < N_EARLY; i++)
			asked |= sigismember(&pending, early[i]) == 1;
	return asked;
}

void giveup_unwatch(void)
{
	struct sigaction old;

	for (size_t i = 0; i < N_EARLY; i++)
		if (!sigaction(early[i], NULL, &old) && old.sa_handler == remember)
			signal(early[i], SIG_DFL);
}
