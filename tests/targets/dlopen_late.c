// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads the library late, by path, and calls it at once.
 * usage: dlopen_late DELAY_MS REPEAT LIBRARY...
 *        dlopen_late DELAY_MS mix LIBRARY LIBRARY
 * Waits DELAY_MS, then REPEAT times: dlopen (each LIBRARY in turn), a mark, a push/pop and a
 * start/end range named after the round, dlclose (with ACLTAP_KEEP not: one copy after the other
 * is used while all stay). Meanwhile a thread waits in epoll_wait(), which nothing may disturb for
 * good.
 * mix: both are loaded, and ranges of one begin and end within those of the other and across them.
 * A path behind "new:" gets a namespace of its own, where ids are the same; there is one pop too
 * many then.
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
	void *h = strncmp(path, "new:", 4) ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
					   : dlmopen(LM_ID_NEWLM, path + 4, RTLD_NOW | RTLD_LOCAL);

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

/* A range of one copy that has begun, and how it will end. */
struct part {
	const struct api *api;
	struct truth t;
	void *stamp;
};

static struct part begin(const struct api *api, const char *kind, const char *name,
			 unsigned int depth)
{
	struct part p = {.api = api, .stamp = api->create()};

	p.t = (struct truth){.kind = kind, .name = name, .len = strlen(name), .depth = depth};
	p.t.start.tid = gettid();
	must(p.stamp && !api->message(p.stamp, name, (uint32_t)p.t.len), "a stamp");
	p.t.start.before = truth_now();
	must(!(*kind == 'p' ? api->push(p.stamp) : api->start(p.stamp, &p.t.id)), "begin");
	p.t.start.after = truth_now();
	return p;
}

static void end(struct part *p)
{
	struct truth_call end = {.tid = p->t.start.tid};

	end.before = truth_now();
	must(!(*p->t.kind == 'p' ? p->api->pop() : p->api->stop(p->t.id)), "end");
	end.after = truth_now();
	truth_write(&p->t, &end, "complete");
	p->api->destroy(p->stamp);
}

static void mix(const char *path_a, const char *path_b)
{
	const struct api a = load(path_a), b = load(path_b);
	struct part outer, inner, x, y;

	outer = begin(&a, "push/pop", "outer of a", 0);
	inner = begin(&b, "push/pop", "inner of b", 1);
	end(&inner);
	end(&outer);
	x = begin(&a, "push/pop", "a across b", 0);
	y = begin(&b, "push/pop", "b across a", 0); /* when it ends a is not around it */
	end(&x);
	end(&y);
	x = begin(&a, "start/end", "id of a", 0);
	y = begin(&b, "start/end", "id of b", 0);
	must(x.t.id == y.t.id || *path_b == '/', "one in a namespace of its own counts alike");
	end(&x);
	outer = begin(&b, "push/pop", "while a pops too much", 0);
	if (x.t.id == y.t.id && !a.pop())
		must(false, "there is nothing to pop");
	truth_expect("orphan aclprofPop", x.t.id == y.t.id);
	end(&outer);
	end(&y);
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
	if (!strcmp(argv[2], "mix"))
		mix(argv[3], argv[argc - 1]);
	for (int i = 0; i < atoi(argv[2]); i++)
		round_trip(argv[3 + i % (argc - 3)], i);
	must(write(fd, &one, sizeof(one)) == sizeof(one), "write");
	must(!pthread_join(thread, NULL), "the thread in epoll_wait() ends");
	return 0;
}
