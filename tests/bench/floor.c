// SPDX-License-Identifier: GPL-2.0-only
/*
 * The floor: a BPF program that does nothing, at given places of a file. What it costs is the
 * kernel's price for a probe there. Attached as acltap does: one uprobe_multi link per kind, or
 * perf links where the kernel has none. Says "ready" and how it is attached, waits for the end of
 * standard input.
 * usage: floor FILE entry|return:OFFSET...
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/multi_link.h"

#define MAX_SITES 16

struct sites {
	uint64_t at[MAX_SITES];
	unsigned int n;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "floor: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

static int load_empty(bool multi)
{
	const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = multi ? ATTACH_UPROBE_MULTI : 0);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "floor", "GPL", code, 2, &opts);
}

/* The type that the kernel gave to the perf events of uprobes. */
static unsigned int uprobe_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	unsigned int type;

	if (!f || fscanf(f, "%u", &type) != 1)
		die("no perf events of uprobes", ENOTSUP);
	fclose(f);
	return type;
}

static void attach_perf(const char *file, uint64_t offset, bool ret)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = uprobe_type()};
	int prog = load_empty(false);
	int fd;

	attr.config = ret; /* bit 0, as format/retprobe says */
	attr.uprobe_path = (uintptr_t)file;
	attr.probe_offset = offset;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (prog < 0 || fd < 0)
		die("cannot make a perf event", errno);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		die("cannot attach", errno);
}

/* Descriptors stay open until the program ends: that detaches. */
static bool attach_multi(const char *file, const struct sites *s, bool ret)
{
	int prog, link;

	if (!s->n)
		return true;
	prog = load_empty(true);
	if (prog < 0)
		return false;
	link = uprobe_multi_link(prog, file, s->at, NULL, s->n, ret);
	close(prog);
	return link >= 0;
}

static void parse(const char *arg, struct sites *entry, struct sites *leave)
{
	struct sites *to = !strncmp(arg, "entry:", 6) ? entry : leave;
	const char *number = strchr(arg, ':');

	if (!number || (to == leave && strncmp(arg, "return:", 7)) || to->n == MAX_SITES)
		die(arg, EINVAL);
	to->at[to->n++] = strtoull(number + 1, NULL, 0);
}

int main(int argc, char **argv)
{
	struct sites entry = {0}, leave = {0};
	const char *how = "uprobe_multi";
	char c;

	if (argc < 3)
		die("usage: floor FILE entry|return:OFFSET...", EINVAL);
	for (int i = 2; i < argc; i++)
		parse(argv[i], &entry, &leave);
	if (!attach_multi(argv[1], &entry, false) || !attach_multi(argv[1], &leave, true)) {
		how = "perf";
		for (unsigned int i = 0; i < entry.n; i++)
			attach_perf(argv[1], entry.at[i], false);
		for (unsigned int i = 0; i < leave.n; i++)
			attach_perf(argv[1], leave.at[i], true);
	}
	printf("ready %s\n", how);
	if (fflush(stdout))
		die("cannot write", errno);
	while (read(STDIN_FILENO, &c, 1) < 0 && errno == EINTR)
		;
	return 0;
}
