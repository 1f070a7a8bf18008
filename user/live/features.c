// SPDX-License-Identifier: GPL-2.0-only
#include "live/features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "live/multi_link.h"
#include "live/try_return.h"
#include "util/cleanup.h"

#define RING_TRY (16 << 20) /* as large as it will be: locked memory can be limited */
#define PROBE_OFFSET 16	    /* in the file that the probes sit on; any place will do */

#define INSN(c, dst, src, o, i)                                                                    \
	{                                                                                          \
		.code = (c), .dst_reg = (dst), .src_reg = (src), .off = (o), .imm = (i)            \
	}
#define SET(reg, value) INSN(BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, value)
#define COPY(to, from) INSN(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define ADD(reg, value) INSN(BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, value)
#define CALL(helper) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define RETURN_0 SET(BPF_REG_0, 0), INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static int load(enum bpf_prog_type type, int attach_type, __u32 flags, const struct bpf_insn *insns,
		size_t n)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = flags,
		    .expected_attach_type = (enum bpf_attach_type)attach_type);

	return bpf_prog_load(type, "acltap_try", "GPL", insns, n, &opts);
}

#define LOAD(type, attach, flags, insns)                                                           \
	load(type, attach, flags, insns, sizeof(insns) / sizeof((insns)[0]))

static int load_empty(enum bpf_prog_type type, int attach_type, __u32 flags)
{
	static const struct bpf_insn insns[] = {RETURN_0};

	return LOAD(type, attach_type, flags, insns);
}

/* For tries that end with a descriptor: it is closed, only success counts. */
static int close_try(int fd)
{
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* A regular file of one page that only exists in memory, and its path for this process. */
static int make_file(char path[64])
{
	_fd_ int fd = memfd_create("acltap_try", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, 4096))
		return -errno;
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return take_fd(&fd);
}

static int try_bpf(void)
{
	return close_try(bpf_map_create(BPF_MAP_TYPE_ARRAY, "acltap_try", 4, 8, 1, NULL));
}

static int try_ringbuf(void)
{
	return close_try(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "acltap_try", 0, 0, RING_TRY, NULL));
}

static int try_uprobe(void)
{
	return close_try(load_empty(BPF_PROG_TYPE_KPROBE, 0, 0));
}

/*
 * A link that exists takes tens of ms to close. A path that is no file is told from a kind of link
 * that is not known: -EBADF and -EINVAL.
 */
static int try_uprobe_multi(void)
{
	const uint64_t offset = PROBE_OFFSET;
	_fd_ int prog = load_empty(BPF_PROG_TYPE_KPROBE, ATTACH_UPROBE_MULTI, 0);
	int err;

	if (prog < 0)
		return prog;
	err = uprobe_multi_link(prog, "/", &offset, NULL, 1, false);
	return err == -EBADF ? 0 : close_try(err);
}

/* The number by which perf_event_open() knows uprobes. */
static int uprobe_pmu_type(__u32 *type)
{
	_file_ FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");

	if (!f)
		return -errno;
	return fscanf(f, "%u", type) == 1 ? 0 : -EBADMSG;
}

static int try_perf_uprobe(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	char path[64];
	_fd_ int file = make_file(path);
	__u32 type;
	int err = uprobe_pmu_type(&type);
	long fd;

	if (file < 0)
		return file;
	if (err)
		return err;
	attr.type = type;
	attr.uprobe_path = (uintptr_t)path;
	attr.probe_offset = PROBE_OFFSET;
	fd = syscall(__NR_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return close_try(fd < 0 ? -errno : (int)fd);
}

static int try_safe_return(void)
{
	_fd_ int prog = load_empty(BPF_PROG_TYPE_KPROBE, ATTACH_UPROBE_MULTI, 0);

	int err = prog < 0 ? -EINVAL : try_return(prog);

	/* Before 6.6 there are no such links, and no such danger. */
	return err == -EINVAL ? 0 : err;
}

static int try_raw_tp(void)
{
	static const char *const names[] = {"sched_process_fork", "sched_process_exec",
					    "sched_process_exit"};
	_fd_ int prog = load_empty(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0);

	if (prog < 0)
		return prog;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int err = close_try(bpf_raw_tracepoint_open(names[i], prog));

		if (err)
			return err;
	}
	return 0;
}

static int try_cookie(void)
{
	static const struct bpf_insn insns[] = {CALL(BPF_FUNC_get_attach_cookie), RETURN_0};

	return close_try(LOAD(BPF_PROG_TYPE_KPROBE, 0, 0, insns));
}

static int try_sleepable(void)
{
	return close_try(load_empty(BPF_PROG_TYPE_KPROBE, 0, BPF_F_SLEEPABLE));
}

static int try_copy_from_user(void)
{
	static const struct bpf_insn insns[] = {
		COPY(BPF_REG_1, BPF_REG_10),
		ADD(BPF_REG_1, -8),
		SET(BPF_REG_2, 8),
		SET(BPF_REG_3, 0),
		CALL(BPF_FUNC_copy_from_user),
		RETURN_0,
	};

	return close_try(LOAD(BPF_PROG_TYPE_KPROBE, 0, BPF_F_SLEEPABLE, insns));
}

static int try_btf(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	long err = libbpf_get_error(btf);

	if (err)
		return (int)err;
	btf__free(btf);
	return 0;
}

static int try_send_signal(void)
{
	static const struct bpf_insn insns[] = {SET(BPF_REG_1, 0), CALL(BPF_FUNC_send_signal),
						RETURN_0};

	return close_try(LOAD(BPF_PROG_TYPE_KPROBE, 0, 0, insns));
}

#define ROW(name) offsetof(struct features, name), #name, try_##name

static const struct {
	size_t flag; /* offset of the answer in struct features */
	const char *name;
	int (*try)(void);
} rows[FEATURE_COUNT] = {
	[FEATURE_BPF] = {ROW(bpf)},
	[FEATURE_RINGBUF] = {ROW(ringbuf)},
	[FEATURE_UPROBE] = {ROW(uprobe)},
	[FEATURE_UPROBE_MULTI] = {ROW(uprobe_multi)},
	[FEATURE_PERF_UPROBE] = {ROW(perf_uprobe)},
	[FEATURE_SAFE_RETURN] = {ROW(safe_return)},
	[FEATURE_RAW_TP] = {ROW(raw_tp)},
	[FEATURE_COOKIE] = {ROW(cookie)},
	[FEATURE_SLEEPABLE] = {ROW(sleepable)},
	[FEATURE_COPY_FROM_USER] = {ROW(copy_from_user)},
	[FEATURE_BTF] = {ROW(btf)},
	[FEATURE_SEND_SIGNAL] = {ROW(send_signal)},
};

/* Is name an element of the comma-separated list? */
static bool listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		if (!strncmp(list, name, len) && (!list[len] || list[len] == ','))
			return true;
	}
	return false;
}

bool features_denied(enum feature which)
{
	return listed(getenv(FEATURES_DENIED), rows[which].name);
}

int features_probe_one(struct features *f, enum feature which)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	int err = features_denied(which) ? -EOPNOTSUPP : rows[which].try();

	libbpf_set_print(print);
	f->err[which] = err;
	*(bool *)((char *)f + rows[which].flag) = !err;
	return err;
}

void features_probe(struct features *f)
{
	memset(f, 0, sizeof(*f));
	for (int i = 0; i < FEATURE_COUNT; i++)
		features_probe_one(f, (enum feature)i);
}

bool features_can_trace(const struct features *f)
{
	return f->bpf && f->ringbuf && f->uprobe && (f->uprobe_multi || f->perf_uprobe);
}
