/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regular files whose path somebody else may have chosen. What it leads to is looked at before it
 * is opened: to open a device does things (a tape winds, a watchdog starts), and a FIFO blocks.
 */
#ifndef ACLTAP_UTIL_REGULAR_H
#define ACLTAP_UTIL_REGULAR_H

/* Opens it for reading, O_CLOEXEC. A descriptor or -errno: -EISDIR; -EINVAL when it is no file. */
int regular_open(const char *path);
/* The same of what an O_PATH descriptor stands for, which stays the caller's. */
int regular_reopen(int path_fd);

#endif
