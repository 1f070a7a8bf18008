// SPDX-License-Identifier: GPL-2.0-only
#include "discover/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "discover/maps.h"
#include "util/cleanup.h"
#include "util/unit.h"

#define MAPS_LIMIT (64u << 20) /* of a text that the target can make as long as it likes */

static int open_proc(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

static ssize_t read_fd(int fd, char *buf, size_t sz)
{
	size_t len = 0;

	while (len < sz) {
		ssize_t n = read(fd, buf + len, sz - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static ssize_t read_proc(pid_t pid, const char *name, char *buf, size_t sz)
{
	_fd_ int fd = open_proc(pid, name);

	return fd < 0 ? fd : read_fd(fd, buf, sz);
}

/* A whole text of unknown length, terminated; to be freed. */
static int read_whole(pid_t pid, const char *name, char **text, size_t *len)
{
	_fd_ int fd = open_proc(pid, name);
	_free_ char *buf = NULL;
	size_t cap = 64 << 10, n = 0;
	ssize_t got;

	if (fd < 0)
		return fd;
	for (;;) {
		char *p = realloc(buf, cap + 1);

		if (!p)
			return -ENOMEM;
		buf = p;
		got = read_fd(fd, buf + n, cap - n);
		if (got < 0)
			return (int)got;
		n += (size_t)got;
		if (n < cap || cap >= MAPS_LIMIT)
			break;
		cap *= 2;
	}
	buf[n] = '\0';
	*len = n;
	*text = take_ptr(buf);
	return 0;
}

ssize_t proc_comm(pid_t pid, char *buf, size_t sz)
{
	ssize_t n = read_proc(pid, "comm", buf, sz);

	return n > 0 && buf[n - 1] == '\n' ? n - 1 : n;
}

ssize_t proc_cmdline(pid_t pid, char *buf, size_t sz)
{
	return read_proc(pid, "cmdline", buf, sz);
}

ssize_t proc_exe(pid_t pid, char *buf, size_t sz)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, buf, sz);
	return n < 0 ? -errno : n;
}

int proc_open_exe(pid_t pid)
{
	return open_proc(pid, "exe");
}

/*
 * Field of /proc/PID/stat, counted from 1. The second one, the name in brackets, may contain blanks
 * and brackets itself: counting starts behind the last one.
 */
static int stat_field(pid_t pid, int field, char *state, uint64_t *value)
{
	char buf[4096], *p;
	ssize_t n = read_proc(pid, "stat", buf, sizeof(buf) - 1);

	if (n < 0)
		return (int)n;
	buf[n] = '\0';
	p = strrchr(buf, ')');
	if (!p || p[1] != ' ')
		return -EBADMSG;
	p += 2;
	if (state)
		*state = *p;
	for (int i = 3; i < field; i++) {
		p = strchr(p, ' ');
		if (!p)
			return -EBADMSG;
		p++;
	}
	if (value)
		*value = strtoull(p, NULL, 10);
	return 0;
}

int proc_start_time(pid_t pid, uint64_t *ticks)
{
	return stat_field(pid, 22, NULL, ticks);
}

int proc_ppid(pid_t pid, pid_t *ppid)
{
	uint64_t v = 0;
	int err = stat_field(pid, 4, NULL, &v);

	*ppid = (pid_t)v;
	return err;
}

/* The value of a line "Key:\tvalue" of /proc/PID/status, up to its end. */
static int status_line(pid_t pid, const char *key, char *buf, size_t sz)
{
	char text[8192], *p;
	size_t len = strlen(key);
	ssize_t n = read_proc(pid, "status", text, sizeof(text) - 1);

	if (n < 0)
		return (int)n;
	text[n] = '\0';
	for (p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, key, len) || p[len] != ':')
			continue;
		p += len + 1;
		p += strspn(p, "\t ");
		snprintf(buf, sz, "%.*s", (int)strcspn(p, "\n"), p);
		return 0;
	}
	return -ENODATA;
}

int proc_uid(pid_t pid, uid_t *uid)
{
	char line[128];
	unsigned int real, effective;
	int err = status_line(pid, "Uid", line, sizeof(line));

	if (err)
		return err;
	if (sscanf(line, "%u %u", &real, &effective) != 2)
		return -EBADMSG;
	*uid = effective;
	return 0;
}

int proc_nspid(pid_t pid, pid_t *nspid)
{
	char line[256], *last;
	int err = status_line(pid, "NSpid", line, sizeof(line));

	if (err)
		return err;
	last = strrchr(line, '\t');
	*nspid = atoi(last ? last + 1 : line);
	return 0;
}

int proc_tgid(pid_t tid, pid_t *tgid)
{
	char line[32];
	int err = status_line(tid, "Tgid", line, sizeof(line));

	if (!err)
		*tgid = atoi(line);
	return err;
}

int proc_rank(pid_t pid, int *rank)
{
	static const char *const names[] = { "RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID",
					     "LOCAL_RANK" };
	_free_ char *env = NULL;
	size_t len, best = sizeof(names) / sizeof(names[0]);
	int err = read_whole(pid, "environ", &env, &len);

	if (err)
		return err;
	for (const char *p = env; p < env + len; p += strlen(p) + 1) {
		for (size_t i = 0; i < best; i++) {
			size_t n = strlen(names[i]);
			uint64_t v;

			if (strncmp(p, names[i], n) || p[n] != '=' || unit_u64(p + n + 1, &v) ||
			    v > INT_MAX)
				continue;
			*rank = (int)v;
			best = i;
		}
	}
	return best == sizeof(names) / sizeof(names[0]) ? -ENODATA : 0;
}

