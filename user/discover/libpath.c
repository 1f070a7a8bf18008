// SPDX-License-Identifier: GPL-2.0-only
#include "discover/libpath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Files that export the API; column "exported by" of the vendor's reference. */
static const char *const names[] = {"libmsprofiler.so", "libascendcl.so"};

static const char *const vendor_dirs[] = {
	"/usr/local/Ascend/ascend-toolkit/latest/lib64",
	"/usr/local/Ascend/cann/lib64",
	"/usr/local/Ascend/latest/lib64",
};

static const char *const home_dirs[] = {
	"/Ascend/ascend-toolkit/latest/lib64",
	"/Ascend/cann/lib64",
	"/Ascend/latest/lib64",
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* ---- the command ---- */

static int runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode) || access(path, X_OK))
		return -EACCES;
	return 0;
}

static int keep(const char *path, char **out)
{
	*out = strdup(path);
	return *out ? 0 : -ENOMEM;
}

int libpath_find_command(const char *name, char **out)
{
	const char *path = getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin";
	int best = -ENOENT, err;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/')) {
		err = runnable(name);
		return err ? err : keep(name, out);
	}
	for (const char *p = path; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		size_t len = strcspn(p, ":");
		char file[PATH_MAX];

		/* An empty entry is the current directory. */
		if (snprintf(file, sizeof(file), "%.*s%s%s", (int)len, p, len ? "/" : "./", name) >=
		    (int)sizeof(file))
			continue;
		err = runnable(file);
		if (!err)
			return keep(file, out);
		if (err == -EACCES)
			best = -EACCES; /* as execvp(): go on looking, remember why */
	}
	return best;
}

/* ---- the library ---- */

struct search {
	int (*fn)(void *ctx, const char *path);
	void *ctx;
};

static int try_dir(const struct search *s, const char *dir, size_t len, const char *below)
{
	int ret = 0;

	for (size_t i = 0; i < N(names) && !ret && len; i++) {
		char path[PATH_MAX];
		int n = snprintf(path, sizeof(path), "%.*s%s/%s", (int)len, dir, below, names[i]);

		if (n < (int)sizeof(path))
			ret = s->fn(s->ctx, path);
	}
	return ret;
}

/* As in LD_LIBRARY_PATH: colons or semicolons between; an empty name is the current folder. */
static int try_list(const struct search *s, const char *list)
{
	int ret = 0;

	if (!*list)
		return 0;
	for (;;) {
		size_t len = strcspn(list, ":;");

		ret = len ? try_dir(s, list, len, "") : try_dir(s, ".", 1, "");
		list += len;
		if (ret || !*list++)
			return ret;
	}
}

static const char *env_get(char **env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (!strncmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static int try_env(const struct search *s, char **env)
{
	static const char *const homes[] = {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"};
	const char *list = env_get(env, "LD_LIBRARY_PATH");
	const char *home = env_get(env, "HOME");
	int ret = list ? try_list(s, list) : 0;

	for (size_t i = 0; i < N(homes) && !ret; i++) {
		const char *dir = env_get(env, homes[i]);

		if (dir)
			ret = try_dir(s, dir, strlen(dir), "/lib64");
	}
	for (size_t i = 0; i < N(home_dirs) && !ret && home; i++)
		ret = try_dir(s, home, strlen(home), home_dirs[i]);
	return ret;
}

/*
 * /etc/ld.so.cache, new format: a header, entries of {flags, key, value, osversion, hwcap} and the
 * strings, at offsets from the header's begin (ldconfig's dl-cache.h documents it). It may follow
 * an old-format part, aligned to 8.
 */
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define CACHE_LIMIT (64u << 20)

struct cache_header {
	char magic[20];
	uint32_t n;
	uint32_t strings_len;
	uint32_t unused[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t key, value;
	uint32_t osversion;
	uint64_t hwcap;
};

static const char *cache_string(const char *base, size_t len, uint32_t at)
{
	return at < len && memchr(base + at, '\0', len - at) ? base + at : NULL;
}

int libpath_cache_each(const char *text, size_t len,
		       int (*fn)(void *ctx, const char *name, const char *path), void *ctx)
{
	const char *base = memmem(text, len, CACHE_MAGIC, strlen(CACHE_MAGIC));
	struct cache_header h;
	int ret = 0;

	len = base ? len - (size_t)(base - text) : 0;
	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, base, sizeof(h));
	if ((len - sizeof(h)) / sizeof(struct cache_entry) < h.n)
		return -EBADMSG;
	for (uint32_t i = 0; i < h.n && !ret; i++) {
		struct cache_entry e;
		const char *name, *path;

		memcpy(&e, base + sizeof(h) + i * sizeof(e), sizeof(e));
		name = cache_string(base, len, e.key);
		path = cache_string(base, len, e.value);
		if (name && path)
			ret = fn(ctx, name, path);
	}
	return ret;
}

static int try_cached(void *ctx, const char *name, const char *path)
{
	const struct search *s = ctx;

	for (size_t i = 0; i < N(names); i++)
		if (!strcmp(name, names[i]))
			return s->fn(s->ctx, path);
	return 0;
}

static int try_cache(struct search *s)
{
	_fd_ int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
	_free_ char *text = NULL;
	struct stat st;
	size_t len;
	int ret;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 || st.st_size > CACHE_LIMIT)
		return 0;
	len = (size_t)st.st_size;
	text = malloc(len);
	if (!text)
		return -ENOMEM;
	if (pread(fd, text, len, 0) != (ssize_t)len)
		return 0;
	ret = libpath_cache_each(text, len, try_cached, s);
	return ret == -EBADMSG ? 0
			       : ret; /* an unknown format: other C libraries have none at all */
}

int libpath_for_each(char **env, int (*fn)(void *ctx, const char *path), void *ctx)
{
	struct search s = {fn, ctx};
	int ret = try_env(&s, env);

	ret = ret ?: try_cache(&s);
	for (size_t i = 0; i < N(vendor_dirs) && !ret; i++)
		ret = try_dir(&s, vendor_dirs[i], strlen(vendor_dirs[i]), "");
	return ret;
}

bool libpath_sudo_lost_environment(void)
{
	return getenv("SUDO_UID") && !getenv("LD_LIBRARY_PATH") && !getenv("ASCEND_HOME_PATH") &&
	       !getenv("ASCEND_TOOLKIT_HOME");
}
