// SPDX-License-Identifier: GPL-2.0-only
#include "live/attach.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "live/multi_link.h"
#include "util/grow.h"

#define MULTI_MAX 256

struct link {
	int fd; /* multi */
	struct bpf_link *perf;
	enum attach_group group;
};

struct attach {
	struct bpf *bpf;
	struct link *links;
	size_t n, cap;
};

int attach_new(struct bpf *b, struct attach **out)
{
	struct attach *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->bpf = b;
	*out = a;
	return 0;
}

static int add_link(struct attach *a, struct link l)
{
	if (grow_table(a->links, a->n, a->cap, 16))
		return -ENOMEM;
	a->links[a->n++] = l;
	return 0;
}

static void drop_link(struct link *l)
{
	if (l->perf)
		bpf_link__destroy(l->perf);
	else
		close(l->fd);
}

struct job {
	struct attach *a;
	enum attach_prog prog;
	enum attach_group group;
	const char *path;
	const struct attach_point *p;
	void (*bad)(void *ctx, size_t i, int err);
	void *ctx;
};

/* One link for points [from, from + n). */
static int link_multi(const struct job *j, size_t from, size_t n)
{
	uint64_t offsets[MULTI_MAX], cookies[MULTI_MAX];
	struct link l = {.group = j->group};
	struct bpf_program *prog;
	int err = bpf_program_for(j->a->bpf, j->prog, 0, &prog);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		offsets[i] = j->p[from + i].offset;
		cookies[i] = j->p[from + i].cookie;
	}
	l.fd = uprobe_multi_link(bpf_program__fd(prog), j->path, offsets, cookies, n,
				 j->prog == ATTACH_LEAVE);
	if (l.fd < 0)
		return l.fd;
	err = add_link(j->a, l);
	if (err)
		close(l.fd);
	return err;
}

static int link_perf(const struct job *j, size_t i)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = j->prog == ATTACH_LEAVE);
	struct link l = {.fd = -1, .group = j->group};
	struct bpf_program *prog;
	int err = bpf_program_for(j->a->bpf, j->prog, j->p[i].cookie, &prog);

	if (err)
		return err;
	if (j->a->bpf->cfg.feat.cookie)
		opts.bpf_cookie = j->p[i].cookie;
	l.perf = bpf_program__attach_uprobe_opts(prog, -1, j->path, j->p[i].offset, &opts);
	if (!l.perf)
		return -errno;
	err = add_link(j->a, l);
	if (err)
		drop_link(&l);
	return err;
}

/* A multi link fails as a whole: halve until the bad point is alone. */
static int attach_range(const struct job *j, size_t from, size_t n)
{
	int err = n > MULTI_MAX ? -E2BIG : link_multi(j, from, n);
	int low, high;

	if (!err)
		return (int)n;
	if (err == -ENOMEM)
		return err;
	if (n == 1) {
		j->bad(j->ctx, from, err);
		return 0;
	}
	low = attach_range(j, from, n / 2);
	high = low < 0 ? low : attach_range(j, from + n / 2, n - n / 2);
	return high < 0 ? high : low + high;
}

int attach_points(struct attach *a, enum attach_prog prog, enum attach_group group, int fd,
		  const struct attach_point *p, size_t n, void (*bad)(void *ctx, size_t i, int err),
		  void *ctx)
{
	char path[32];
	struct job j = {a, prog, group, path, p, bad, ctx};
	int done = 0;

	if (!n)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (a->bpf->multi)
		return attach_range(&j, 0, n);
	for (size_t i = 0; i < n; i++) {
		int err = link_perf(&j, i);

		if (err == -ENOMEM)
			return err;
		if (err)
			bad(ctx, i, err);
		else
			done++;
	}
	return done;
}

size_t attach_links(const struct attach *a)
{
	return a->n;
}

struct links {
	struct link *v;
	size_t n;
};

static void *drop_links(void *arg)
{
	struct links *l = arg;

	for (size_t i = 0; i < l->n; i++)
		drop_link(&l->v[i]);
	free(l->v);
	free(l);
	return NULL;
}

/* Moves the links of a group out of a. */
static struct links *take_group(struct attach *a, enum attach_group group)
{
	struct links *l = calloc(1, sizeof(*l));
	size_t kept = 0;

	if (l)
		l->v = calloc(a->n + 1, sizeof(*l->v));
	if (!l || !l->v) {
		free(l);
		return NULL;
	}
	for (size_t i = 0; i < a->n; i++) {
		if (a->links[i].group == group)
			l->v[l->n++] = a->links[i];
		else
			a->links[kept++] = a->links[i];
	}
	a->n = kept;
	return l;
}

void attach_drop(struct attach *a, enum attach_group group)
{
	struct links *l = take_group(a, group);
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	if (!l)
		return; /* they stay until the end: only dearer */
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = l->n ? pthread_create(&thread, &attr, drop_links, l) : -1;
	pthread_attr_destroy(&attr);
	if (err)
		drop_links(l);
}

/*
 * The last descriptor of a link to be closed pays for its removal. This child inherits all of them
 * and closes its own after ours.
 */
static void start_remover(int p[2])
{
	char c;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC)) {
		p[0] = p[1] = -1;
		return;
	}
	pid = fork();
	if (!pid) {
		setsid();
		close(p[1]);
		for (int fd = 0; fd < 3; fd++) /* nobody may wait for us at a pipe */
			close(fd);
		while (read(p[0], &c, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	close(p[0]);
	if (pid < 0) {
		close(p[1]);
		p[1] = -1;
	}
}

void attach_free(struct attach *a)
{
	int p[2] = {-1, -1};

	if (!a)
		return;
	if (a->n)
		start_remover(p);
	for (size_t i = 0; i < a->n; i++)
		drop_link(&a->links[i]);
	if (p[1] >= 0)
		close(p[1]);
	free(a->links);
	free(a);
}
