// SPDX-License-Identifier: GPL-2.0-only
#include "live/attach.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "events.skel.h"
#include "live/multi_link.h"

#define MULTI_MAX 256

struct link {
	int fd;               /* multi */
	struct bpf_link *perf;
};

struct attach {
	const struct bpf *bpf;
	struct link *links;
	size_t n, cap;
};

int attach_new(const struct bpf *b, struct attach **out)
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
	if (a->n == a->cap) {
		size_t cap = a->cap ? 2 * a->cap : 16;
		struct link *p = realloc(a->links, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		a->links = p;
		a->cap = cap;
	}
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

static struct bpf_program *program(const struct attach *a, enum attach_prog prog)
{
	struct events_bpf *ev = a->bpf->events;

	return prog == ATTACH_ENTRY ? ev->progs.entry :
	       prog == ATTACH_LEAVE ? ev->progs.leave :
	       a->bpf->waits        ? ev->progs.loaded_wait :
				      ev->progs.loaded;
}

struct job {
	struct attach *a;
	enum attach_prog prog;
	const char *path;
	const struct attach_point *p;
	void (*bad)(void *ctx, size_t i, int err);
	void *ctx;
};

/* One link for points [from, from + n). */
static int link_multi(const struct job *j, size_t from, size_t n)
{
	uint64_t offsets[MULTI_MAX], cookies[MULTI_MAX];
	struct link l = { 0 };
	int err;

	for (size_t i = 0; i < n; i++) {
		offsets[i] = j->p[from + i].offset;
		cookies[i] = j->p[from + i].cookie;
	}
	l.fd = uprobe_multi_link(bpf_program__fd(program(j->a, j->prog)), j->path, offsets, cookies,
				 n, j->prog == ATTACH_LEAVE);
	if (l.fd < 0)
		return l.fd;
	err = add_link(j->a, l);
	if (err)
		close(l.fd);
	return err;
}

static int link_perf(const struct job *j, size_t i)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = j->prog == ATTACH_LEAVE,
		    .bpf_cookie = j->p[i].cookie);
	struct link l = { .fd = -1 };
	int err;

	l.perf = bpf_program__attach_uprobe_opts(program(j->a, j->prog), -1, j->path,
						 j->p[i].offset, &opts);
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

int attach_points(struct attach *a, enum attach_prog prog, int fd, const struct attach_point *p,
		  size_t n, void (*bad)(void *ctx, size_t i, int err), void *ctx)
{
	char path[32];
	struct job j = { a, prog, path, p, bad, ctx };
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

void attach_free(struct attach *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n; i++)
		drop_link(&a->links[i]);
	free(a->links);
	free(a);
}
