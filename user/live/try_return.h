/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does this kernel kill programs with a seccomp filter at a return probe? On x86-64 a return probe
 * is a system call since 6.11, which filters did not let through before 6.14 and its stable
 * companions. Tried on a child of ours.
 */
#ifndef ACLTAP_LIVE_TRY_RETURN_H
#define ACLTAP_LIVE_TRY_RETURN_H

#include <stdbool.h>

/* May the running kernel be one of those? Then trying is worth its 0.1 s. */
bool try_return_is_needed(void);

/*
 * prog_fd is an empty program for uprobe_multi links, which such kernels have. Returns 0: return
 * probes are harmless; -EPERM: a filtered program dies; another -errno: not known.
 */
int try_return(int prog_fd);

#endif
