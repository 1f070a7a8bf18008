// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/giveup.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t giveup_status;

static void give_up(int signal)
{
	static const char text[] = "acltap: gave up; what was recorded is in the capture\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)ignored;
	(void)signal;
	_exit(giveup_status);
}

void giveup_arm(int status, bool launched)
{
	static const int signals[] = {SIGTERM, SIGHUP,
				      SIGINT}; /* the last only when not launched */
	struct sigaction old, sa = {.sa_handler = give_up};
	sigset_t set;

	giveup_status = status;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]) - launched; i++) {
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