/* ---- lists ---- */

/* Calls fn for every numeric name in a directory of /proc. */
static int for_each_number(const char *dir, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	int ret = 0;

	if (!d)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!ret && (e = readdir(d))) {
		pid_t pid;

		if (!unit_pid(e->d_name, &pid))
			ret = fn(ctx, pid);
	}
	closedir(d);
	return ret;
}

int proc_for_each(int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	return for_each_number("/proc", fn, ctx);
}

struct family {
	pid_t *pids, *parents;
	size_t n, cap;
};

static int add_relative(void *ctx, pid_t pid)
{
	struct family *f = ctx;
	pid_t ppid;

	if (proc_ppid(pid, &ppid))
		return 0;
	if (f->n == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : 256;
		pid_t *a = realloc(f->pids, cap * sizeof(*a)), *b;

		if (!a)
			return -ENOMEM;
		f->pids = a;
		b = realloc(f->parents, cap * sizeof(*b));
		if (!b)
			return -ENOMEM;
		f->parents = b;
		f->cap = cap;
	}
	f->pids[f->n] = pid;
	f->parents[f->n++] = ppid;
	return 0;
}

static int visit(const struct family *f, pid_t root, int depth, int (*fn)(void *, pid_t), void *ctx)
{
	int ret = 0;

	for (size_t i = 0; i < f->n && !ret && depth < 256; i++) {
		if (f->parents[i] != root)
			continue;
		ret = fn(ctx, f->pids[i]);
		ret = ret ?: visit(f, f->pids[i], depth + 1, fn, ctx);
	}
	return ret;
}

int proc_for_each_descendant(pid_t pid, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct family f = { 0 };
	int ret = proc_for_each(add_relative, &f);

	ret = ret ?: visit(&f, pid, 0, fn, ctx);
	free(f.pids);
	free(f.parents);
	return ret;
}

/* ---- threads of a process whose leader has ended ---- */

static int first_alive(void *ctx, pid_t tid)
{
	char state;

	if (stat_field(tid, 3, &state, NULL) || state == 'Z' || state == 'X')
		return 0;
	*(pid_t *)ctx = tid;
	return 1;
}

static pid_t living_thread(pid_t pid)
{
	char dir[64];
	pid_t tid = 0;

	snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	for_each_number(dir, first_alive, &tid);
	return tid;
}

bool proc_is_zombie(pid_t pid)
{
	char state;

	if (stat_field(pid, 3, &state, NULL))
		return true;
	return (state == 'Z' || state == 'X') && !living_thread(pid);
}

/* ---- mappings ---- */

struct seen {
	uint64_t ino;
	uint32_t major, minor;
};

struct scan {
	pid_t tid; /* whose map_files are used: the leader may have ended */
	int (*fn)(void *ctx, const struct proc_file *pf);
	void *ctx;
	struct seen *seen;
	size_t n, cap;
};

static int first_sight(struct scan *s, const struct mapping *m)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->seen[i].ino == m->ino && s->seen[i].major == m->dev_major &&
		    s->seen[i].minor == m->dev_minor)
			return 0;
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct seen *p = realloc(s->seen, cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->seen = p;
		s->cap = cap;
	}
	s->seen[s->n++] = (struct seen){ m->ino, m->dev_major, m->dev_minor };
	return 1;
}

static int visit_mapping(struct scan *s, const struct mapping *m)
{
	char path[PATH_MAX + 64], link[96];
	struct proc_file pf = { .path = path };
	_fd_ int fd = -1;
	int ret = first_sight(s, m);

	if (ret <= 0)
		return ret;
	snprintf(path, sizeof(path), "%.*s", (int)(m->path_len > PATH_MAX ? PATH_MAX : m->path_len),
		 m->path);
	snprintf(link, sizeof(link), "/proc/%d/map_files/%llx-%llx", s->tid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	/* Never blocks: the target may map the file of a FIFO's name, but not a FIFO. */
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	pf.fd = fd;
	pf.err = fd < 0 ? -errno : 0;
	pf.unprobeable = m->write ? "writable" : m->shared ? "shared" : NULL;
	return s->fn(s->ctx, &pf);
}

int proc_scan_maps(pid_t pid, int (*fn)(void *ctx, const struct proc_file *pf), void *ctx)
{
	struct scan s = { .tid = pid, .fn = fn, .ctx = ctx };
	_free_ char *text = NULL;
	const char *pos;
	size_t len;
	struct mapping m;
	int err = read_whole(pid, "maps", &text, &len);

	if (!err && !len) { /* the leader has ended, its threads may live on */
		s.tid = living_thread(pid);
		free(take_ptr(text));
		err = s.tid ? read_whole(s.tid, "maps", &text, &len) : -ESRCH;
	}
	if (err)
		return err;
	pos = text;
	while (!err && maps_next(&pos, text + len, &m, NULL))
		if (m.exec && m.ino)
			err = visit_mapping(&s, &m);
	free(s.seen);
	return err;
}
