// SPDX-License-Identifier: GPL-2.0-only
#include "live/prelook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "discover/elfsym.h"
#include "discover/libpath.h"
#include "discover/proc.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/regular.h"

static int look_quietly(void *ctx, const char *path)
{
	_fd_ int fd = regular_open(path);

	if (fd >= 0)
		files_look(ctx, fd, path);
	return 0;
}

/* The usual dynamic loaders, since the command may start programs that use another. */
static const char *const loaders[] = {
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/ld-linux-aarch64.so.1",
	"/lib/ld-musl-x86_64.so.1",
	"/lib/ld-musl-aarch64.so.1",
};

/* The dynamic loader that the program names, as seen from here: the command starts here too. */
static void look_at_loader(struct files *files, int exe_fd)
{
	struct elf_scan *scan = malloc(sizeof(*scan));

	if (scan && !elfsym_scan(exe_fd, scan) && *scan->interp == '/')
		look_quietly(files, scan->interp);
	free(scan);
}

struct root {
	struct files *files;
	pid_t pid;
};

static int look_in_root(void *ctx, const char *path)
{
	const struct root *r = ctx;
	_fd_ int fd = *path == '/' ? proc_open_in_root(r->pid, path) : -ENOENT;

	if (fd >= 0)
		files_look(r->files, fd, path);
	return 0;
}

/* The text of an environment as an array of pointers into it. */
static char **split(char *text, size_t len)
{
	size_t n = 0;
	char **v;

	for (size_t i = 0; i < len; i++)
		n += !text[i];
	v = calloc(n + 2, sizeof(*v));
	for (size_t i = 0, at = 0; v && at < len; at += strlen(text + at) + 1)
		v[i++] = text + at;
	return v;
}

void prelook_root(struct files *files, pid_t pid)
{
	struct root r = {files, pid};
	_free_ char *text = NULL;
	_free_ char **env = NULL;
	size_t len;

	if (proc_environ(pid, &text, &len))
		return;
	env = split(text, len);
	if (env)
		libpath_for_each(env, look_in_root, &r);
}

void prelook_here(struct files *files)
{
	libpath_for_each(environ, look_quietly, files);
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		look_quietly(files, loaders[i]);
}

void prelook(struct files *files, struct procs *procs, const char *exe)
{
	_fd_ int fd = regular_open(exe);
	int err;

	prelook_here(files);
	err = fd < 0 ? fd : files_look(files, fd, exe);
	if (err == -ENOTSUP)
		log_warn("cannot trace '%s': 32-bit or of another processor", exe);
	if (err < 0)
		return; /* a script: its interpreter is looked at when it starts */
	look_at_loader(files, fd);
	procs_know_exe(procs, fd, STOP_ARMED);
}
