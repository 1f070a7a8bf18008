// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file is identified by fstat() of what map_files leads to: on overlayfs and btrfs the device of
 * /proc/PID/maps is another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "discover/maps.h"
#include "discover/proc.h"
#include "discover/procread.h"
#include "util/cleanup.h"
#include "util/grow.h"
#include "util/hash.h"
#include "util/regular.h"

#define COPIED "as a copy in anonymous memory"

/* An executable piece of a file. */
struct piece {
	struct mapping file; /* a mapping of that file; for a copy, the one before */
	uint64_t offset, size;
	const char *problem;
	uint64_t key; /* of a mapping of the file, 0 = it is a copy */
	dev_t dev;    /* identity; as in the maps when the file cannot be opened */
	ino_t ino;
	int err;
};

struct scan {
	pid_t tid; /* whose map_files are used: the leader may have ended */
	struct piece *v;
	size_t n, cap;
	/* While collecting: a run of mappings without a gap, begun by one of a file. */
	struct mapping file;
	uint64_t run_end; /* 0 = no such run */
	size_t sure;	  /* pieces behind it are copies only if the file goes on */
};

static int add(struct scan *s, const struct piece *p)
{
	if (grow_table(s->v, s->n, s->cap, 64))
		return -ENOMEM;
	s->v[s->n++] = *p;
	return 0;
}

static bool same_file(const struct mapping *a, const struct mapping *b)
{
	return a->ino == b->ino && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/* Huge pages without a file have an inode of the kernel's own. */
static bool is_anonymous(const struct mapping *m)
{
	static const char huge[] = "/anon_hugepage";

	return !m->ino ||
	       (m->path_len >= sizeof(huge) - 1 && !memcmp(m->path, huge, sizeof(huge) - 1));
}

/* Executable memory without a file, right behind a file's mapping: perhaps its text, re-mapped. */
static int collect_anonymous(struct scan *s, const struct mapping *m)
{
	struct piece p = {.file = s->file, .problem = COPIED};

	if (!s->run_end || m->start != s->run_end) {
		s->run_end = 0;
		return 0;
	}
	s->run_end = m->end;
	p.offset = s->file.offset + (s->file.end - s->file.start);
	p.size = m->end - m->start;
	return m->exec ? add(s, &p) : 0;
}

static uint64_t key_of(const struct mapping *m)
{
	const uint64_t id[] = {m->start, m->end, m->offset, m->ino, m->dev_major, m->dev_minor};

	return hash_bytes(0, id, sizeof(id));
}

static int collect_file(struct scan *s, const struct mapping *m)
{
	struct piece p = {.file = *m,
			  .offset = m->offset,
			  .size = m->end - m->start,
			  .problem = m->write	 ? "writable"
				     : m->shared ? "shared"
						 : NULL,
			  .key = key_of(m)};
	int err;

	if (!s->run_end || s->run_end != m->start || !same_file(&s->file, m))
		s->n = s->sure;
	/* The copy stands for what the file's mappings leave out. */
	for (size_t i = s->sure; i < s->n; i++)
		if (m->offset > s->v[i].offset)
			s->v[i].size = m->offset - s->v[i].offset;
	err = m->exec ? add(s, &p) : 0;
	s->sure = s->n;
	s->file = *m;
	s->run_end = m->end;
	return err;
}

static int collect(struct scan *s, const char *text, size_t len)
{
	struct mapping m;
	const char *pos = text;
	int err = 0;

	while (!err && maps_next(&pos, text + len, &m, NULL))
		err = is_anonymous(&m) ? collect_anonymous(s, &m) : collect_file(s, &m);
	s->n = s->n > s->sure ? s->sure : s->n;
	return err;
}

static void leave_out(struct scan *s, bool (*skip)(void *ctx, uint64_t key), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].problem || !skip(ctx, s->v[i].key))
			s->v[kept++] = s->v[i];
	s->n = kept;
}

/* ---- files ---- */

/* The kernel writes a newline as \012; nothing else is escaped. */
static void copy_path(char *to, size_t sz, const struct mapping *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->path_len && n + 1 < sz; i++) {
		bool newline = m->path_len - i >= 4 && !memcmp(m->path + i, "\\012", 4);

		to[n++] = newline ? '\n' : m->path[i];
		i += newline ? 3 : 0;
	}
	to[n] = '\0';
}

/* Without the right to follow map_files: by path, if that is still the same file. */
static int open_by_path(pid_t tid, const struct mapping *m)
{
	char path[PATH_MAX + 64];
	_fd_ int fd = -1;
	struct stat st;
	int n = snprintf(path, sizeof(path), "/proc/%d/root", tid);

	copy_path(path + n, sizeof(path) - (size_t)n, m);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (st.st_ino != m->ino || major(st.st_dev) != m->dev_major ||
	    minor(st.st_dev) != m->dev_minor)
		return -ESTALE;
	return take_fd(&fd);
}

