/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The map of what may be done to a process when its mappings change (enum stop_state), from user
 * space's side. The probes change it as well: see bpf/loader.bpf.h and follow.bpf.c.
 */
#ifndef ACLTAP_LIVE_STOPS_H
#define ACLTAP_LIVE_STOPS_H

#include <stdint.h>
#include <sys/types.h>

#include "live/bpfload.h"

/* How the process is held for us: STOP_SENT, STOP_WAIT, or 0 when it is not. */
enum stop_state stops_held(const struct bpf *b, pid_t pid);

/* how: BPF_ANY, BPF_EXIST or BPF_NOEXIST. */
void stops_set(const struct bpf *b, pid_t pid, enum stop_state state, uint64_t how);
void stops_forget(const struct bpf *b, pid_t pid);

/* That program file needs no stop at exec; its processes begin with that state. */
void stops_know_exe(const struct bpf *b, int exe_fd, enum stop_state state);

#endif
