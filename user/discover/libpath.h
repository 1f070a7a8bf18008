/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a command that is about to run will be found, and the library it will load: the paths that
 * the dynamic loader would try, and those where the vendor installs.
 */
#ifndef ACLTAP_DISCOVER_LIBPATH_H
#define ACLTAP_DISCOVER_LIBPATH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The file that execvp() would run. Returns 0 and a path (to be freed), -ENOENT when there is none,
 * -EACCES when it may not be executed.
 */
int libpath_find_command(const char *name, char **path);

/*
 * Calls fn with every path where a library of the vendor's may lie: on the paths of the environment
 * env (NULL-terminated), in /etc/ld.so.cache and in the vendor's usual folders. Whether there is
 * such a file is for fn to see; one may come under several names. fn returns 0 to go on.
 */
int libpath_for_each(char **env, int (*fn)(void *ctx, const char *path), void *ctx);

/*
 * The entries of an ld.so.cache (the format of glibc 2.2 and later) that is in memory, whatever the
 * bytes are: fn gets a library's name and path and returns 0 to go on. Returns 0, fn's value, or
 * -EBADMSG when it is no such cache. Pure.
 */
int libpath_cache_each(const char *text, size_t len,
		       int (*fn)(void *ctx, const char *name, const char *path), void *ctx);

/* Under sudo, and neither LD_LIBRARY_PATH nor an ASCEND_ variable survived it. */
bool libpath_sudo_lost_environment(void);

#endif
