// SPDX-License-Identifier: GPL-2.0-only
#include "live/try_return.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/multi_link.h"
#include "util/cleanup.h"

#define NR_URETPROBE 335

/* What the child calls; it must stay a function of its own. */
static __attribute__((noinline)) int returns_one(void)
{
	__asm__ volatile("");
	return 1;
}

bool try_return_is_needed(void)
{
#ifdef __x86_64__
	struct utsname u;
	unsigned int a, b;

	return !uname(&u) && sscanf(u.release, "%u.%u", &a, &b) == 2 && a == 6 && b >= 11 && b < 14;
#else
	return false;
#endif
}

struct where {
	uintptr_t address;
	uint64_t offset;
};

/* The first object is the program itself. */
static int find_segment(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct where *w = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && w->address - from < ph->p_filesz)
			w->offset = ph->p_offset + (w->address - from);
	}
	return 1;
}

/* As a filter that knows nothing of return probes: such a call ends the process. */
static int install_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_URETPROBE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int run_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_DUMPABLE, 0); /* no core file */
		if (install_filter())
			_exit(2);
		_exit(returns_one() == 1 ? 0 : 1);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		return -EOPNOTSUPP;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EPERM;
}

int try_return(int prog_fd)
{
	struct where w = {.address = (uintptr_t)returns_one};
	_fd_ int link = -1;

	dl_iterate_phdr(find_segment, &w);
	if (!w.offset)
		return -ENOENT;
	link = uprobe_multi_link(prog_fd, "/proc/self/exe", &w.offset, NULL, 1, true);
	return link < 0 ? link : run_child();
}
