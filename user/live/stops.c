// SPDX-License-Identifier: GPL-2.0-only
#include "live/stops.h"

#include <bpf/bpf.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum stop_state stops_held(const struct bpf *b, pid_t pid)
{
	uint32_t tgid = (uint32_t)pid, state;

	if (bpf_map_lookup_elem(b->stops_fd, &tgid, &state))
		return 0;
	return state == STOP_SENT || state == STOP_WAIT ? state : 0;
}

void stops_set(const struct bpf *b, pid_t pid, enum stop_state state, uint64_t how)
{
	uint32_t tgid = (uint32_t)pid, value = state;

	bpf_map_update_elem(b->stops_fd, &tgid, &value, how);
}

void stops_forget(const struct bpf *b, pid_t pid)
{
	uint32_t tgid = (uint32_t)pid;

	bpf_map_delete_elem(b->stops_fd, &tgid);
}

void stops_know_exe(const struct bpf *b, int exe_fd, enum stop_state state)
{
	struct exe_key key = {0};
	uint32_t value = state;
	struct stat st;

	if (fstat(exe_fd, &st))
		return;
	key.ino = st.st_ino;
	key.dev = (uint32_t)(major(st.st_dev) << 20 | minor(st.st_dev));
	bpf_map_update_elem(b->known_exes_fd, &key, &value, BPF_ANY);
}
