// SPDX-License-Identifier: GPL-2.0-only
#include "live/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/entry.h"
#include "discover/elfsym.h"
#include "util/cleanup.h"
#include "util/grow.h"
#include "util/hash.h"
#include "util/log.h"
#include "util/map.h"
#include "util/str.h"

/* So many executable files are remembered, libraries and all: some 100 MB. */
#define FILES_MAX (1u << 18)

struct file {
	dev_t dev;
	ino_t ino;
	struct timespec ctime; /* of a file without probes: its inode may be used again */
	enum file_state state;
	bool by_name; /* see files_by_name() */
	bool linked;  /* has probes, or was to have some: they keep the inode */
	int fd;	      /* of a probed file, -1 = none */
	size_t next;  /* number of another one with the same key, 0 = none */
	char *about;
	struct attach_point stamp; /* the return of create_stamp, watched only at first */
	bool has_stamp;
	uint64_t entries[PLAN_MAX]; /* offsets of the entry probes */
	size_t n_entries;
};

struct files {
	struct files_config cfg;
	struct file *v;
	size_t n, cap;
	size_t loaders; /* of them, dynamic loaders */
	size_t max;
	bool full;	     /* told: there are too many */
	struct map by_inode; /* key_of() -> number of the newest, from 1 */
	bool stamps_off;     /* the returns of create_stamp are not watched now */
};

static size_t max_files(void)
{
	const char *text = getenv(FILES_MAX_ENV);
	long n = text ? strtol(text, NULL, 10) : 0;

	return n > 0 && n < FILES_MAX ? (size_t)n : FILES_MAX;
}

int files_new(const struct files_config *cfg, struct files **out)
{
	struct files *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->cfg = *cfg;
	f->max = max_files();
	*out = f;
	return 0;
}

void files_free(struct files *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].about);
		if (f->v[i].fd >= 0)
			close(f->v[i].fd);
	}
	map_free(&f->by_inode);
	free(f->v);
	free(f);
}

static uint64_t key_of(dev_t dev, ino_t ino)
{
	const uint64_t id[2] = {dev, ino};

	return hash_bytes(0, id, sizeof(id));
}

/* Keys can be made to collide: what has the same key is a list. */
static struct file *find(struct files *f, const struct stat *st)
{
	struct file *x;

	for (size_t i = map_get(&f->by_inode, key_of(st->st_dev, st->st_ino)); i; i = x->next) {
		x = &f->v[i - 1];
		if (x->dev == st->st_dev && x->ino == st->st_ino)
			return x;
	}
	return NULL;
}

/* The number of a file that is gone is used again, and a file may be written anew. */
static bool is_current(const struct file *x, const struct stat *st)
{
	return x->linked || !memcmp(&x->ctime, &st->st_ctim, sizeof(x->ctime));
}

/* Looked at again as if it were new: nobody can make the table grow by touching a file. */
static void renew(struct file *x, const struct stat *st)
{
	size_t next = x->next;

	free(x->about);
	*x = (struct file){.dev = st->st_dev, .ino = st->st_ino, .ctime = st->st_ctim, .fd = -1};
	x->next = next;
}

static int list(struct files *f, size_t i)
{
	uint64_t key = key_of(f->v[i].dev, f->v[i].ino);

	f->v[i].next = map_get(&f->by_inode, key);
	return map_set(&f->by_inode, key, i + 1);
}

/* Makes room: those without functions are looked at again when they are met again. */
static int forget_plain(struct files *f)
{
	size_t kept = 0;
	int err = 0;

	map_free(&f->by_inode);
	for (size_t i = 0; i < f->n; i++) {
		if (f->v[i].linked || f->v[i].state == FILE_FAILED)
			f->v[kept++] = f->v[i];
		else
			free(f->v[i].about);
	}
	f->n = kept;
	for (size_t i = 0; i < kept && !err; i++)
		err = list(f, i);
	f->full = kept > f->max / 2;
	if (f->full)
		log_warn("%zu files have traced functions: calls of further ones are not seen",
			 kept);
	return err;
}

