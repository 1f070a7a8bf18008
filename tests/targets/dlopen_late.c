// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads the library late, by path, and calls it at once.
 * usage: dlopen_late DELAY_MS REPEAT LIBRARY...
 * Waits DELAY_MS, then REPEAT times: dlopen (each LIBRARY in turn), a mark, a push/pop and a
 * start/end range named after the round, dlclose (with ACLTAP_KEEP not: one copy after the other is
 * used while all stay). Meanwhile a thread waits in epoll_wait(), which nothing may disturb for
 * good.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "truth.h"

#define US_PER_MS 1000

struct api {
	void *handle;
	__typeof__(aclprofCreateStamp) *create;
	__typeof__(aclprofSetStampTraceMessage) *message;
	__typeof__(aclprofMark) *mark;
	__typeof__(aclprofPush) *push;
	__typeof__(aclprofPop) *pop;
	__typeof__(aclprofRangeStart) *start;
	__typeof__(aclprofRangeStop) *stop;
	__typeof__(aclprofDestroyStamp) *destroy;
};

static void *symbol(void *handle, const char *name)
{
	void *p = dlsym(handle, name);

	must(p, name);
	return p;
}

static struct api load(const char *path)
{
	void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!h)
		fprintf(stderr, "%s\n", dlerror());
	must(h, "dlopen");
	return (struct api){
		.handle = h,
		.create = symbol(h, "aclprofCreateStamp"),
		.message = symbol(h, "aclprofSetStampTraceMessage"),
		.mark = symbol(h, "aclprofMark"),
		.push = symbol(h, "aclprofPush"),
		.pop = symbol(h, "aclprofPop"),
		.start = symbol(h, "aclprofRangeStart"),
		.stop = symbol(h, "aclprofRangeStop"),
		.destroy = symbol(h, "aclprofDestroyStamp"),
	};
}

static void one_mark(const struct api *api, void *stamp, struct truth *t)
{
	t->kind = "marker";
	t->start.before = truth_now();
	must(api->mark(stamp) == 0, "mark");
	t->start.after = truth_now();
	truth_write(t, &t->start, "complete");
}

static void one_push(const struct api *api, void *stamp, struct truth *t)
{
	struct truth_call end = {.tid = t->start.tid};

	t->kind = "push/pop";
	t->start.before = truth_now();
	must(api->push(stamp) == 0, "push");
	t->start.after = truth_now();
	end.before = truth_now();
	must(api->pop() == 0, "pop");
	end.after = truth_now();
	truth_write(t, &end, "complete");
}

static void one_range(const struct api *api, void *stamp, struct truth *t)
{
	struct truth_call end = {.tid = t->start.tid};

	t->kind = "start/end";
	t->start.before = truth_now();
	must(api->start(stamp, &t->id) == 0, "range_start");
	t->start.after = truth_now();
	end.before = truth_now();
	must(api->stop(t->id) == 0, "range_stop");
	end.after = truth_now();
	truth_write(t, &end, "complete");
}

static void round_trip(const char *path, int round)
{
	struct api api = load(path);
	char name[32];
	struct truth t = {.name = name, .start.tid = gettid()};
	void *stamp = api.create();

	must(stamp, "create stamp");
	t.len = (size_t)snprintf(name, sizeof(name), "late %d", round);
	must(api.message(stamp, name, (uint32_t)t.len) == 0, "set message");
	one_mark(&api, stamp, &t);
	one_push(&api, stamp, &t);
	one_range(&api, stamp, &t);
	api.destroy(stamp);
	if (!getenv("ACLTAP_KEEP"))
		must(dlclose(api.handle) == 0, "dlclose");
}

static void *sleeper(void *fd)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int epoll = epoll_create1(EPOLL_CLOEXEC), n;

	must(epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, *(int *)fd, &ev), "epoll");
	do
		n = epoll_wait(epoll, &ev, 1, -1);
	while (n < 0 && errno == EINTR); /* after SIGSTOP and SIGCONT */
	must(n == 1, "epoll_wait");
	close(epoll);
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	uint64_t one = 1;
	pthread_t thread;

	if (argc < 4) {
		fprintf(stderr, "usage: dlopen_late DELAY_MS REPEAT LIBRARY...\n");
		return 2;
	}
	must(fd >= 0 && !pthread_create(&thread, NULL, sleeper, &fd), "a thread");
	truth_open(NULL);
	wait_for_test();
	usleep((unsigned int)atoi(argv[1]) * US_PER_MS);
	for (int i = 0; i < atoi(argv[2]); i++)
		round_trip(argv[3 + i % (argc - 3)], i);
	must(write(fd, &one, sizeof(one)) == sizeof(one), "write");
	must(!pthread_join(thread, NULL), "the thread in epoll_wait() ends");
	return 0;
}
