// SPDX-License-Identifier: GPL-2.0-only
/*
 * May only write, read, sleep and exit: any other system call kills it. Calls before and after.
 * Prints "survived" in the end.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "truth.h"

#define ALLOW(nr)                                                                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1),                                           \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(__NR_write),
		ALLOW(__NR_read),
		ALLOW(__NR_exit_group),
		ALLOW(__NR_clock_nanosleep),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog prog = {sizeof(filter) / sizeof(*filter), filter};
	void *stamp;
	uint32_t id;

	wait_for_test();
	stamp = checked_stamp("confined", 8);
	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
	must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0), "seccomp");
	for (int i = 0; i < 5; i++) {
		must(!aclprofMark(stamp), "mark");
		must(!aclprofPush(stamp) && !aclprofPop(), "push and pop");
		must(!aclprofRangeStart(stamp, &id) && !aclprofRangeStop(id), "start and stop");
	}
	must(write(1, "survived\n", 9) == 9, "write");
	_exit(0);
}