static int add(struct files *f, const struct stat *st, struct file **out)
{
	struct file *x;
	int err = 0;

	if (f->n >= f->max && !f->full)
		err = forget_plain(f);
	if (err || f->full)
		return err ?: -ENOSPC;
	if (grow_table(f->v, f->n, f->cap, 64))
		return -ENOMEM;
	x = &f->v[f->n];
	*x = (struct file){0};
	renew(x, st);
	err = list(f, f->n);
	f->n += !err;
	*out = x;
	return err;
}

/* What attach reports points it could not probe to. */
struct refusals {
	const struct probe *probes;
	struct str *about;
	const char *path;
};

static void refused(void *ctx, size_t i, int err)
{
	struct refusals *r = ctx;
	const struct probe *p = &r->probes[i];
	char why[LOG_ERROR_MAX], path[PATH_MAX];

	log_error_text(err, why);
	log_warn("cannot probe %s in '%s': %s", entry_name(p->func), r->path, why);
	log_safe(r->path, strlen(r->path), path, sizeof(path));
	str_printf(r->about, "%s\t%s refused by the kernel: %s\n", path, entry_name(p->func), why);
}

static int attach_probes(struct files *f, int fd, enum attach_prog prog, const struct probe *p,
			 size_t n, struct refusals *r)
{
	struct attach_point points[PLAN_MAX];

	for (size_t i = 0; i < n; i++)
		points[i] = (struct attach_point){p[i].offset, p[i].cookie};
	r->probes = p;
	return attach_points(f->cfg.attach, prog, GROUP_KEEP, fd, points, n, refused, r);
}

static void ignore_refusal(void *ctx, size_t i, int err)
{
	(void)ctx;
	(void)i;
	(void)err;
}

/* A link of its own, since it is removed when stamps are known to be fine. */
static void attach_stamp(struct files *f, const struct file *x, int fd)
{
	if (x->has_stamp && !f->stamps_off)
		attach_points(f->cfg.attach, ATTACH_LEAVE, GROUP_STAMP, fd, &x->stamp, 1,
			      ignore_refusal, NULL);
}

void files_watch_stamps(struct files *f, bool on)
{
	if (f->stamps_off != on)
		return;
	f->stamps_off = !on;
	if (!on) {
		attach_drop(f->cfg.attach, GROUP_STAMP);
		return;
	}
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].fd >= 0)
			attach_stamp(f, &f->v[i], f->v[i].fd);
}

/* Takes the return of create_stamp out of the plan, unless it was asked for. */
static void split_stamp(const struct files *f, struct plan *plan, struct file *x)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->n_leave; i++) {
		const struct probe *p = &plan->leave[i];

		if (entry_get(p->func)->use == USE_STAMP && !f->cfg.plan.lifecycle) {
			x->stamp = (struct attach_point){p->offset, p->cookie};
			x->has_stamp = true;
		} else {
			plan->leave[kept++] = *p;
		}
	}
	plan->n_leave = kept;
}

static int attach_functions(struct files *f, struct file *x, int fd, const struct elf_scan *scan,
			    const char *path, struct str *about)
{
	struct plan plan;
	struct refusals r = {NULL, about, path};
	int leave, entry;

	plan_make(&f->cfg.plan, scan, fd, &plan);
	plan_describe(&plan, scan, path, about);
	split_stamp(f, &plan, x);
	attach_stamp(f, x, fd);
	/* Returns first: a start whose return is not seen would be lost, the reverse is harmless.
	 */
	leave = attach_probes(f, fd, ATTACH_LEAVE, plan.leave, plan.n_leave, &r);
	entry = leave < 0 ? leave
			  : attach_probes(f, fd, ATTACH_ENTRY, plan.entry, plan.n_entry, &r);
	if (entry < 0)
		return entry;
	x->state = entry			      ? FILE_PROBED
		   : plan.n_entry || !plan.n_forwards ? FILE_FAILED
						      : FILE_PLAIN;
	for (size_t i = 0; i < plan.n_entry; i++)
		x->entries[x->n_entries++] = plan.entry[i].offset;
	log_verbose("probed %d entries and %d returns in '%s'", entry, leave, path);
	return 0;
}

