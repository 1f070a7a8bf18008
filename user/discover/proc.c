// SPDX-License-Identifier: GPL-2.0-only
#include "discover/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <unistd.h>

#include "discover/procread.h"
#include "util/cleanup.h"
#include "util/grow.h"
#include "util/regular.h"
#include "util/unit.h"

#define PF_KTHREAD 0x00200000 /* of the kernel's task flags, include/linux/sched.h */

ssize_t proc_comm(pid_t pid, char *buf, size_t sz)
{
	ssize_t n = procread(pid, "comm", buf, sz);

	return n > 0 && buf[n - 1] == '\n' ? n - 1 : n;
}

ssize_t proc_cmdline(pid_t pid, char *buf, size_t sz)
{
	return procread(pid, "cmdline", buf, sz);
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
	return procread_open(pid, "exe");
}

int proc_open_in_root(pid_t pid, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char name[64];
	_fd_ int root = -1, fd = -1;

	snprintf(name, sizeof(name), "/proc/%d/root", pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = (int)syscall(__NR_openat2, root, path, &how, sizeof(how));
	return fd < 0 ? -errno : regular_reopen(fd);
}

/*
 * Field of /proc/PID/stat, counted from 1. The second one, the name in brackets, may contain blanks
 * and brackets itself: counting starts behind the last one.
 */
static int stat_field(pid_t pid, int field, char *state, uint64_t *value)
{
	char buf[4096], *p;
	ssize_t n = procread(pid, "stat", buf, sizeof(buf) - 1);

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
	ssize_t n = procread(pid, "status", text, sizeof(text) - 1);

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

int proc_pidns(pid_t pid, uint64_t *ino)
{
	_fd_ int fd = procread_open(pid, "ns/pid");
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	*ino = st.st_ino;
	return 0;
}

int proc_environ(pid_t pid, char **env, size_t *len)
{
	return procread_whole(pid, "environ", env, len);
}

/* The first of names that is set to a number; -1 when none is. */
static int rank_from(const char *env, size_t len, const char *const names[3])
{
	size_t best = 3;
	int rank = -1;

	for (const char *p = env; p < env + len; p += strlen(p) + 1) {
		for (size_t i = 0; i < best; i++) {
			size_t n = strlen(names[i]);
			uint64_t v;

			if (strncmp(p, names[i], n) || p[n] != '=' || unit_u64(p + n + 1, &v) ||
			    v > INT_MAX)
				continue;
			rank = (int)v;
			best = i;
		}
	}
	return rank;
}

int proc_rank(pid_t pid, struct proc_rank *out)
{
	static const char *const world[] = {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
	static const char *const local[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
					    "SLURM_LOCALID"};
	_free_ char *env = NULL;
	size_t len;
	int err = procread_whole(pid, "environ", &env, &len);

	*out = (struct proc_rank){-1, -1};
	if (err)
		return err;
	*out = (struct proc_rank){rank_from(env, len, world), rank_from(env, len, local)};
	return out->rank < 0 && out->local < 0 ? -ENODATA : 0;
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

struct relative {
	pid_t pid, parent;
};

struct family {
	struct relative *v;
	size_t n, cap;
};

static int add_relative(void *ctx, pid_t pid)
{
	struct family *f = ctx;
	pid_t parent;

	if (proc_ppid(pid, &parent))
		return 0;
	if (grow_table(f->v, f->n, f->cap, 256))
		return -ENOMEM;
	f->v[f->n++] = (struct relative){.pid = pid, .parent = parent};
	return 0;
}

/*
 * Moves the descendants to the front, parents before children; each comes once, also when PIDs that
 * were re-used meanwhile make a ring. Returns how many.
 */
static size_t gather(struct family *f, pid_t root)
{
	size_t n = 0;

	for (size_t next = 0; next <= n; next++) {
		pid_t parent = next ? f->v[next - 1].pid : root;

		for (size_t i = n; i < f->n; i++) {
			struct relative r = f->v[i];

			if (r.parent != parent || r.pid == root)
				continue;
			f->v[i] = f->v[n];
			f->v[n++] = r;
		}
	}
	return n;
}

int proc_for_each_descendant(pid_t pid, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct family f = {0};
	int ret = proc_for_each(add_relative, &f);
	size_t n = ret ? 0 : gather(&f, pid);

	for (size_t i = 0; i < n && !ret; i++)
		ret = fn(ctx, f.v[i].pid);
	free(f.v);
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

pid_t procread_living_thread(pid_t pid)
{
	char dir[64];
	pid_t tid = 0;

	snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	for_each_number(dir, first_alive, &tid);
	return tid;
}

bool proc_is_stopped(pid_t pid)
{
	char state;

	return !stat_field(pid, 3, &state, NULL) && state == 'T';
}

bool proc_is_zombie(pid_t pid)
{
	char state;
	int err = stat_field(pid, 3, &state, NULL);

	if (err) /* gone; any other error says nothing about the process */
		return err == -ESRCH;
	return (state == 'Z' || state == 'X') && !procread_living_thread(pid);
}

bool proc_is_kernel_thread(pid_t pid)
{
	uint64_t flags;

	return !stat_field(pid, 9, NULL, &flags) && flags & PF_KTHREAD;
}
