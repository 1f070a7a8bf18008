// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/giveup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/privs.h"

/* timeout(1) sends the same signal twice at once: to its child, then to the group. */
#define SAME_SIGNAL_NS 200000000ull

enum phase { OPENING, TRACING, WRITING, DONE };

/* A process has its signals once. Under the lock: phase to first_ns. */
static struct {
	bool on;
	int pipe[2];
	sigset_t set, inherited;
	bool keyboard; /* SIGINT and SIGQUIT were not ignored */
	pthread_mutex_t lock;
	enum phase phase;
	int status; /* when it gives up */
	bool launched;
	pid_t command;
	int first; /* the first signal, 0 = none yet */
	uint64_t first_ns;
} watch = {.pipe = {-1, -1}, .lock = PTHREAD_MUTEX_INITIALIZER};

/* Standard error may be what the rest hangs in. */
static void say(const char *text)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
	ssize_t ignored;

	if (poll(&p, 1, 0) == 1 && p.revents & POLLOUT) {
		ignored = write(STDERR_FILENO, text, strlen(text));
		(void)ignored;
	}
}

static void give_up(void)
{
	if (watch.phase == OPENING)
		say("acltap: gave up before tracing began\n");
	else if (watch.phase != DONE)
		say("acltap: gave up; what was not written yet is in the capture\n");
	_exit(watch.status);
}

static void pass_on(int signal)
{
	if (watch.command > 0)
		kill(watch.command, signal);
}

static bool counts(int signal)
{
	if (signal != SIGINT && signal != SIGQUIT)
		return true;
	/* In the background of a shell they are ignored; who traces for long is ended by them. */
	return watch.phase == OPENING ? watch.keyboard : !watch.launched;
}

static void heard(int signal)
{
	const char byte = (char)signal;
	ssize_t ignored;

	if (!counts(signal))
		return;
	if (watch.first) {
		if (clock_mono_ns() - watch.first_ns >= SAME_SIGNAL_NS)
			give_up();
		return;
	}
	watch.first = signal;
	watch.first_ns = clock_mono_ns();
	if (watch.phase == WRITING) {
		pass_on(signal);
	} else if (watch.phase != DONE) {
		ignored = write(watch.pipe[1], &byte, 1); /* it has room for one */
		(void)ignored;
	}
}

static void *listen(void *arg)
{
	(void)arg;
	privs_drop(0); /* this thread's; those of the others are theirs */
	for (;;) {
		int signal = sigwaitinfo(&watch.set, NULL);

		pthread_mutex_lock(&watch.lock);
		if (signal > 0)
			heard(signal);
		pthread_mutex_unlock(&watch.lock);
	}
	return NULL;
}

static bool is_ignored(int signal)
{
	struct sigaction sa;

	return !sigaction(signal, NULL, &sa) && sa.sa_handler == SIG_IGN;
}

static int start(void)
{
	sigset_t all;
	pthread_t thread;
	int err;

	if (pipe2(watch.pipe, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	/* Blocked in every thread, or another one would be ended by them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &watch.inherited);
	err = -pthread_create(&thread, NULL, listen, NULL);
	pthread_sigmask(SIG_SETMASK, &watch.inherited, NULL);
	if (!err)
		pthread_sigmask(SIG_BLOCK, &watch.set, NULL);
	return err;
}

void giveup_watch(int status)
{
	int err;

	watch.status = status;
	watch.keyboard = !is_ignored(SIGINT);
	sigemptyset(&watch.set);
	sigaddset(&watch.set, SIGTERM);
	if (!is_ignored(SIGHUP)) /* nohup */
		sigaddset(&watch.set, SIGHUP);
	sigaddset(&watch.set, SIGINT);
	sigaddset(&watch.set, SIGQUIT);
	err = start();
	if (err)
		log_warn("signals will end acltap at once: %s", strerror(-err));
	watch.on = !err;
}

bool giveup_asked(void)
{
	struct pollfd p = {.fd = watch.pipe[0], .events = POLLIN};

	return watch.on && poll(&p, 1, 0) == 1;
}

int giveup_fd(void)
{
	return watch.on ? watch.pipe[0] : -1;
}

const sigset_t *giveup_inherited(void)
{
	return watch.on ? &watch.inherited : NULL;
}

void giveup_tracing(bool launched)
{
	pthread_mutex_lock(&watch.lock);
	watch.phase = TRACING;
	watch.launched = launched;
	pthread_mutex_unlock(&watch.lock);
}

void giveup_arm(pid_t command, bool signalled)
{
	pthread_mutex_lock(&watch.lock);
	watch.phase = WRITING;
	watch.command = command;
	if (watch.first && !signalled)
		pass_on(watch.first);
	pthread_mutex_unlock(&watch.lock);
}

void giveup_done(int status)
{
	pthread_mutex_lock(&watch.lock);
	watch.phase = DONE;
	watch.status = status;
	watch.command = 0;
	pthread_mutex_unlock(&watch.lock);
}

static void nothing(int signal)
{
	(void)signal;
}

void giveup_never(int signal)
{
	const struct sigaction sa = {.sa_handler = nothing, .sa_flags = SA_RESTART};

	if (!is_ignored(signal))
		sigaction(signal, &sa, NULL);
}