static void loader_refused(void *ctx, size_t i, int err)
{
	char why[LOG_ERROR_MAX];

	(void)i;
	log_warn("cannot watch the dynamic loader '%s': %s: libraries loaded late may be seen late",
		 (const char *)ctx, log_error_text(err, why));
}

static int attach_loader(struct files *f, int fd, const struct elf_scan *scan, const char *path)
{
	struct attach_point p = {scan->dl_debug_state, (uint64_t)scan->r_debug_delta};
	char name[256];
	int n;

	strncpy(name, path, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	n = attach_points(f->cfg.attach, ATTACH_LOADED, GROUP_KEEP, fd, &p, 1, loader_refused,
			  name);
	f->loaders += n > 0;
	return n < 0 ? n : 0;
}

static int look_new(struct files *f, struct file *x, int fd, const char *path)
{
	struct elf_scan *scan = malloc(sizeof(*scan));
	_str_ struct str about = {0};
	int err = scan ? elfsym_scan(fd, scan) : -ENOMEM;

	x->by_name = !err && scan->by_name;
	x->linked = !err && (scan->n_found || scan->dl_debug_state);
	if (!err && scan->n_found)
		err = attach_functions(f, x, fd, scan, path, &about);
	if (!err && scan->dl_debug_state)
		err = attach_loader(f, fd, scan, path);
	if (!err && x->linked)
		x->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	/* Not to be taken for one without functions at the next look. */
	if (err == -ENOMEM || (err && scan->n_found))
		x->state = FILE_FAILED;
	free(scan);
	x->about = str_take(&about);
	return err;
}

int files_look(struct files *f, int fd, const char *path)
{
	struct stat st;
	struct file *x;
	int err = 0;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return FILE_PLAIN;
	x = find(f, &st);
	if (x && is_current(x, &st))
		return x->state;
	if (x)
		renew(x, &st);
	else
		err = add(f, &st, &x);
	if (err)
		return err;
	err = look_new(f, x, fd, path);
	return err ? err : (int)x->state;
}

int files_look_path(struct files *f, const char *path)
{
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int state = fd < 0 ? -errno : files_look(f, fd, path);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISDIR(st.st_mode))
		state = -EISDIR;
	if (state == -ENOEXEC)
		return log_fail(state, "cannot look in '%s': not an ELF file", path);
	if (state == -ENOTSUP)
		return log_fail(state, "cannot look in '%s': 32-bit or of another processor", path);
	if (state < 0)
		return log_err(state, "cannot look in '%s'", path);
	if (state == FILE_PLAIN)
		log_warn("'%s' has none of the traced functions", path);
	return 0;
}

size_t files_ineffective(struct files *f, const struct proc_file *pf, size_t *all, const char **why)
{
	const struct file *x = NULL;
	struct stat st;
	size_t n = 0;

	*all = 0;
	if (!fstat(pf->fd, &st))
		x = find(f, &st);
	if (!x)
		return 0;
	*all = x->n_entries;
	for (size_t i = 0; i < x->n_entries; i++) {
		const char *problem = proc_text_problem(pf, x->entries[i]);

		if (problem) {
			*why = problem;
			n++;
		}
	}
	return n;
}

bool files_by_name(struct files *f, const struct proc_file *pf)
{
	struct stat st;
	const struct file *x = fstat(pf->fd, &st) ? NULL : find(f, &st);

	return x && x->by_name;
}

size_t files_probed(const struct files *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += f->v[i].state == FILE_PROBED;
	return n;
}

size_t files_loaders(const struct files *f)
{
	return f->loaders;
}

int files_describe(const struct files *f, struct str *text)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].about)
			str_puts(text, f->v[i].about);
	return text->err;
}
