// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/outputs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/owner.h"
#include "store/capture.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/privs.h"
#include "util/safepath.h"

#define VENDOR_DIR "mindstudio_profiler_output"

static bool is_capture_path(const char *path)
{
	size_t n = strlen(path), s = strlen(CAPTURE_SUFFIX);

	return n > s && !strcmp(path + n - s, CAPTURE_SUFFIX);
}

static int add_output(struct outputs *o, const struct sink_ops *ops, char *path, bool sliced)
{
	struct output *v = path ? realloc(o->v, (o->n + 1) * sizeof(*v)) : NULL;

	if (!v) {
		free(path);
		return -ENOMEM;
	}
	o->v = v;
	o->v[o->n++] = (struct output){.ops = ops, .path = path, .held = -1, .sliced = sliced};
	return 0;
}

__attribute__((format(printf, 1, 2))) static char *path_of(const char *fmt, ...)
{
	va_list ap;
	char *p = NULL;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&p, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : p;
}

/* Empty but for "." and "..": 1; 0 when not; -errno. */
static int is_empty_dir(int fd)
{
	_fd_ int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = own < 0 ? NULL : fdopendir(own);
	const struct dirent *e;
	int ret = 1;

	if (!d)
		return -errno;
	take_fd(&own);
	while (ret && (e = readdir(d)))
		ret = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	closedir(d);
	return ret;
}

