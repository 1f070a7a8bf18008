/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many descriptors may be open: the soft limit is often 1024, for programs that use select().
 * acltap does not, and needs some for each probed or merged file.
 */
#ifndef ACLTAP_UTIL_NOFILE_H
#define ACLTAP_UTIL_NOFILE_H

#include <sys/resource.h>

#define NOFILE_MAX 65536

/*
 * Raises the soft limit to the hard one, at most to NOFILE_MAX; what was higher stays. Gives how it
 * was, for a program that is executed; was may be NULL. What cannot be is left as it is.
 */
void nofile_raise(struct rlimit *was);

#endif
