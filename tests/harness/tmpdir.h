/* SPDX-License-Identifier: GPL-2.0-only */
/* A temporary directory per test, and whole files as texts. Failures end the test. */
#ifndef ACLTAP_TEST_TMPDIR_H
#define ACLTAP_TEST_TMPDIR_H

#include <stddef.h>

/* cmocka set-up and tear-down; the state is the path of the directory. */
int tmpdir_setup(void **state);
int tmpdir_teardown(void **state);

/* "dir/name" in a buffer that lives until the 8th call after. */
const char *tmpdir_path(void **state, const char *name);

/* Content of a file, terminated, to be freed; *sz may be NULL. */
char *slurp(const char *path, size_t *sz);
void spew(const char *path, const void *data, size_t sz);

/* Number of entries of a directory, hidden ones counted as well. */
int dir_entries(const char *path);

#endif
