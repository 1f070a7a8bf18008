// SPDX-License-Identifier: GPL-2.0-only
#include "live/multi_link.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MULTI_RETURN 1 /* BPF_F_UPROBE_MULTI_RETURN */

/* The part of union bpf_attr for BPF_LINK_CREATE that older headers lack. */
struct link_create_attr {
	__u32 prog_fd;
	__u32 target_fd;
	__u32 attach_type;
	__u32 link_flags;
	__u64 path;
	__u64 offsets;
	__u64 ref_ctr_offsets;
	__u64 cookies;
	__u32 cnt;
	__u32 flags;
	__u32 pid; /* 0 = every process */
	__u32 pad;
};

_Static_assert(sizeof(struct link_create_attr) == 64, "layout of the kernel's interface");

int uprobe_multi_link(int prog_fd, const char *path, const uint64_t *offsets,
		      const uint64_t *cookies, unsigned int cnt, bool ret)
{
	struct link_create_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_fd = (__u32)prog_fd;
	attr.attach_type = ATTACH_UPROBE_MULTI;
	attr.path = (uintptr_t)path;
	attr.offsets = (uintptr_t)offsets;
	attr.cookies = (uintptr_t)cookies;
	attr.cnt = cnt;
	attr.flags = ret ? MULTI_RETURN : 0;
	fd = syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}
