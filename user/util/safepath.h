/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where files are created, and read again: never through a symbolic link that others could place,
 * so that nobody can redirect what a privileged acltap writes. That is one in a directory that
 * anybody can write to, or that belongs to neither root nor the user acltap works for; where root's
 * rights are used for a user (privs.h), one in any directory but root's. A group that may write to
 * the directory is trusted as its owner is. Descriptors are O_CLOEXEC.
 */
#ifndef ACLTAP_UTIL_SAFEPATH_H
#define ACLTAP_UTIL_SAFEPATH_H

#include <stdbool.h>

/*
 * Opens the directory of path (O_PATH) and gives the last component (to be freed), to be used with
 * openat() and the like. -ELOOP: a link as above, or too many; -EISDIR: path names a directory.
 */
int safepath_dir(const char *path, int *dirfd, char **base);

/*
 * Creates a regular file in dirfd for writing, O_EXCL. What exists under that name is -EEXIST, or
 * with overwrite replaced: -ELOOP for a link, -EISDIR for a directory, -EINVAL for what is no file.
 */
int safepath_create(int dirfd, const char *base, bool overwrite);

/* Opens for reading what acltap has created: as regular_open(), but -ELOOP for a link as above. */
int safepath_open(const char *path);

/* Removes the file of that path; the links above are not followed either. 0 or -errno. */
int safepath_remove(const char *path);

/* Creates ".<base>.XXXXXX" in dirfd for reading and writing; its name (to be freed) in *name. */
int safepath_temp(int dirfd, const char *base, char **name);

/*
 * A file without a name in the directory of path ("-" or NULL: in /var/tmp or /tmp), for reading
 * and writing; it vanishes when closed, whatever happens. Returns the descriptor or -errno.
 */
int safepath_scratch(const char *path);

#endif