static int open_new_dir(const char *path)
{
	_fd_ int parent = -1;
	_free_ char *base = NULL;
	int err = safepath_dir(path, &parent, &base), fd;

	if (err)
		return err;
	if (mkdirat(parent, base, 0755) && errno != EEXIST)
		return -errno;
	fd = openat(parent, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int make_empty_dir(const char *path)
{
	_fd_ int fd = open_new_dir(path);
	int err;

	if (fd < 0)
		return log_err(fd, "cannot create the output directory '%s'", path);
	err = is_empty_dir(fd);
	if (err < 0)
		return log_err(err, "cannot read the output directory '%s'", path);
	if (!err) {
		log_fail(-ENOTEMPTY, "the output directory '%s' is not empty", path);
		log_hint("name a new one, or a file with a known suffix: " SINK_SUFFIXES);
		return -ENOTEMPTY;
	}
	if (mkdirat(fd, VENDOR_DIR, 0755))
		return log_err(-errno, "cannot create '%s/" VENDOR_DIR "'", path);
	return 0;
}

/* A file of the output directory, when this build has the format; the viewer wants csv sliced. */
static int add_to_dir(struct outputs *o, const char *format, char *path)
{
	const struct sink_ops *ops = sink_by_name(format);

	int err = 0;

	if (!ops)
		free(path);
	else
		err = add_output(o, ops, path, ops == &sink_csv);
	if (ops && !err)
		o->v[o->n - 1].in_dir = true;
	return err;
}

/* The layout that the vendor's viewer opens as it is. */
static int plan_dir(struct outputs *o, char *dir, const char *stamp)
{
	int err;

	if (!dir)
		return -ENOMEM;
	for (size_t n = strlen(dir); n > 1 && dir[n - 1] == '/'; n--) /* as shells complete it */
		dir[n - 1] = '\0';
	o->dir = dir;
	o->capture = path_of("%s/capture" CAPTURE_SUFFIX, dir);
	o->keep_capture = true;
	err = o->capture ? 0 : -ENOMEM;
	if (!err)
		err = add_to_dir(o, "db", path_of("%s/msprof_%s.db", dir, stamp));
	if (!err)
		err = add_to_dir(o, "csv",
				 path_of("%s/" VENDOR_DIR "/msprof_tx_%s.csv", dir, stamp));
	if (!err)
		err = add_to_dir(o, "json",
				 path_of("%s/" VENDOR_DIR "/msprof_tx_%s.json", dir, stamp));
	return err;
}

static void time_stamp(char *buf, size_t sz)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(buf, sz, "%Y%m%d%H%M%S", &tm);
}

static int refuse_not_built(const char *path, const char *package)
{
	log_fail(-ENOTSUP, "cannot write '%s': this build of acltap lacks the format", path);
	log_hint("install %s and build acltap again", package);
	return -ENOTSUP;
}

/* x.CSV would be a directory of that name. */
static bool is_upper_suffix(const char *path)
{
	const char *dot = strrchr(path, '.');
	char lower[16];
	size_t n = 0;

	for (; dot && dot[n] && n < sizeof(lower) - 1; n++)
		lower[n] = (char)tolower((unsigned char)dot[n]);
	lower[n] = '\0';
	return sink_by_path(lower) || !strcmp(lower, CAPTURE_SUFFIX);
}

static int plan_one(struct outputs *o, const char *path, const char *stamp, bool want_capture)
{
	const struct sink_ops *ops = strcmp(path, "-") ? sink_by_path(path) : sink_by_name("tsv");
	const char *package = sink_not_built(path);

	if (is_capture_path(path)) {
		if (o->keep_capture)
			return log_fail(-EINVAL, "only one capture can be written, not '%s' too",
					path);
		free(o->capture);
		o->capture = strdup(path);
		o->keep_capture = true;
		return o->capture ? 0 : -ENOMEM;
	}
	if (package)
		return refuse_not_built(path, package);
	if (ops)
		return add_output(o, ops, strdup(path), false);
	if (is_upper_suffix(path)) {
		log_fail(-EINVAL, "'%s' has none of the known suffixes " SINK_SUFFIXES, path);
		log_hint("they are lower case");
		return -EINVAL;
	}
	if (!want_capture)
		return log_fail(-EINVAL, "'%s' has none of the known suffixes " SINK_SUFFIXES,
				path);
	if (o->dir)
		return log_fail(-EINVAL, "only one output directory, not '%s' too", path);
	if (o->keep_capture)
		return log_fail(-EINVAL, "the directory '%s' has its own capture", path);
	return plan_dir(o, strdup(path), stamp);
}

/* Also where only root may look. */
static bool exists(const char *path, struct stat *st)
{
	int err = lstat(path, st);

	if (err && errno == EACCES) {
		bool was = privs_as_owner(false);

		err = lstat(path, st);
		privs_as_owner(was);
	}
	return !err;
}

static int refuse_existing(const struct outputs *o, bool want_capture, bool overwrite)
{
	_free_ char *older = NULL;
	struct stat st;

	if (overwrite)
		return 0;
	for (size_t i = 0; i < o->n; i++)
		if (strcmp(o->v[i].path, "-") && exists(o->v[i].path, &st) && S_ISREG(st.st_mode)) {
			log_err(-EEXIST, "cannot write '%s'", o->v[i].path);
			log_hint("-f overwrites");
			return -EEXIST;
		}
	if (!want_capture || !o->capture)
		return 0;
	older = path_of("%s" CAPTURE_OLDER, o->capture);
	if (!older)
		return -ENOMEM;
	/* A crash of --last can leave either name alone: both are the capture. */
	if (!exists(o->capture, &st) && !exists(older, &st))
		return 0;
	log_err(-EEXIST, "cannot write '%s'", exists(o->capture, &st) ? o->capture : older);
	log_hint("-f overwrites; 'acltap export %s' turns it into other formats", o->capture);
	return -EEXIST;
}

/* ---- can they be written? Asked before anything is recorded ---- */

/*
 * What lies under the name of a file to be. Returns 1 when it is written to as it is: a device or a
 * FIFO, where held is not NULL. That is opened, and stays so: else the FIFO's reader would see it
 * closed before anything was written.
 */
static int look_at_place(int dirfd, const char *base, int *held)
{
	struct stat st;
	int fd;

	if (fstatat(dirfd, base, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (!held || !(S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)))
		return -EINVAL;
	/* Of a FIFO: -ENXIO when nobody reads it, which a later open() would wait for. */
	fd = openat(dirfd, base, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (*held >= 0)
		close(*held);
	*held = fd;
	return 1;
}

static int check_dir(struct outputs *o, int dirfd)
{
	int err = privs_can_create(dirfd, false);

	if (!err && privs_can_create(dirfd, true))
		o->override = true;
	return err;
}

static int check_file(struct outputs *o, const char *path, int *held)
{
	_fd_ int dirfd = -1;
	_free_ char *base = NULL;
	int err = safepath_dir(path, &dirfd, &base);

	if (!err)
		err = look_at_place(dirfd, base, held);
	if (err)
		return err < 0 ? err : 0;
	return check_dir(o, dirfd);
}

/* The output directory: one that is there, or the one where it will be made. */
static int check_new_dir(struct outputs *o, const char *path)
{
	_fd_ int parent = -1, dirfd = -1;
	_free_ char *base = NULL;
	int err = safepath_dir(path, &parent, &base);

	if (err)
		return err;
	dirfd = openat(parent, base, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dirfd < 0 && errno != ENOENT)
		return -errno;
	return check_dir(o, dirfd < 0 ? parent : dirfd);
}

static void hint_links(int err)
{
	if (err == -ELOOP)
		log_hint("acltap does not write through symbolic links that others could place");
}

static int check_one(struct outputs *o, const char *path, int *held)
{
	return path == o->dir ? check_new_dir(o, path) : check_file(o, path, held);
}

/* What only root may write is written as root, and nothing else; then it belongs to root. */
static int check(struct outputs *o, const char *path, int *held, bool *as_root)
{
	int err = check_one(o, path, held);

	if (err == -EACCES && privs_for_user()) {
		bool was = privs_as_owner(false);

		err = check_one(o, path, held);
		privs_as_owner(was);
		*as_root = !err;
		if (!err)
			log_info("'%s' is written as root and belongs to root", path);
	}
	if (!err)
		return 0;
	log_err(err, "cannot write '%s'", path);
	if (err == -ENXIO)
		log_hint("nobody reads that FIFO: start its reader first");
	hint_links(err);
	return err;
}

static int check_all(struct outputs *o)
{
	int err = o->dir ? check(o, o->dir, NULL, &o->as_root) : 0;

	if (!err && !o->dir && o->capture)
		err = check(o, o->capture, NULL, &o->as_root);
	for (size_t i = 0; i < o->n && !err; i++) {
		struct output *out = &o->v[i];

		if (out->in_dir)
			out->as_root = o->as_root;
		else if (strcmp(out->path, "-"))
			err = check(o, out->path, &out->held, &out->as_root);
	}
	return err;
}

/* Does path b lead to the same file as path a, by another way or as it stands? */
static bool is_same_path(const char *a, const char *b)
{
	_fd_ int dir_a = -1, dir_b = -1;
	_free_ char *base_a = NULL, *base_b = NULL;
	struct stat st_a, st_b;

	if (!strcmp(a, b))
		return true;
	if (!strcmp(a, "-") || !strcmp(b, "-"))
		return false;
	return !safepath_dir(a, &dir_a, &base_a) && !safepath_dir(b, &dir_b, &base_b) &&
	       !strcmp(base_a, base_b) && !fstat(dir_a, &st_a) && !fstat(dir_b, &st_b) &&
	       st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino;
}

static int refuse_twice(const struct outputs *o)
{
	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < i; k++)
			if (is_same_path(o->v[i].path, o->v[k].path))
				return log_fail(-EINVAL, "'%s' is given twice", o->v[i].path);
	return 0;
}

bool outputs_enter(const struct outputs *o)
{
	return privs_as_owner(!o->as_root);
}

bool outputs_are_roots(const struct outputs *o)
{
	bool all = o->n && (o->as_root || !o->capture);

	for (size_t i = 0; i < o->n; i++)
		all &= o->v[i].as_root;
	return all;
}

static int make_dir(const struct outputs *o)
{
	bool was = outputs_enter(o);
	int err = make_empty_dir(o->dir);

	privs_as_owner(was);
	return err;
}

int outputs_plan(const struct outputs_opts *opts, bool want_capture, struct outputs *o)
{
	const struct opt_strings *paths = &opts->paths;
	char stamp[32];
	int err = 0;

	memset(o, 0, sizeof(*o));
	owner_decide(NULL); /* of commands that trace nothing */
	time_stamp(stamp, sizeof(stamp));
	for (size_t i = 0; i < paths->n && !err; i++)
		err = plan_one(o, paths->v[i], stamp, want_capture);
	if (!err && !paths->n && want_capture)
		err = plan_dir(o, path_of("PROF_%s_%d", stamp, getpid()), stamp);
	if (!err && want_capture && !o->capture) {
		const char *first = o->v[0].path;

		o->capture = strcmp(first, "-") ? path_of("%s" CAPTURE_SUFFIX, first)
						: path_of("acltap-%d" CAPTURE_SUFFIX, getpid());
		err = o->capture ? 0 : -ENOMEM;
	}
	err = err ?: refuse_twice(o);
	err = err ?: refuse_existing(o, want_capture, opts->sink.overwrite);
	err = err ?: check_all(o);
	return err || !o->dir ? err : make_dir(o);
}

int outputs_open(const struct outputs *o, struct sink_opts opts, struct fanout *f)
{
	for (size_t i = 0; i < o->n; i++) {
		bool was = privs_as_owner(!o->v[i].as_root);
		struct sink_opts own = opts;
		int err;

		own.slice_rows = o->v[i].sliced ? 1000000 : 0;
		err = fanout_add(f, o->v[i].ops, o->v[i].path, &own);
		privs_as_owner(was);
		if (err) {
			log_err(err, "cannot write '%s'", o->v[i].path);
			if (err == -EEXIST)
				log_hint("-f overwrites");
			hint_links(err);
			return err;
		}
	}
	return 0;
}

void outputs_remove_empty(const struct outputs *o)
{
	_free_ char *sub = o->dir ? path_of("%s/" VENDOR_DIR, o->dir) : NULL;
	bool was = outputs_enter(o);

	if (sub && !rmdir(sub))
		rmdir(o->dir);
	privs_as_owner(was);
}

void outputs_opts_free(struct outputs_opts *opts)
{
	opt_strings_free(&opts->paths);
}

void outputs_free(struct outputs *o)
{
	for (size_t i = 0; i < o->n; i++) {
		if (o->v[i].held >= 0)
			close(o->v[i].held);
		free(o->v[i].path);
	}
	free(o->v);
	free(o->dir);
	free(o->capture);
	memset(o, 0, sizeof(*o));
}