/* What is mapped there, as an O_PATH descriptor: opening a device or a FIFO can do things. */
static int find_file(pid_t tid, const struct mapping *m, struct stat *st)
{
	char link[96];
	_fd_ int fd = -1;

	snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", tid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	fd = open(link, O_PATH | O_CLOEXEC);
	if (fd < 0 && (errno == EPERM || errno == EACCES)) {
		int err = errno;

		fd = open_by_path(tid, m);
		if (fd < 0)
			return -err;
	}
	if (fd < 0 || fstat(fd, st))
		return errno == ENOENT ? -ESRCH : -errno;
	return S_ISREG(st->st_mode) ? take_fd(&fd) : -ENOEXEC;
}

static int open_file(pid_t tid, const struct piece *p)
{
	struct stat st;
	_fd_ int at = find_file(tid, &p->file, &st);

	if (at < 0)
		return at;
	if (st.st_dev != p->dev || st.st_ino != p->ino)
		return -ESTALE; /* the mapping was replaced meanwhile */
	return regular_reopen(at);
}

static void identify(struct scan *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct piece *p = &s->v[i];
		const struct piece *last = i ? p - 1 : NULL;
		struct stat st;
		int fd;

		if (last && same_file(&last->file, &p->file) && last->file.path == p->file.path) {
			p->dev = last->dev;
			p->ino = last->ino;
			p->err = last->err;
			continue;
		}
		fd = find_file(s->tid, &p->file, &st);
		p->err = fd < 0 ? fd : 0;
		p->dev = fd < 0 ? makedev(p->file.dev_major, p->file.dev_minor) : st.st_dev;
		p->ino = fd < 0 ? p->file.ino : st.st_ino;
		if (fd >= 0)
			close(fd);
	}
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int by_file(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return ORDER(x->dev, y->dev) ?:
	       ORDER(x->ino, y->ino) ?:
	       ORDER(!!x->err, !!y->err) ?:
	       ORDER(x->offset, y->offset) ?:
	       ORDER(x->file.start, y->file.start);
}

static bool one_file(const struct piece *a, const struct piece *b)
{
	return a->dev == b->dev && a->ino == b->ino && !a->err == !b->err;
}

static int tell(const struct scan *s, const struct piece *p, size_t n,
		int (*fn)(void *ctx, const struct proc_file *pf), void *ctx)
{
	_free_ struct proc_text *text = calloc(n, sizeof(*text));
	char path[PATH_MAX];
	struct proc_file pf = {.path = path, .text = text, .n_text = n};
	_fd_ int fd = p->err ? p->err : open_file(s->tid, p);

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		text[i] = (struct proc_text){p[i].offset, p[i].size, p[i].problem, p[i].key};
		pf.unprobeable = pf.unprobeable ?: p[i].problem;
		pf.partly |= !p[i].problem;
	}
	pf.partly &= !!pf.unprobeable;
	copy_path(path, sizeof(path), &p->file);
	pf.fd = fd < 0 ? -1 : fd;
	pf.err = fd < 0 ? fd : 0;
	return fn(ctx, &pf);
}

static int read_maps(pid_t pid, pid_t *tid, char **text, size_t *len)
{
	int err = procread_whole(pid, "maps", text, len);

	*tid = pid;
	if (err || *len)
		return err;
	free(take_ptr(*text));
	*tid = procread_living_thread(pid);
	return *tid ? procread_whole(*tid, "maps", text, len) : -ESRCH;
}

int proc_scan_maps(pid_t pid, int (*fn)(void *ctx, const struct proc_file *pf), void *ctx)
{
	return proc_scan_others(pid, NULL, fn, ctx);
}

int proc_scan_others(pid_t pid, bool (*skip)(void *ctx, uint64_t key),
		     int (*fn)(void *ctx, const struct proc_file *pf), void *ctx)
{
	struct scan s = {0};
	_free_ char *text = NULL;
	size_t len;
	int err = read_maps(pid, &s.tid, &text, &len);

	err = err ?: collect(&s, text, len);
	if (!err && skip)
		leave_out(&s, skip, ctx);
	if (!err) {
		identify(&s);
		qsort(s.v, s.n, sizeof(*s.v), by_file);
	}
	for (size_t i = 0, n; i < s.n && !err; i += n) {
		for (n = 1; i + n < s.n && one_file(&s.v[i], &s.v[i + n]); n++)
			;
		err = tell(&s, &s.v[i], n, fn, ctx);
	}
	free(s.v);
	return err;
}

const char *proc_text_problem(const struct proc_file *pf, uint64_t offset)
{
	const char *problem = "without that part of its code";

	for (size_t i = 0; i < pf->n_text; i++) {
		const struct proc_text *t = &pf->text[i];

		if (offset < t->offset || offset - t->offset >= t->size)
			continue;
		if (!t->unprobeable)
			return NULL;
		problem = t->unprobeable;
	}
	return problem;
}
