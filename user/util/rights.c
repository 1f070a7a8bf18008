// SPDX-License-Identifier: GPL-2.0-only
#include "util/rights.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/readall.h"

static const struct {
	enum right right;
	const char *name;
} names[] = {
	{RIGHT_BPF, "CAP_BPF"},
	{RIGHT_PERFMON, "CAP_PERFMON"},
	{RIGHT_SYS_ADMIN, "CAP_SYS_ADMIN"},
	{RIGHT_SYS_PTRACE, "CAP_SYS_PTRACE"},
	{RIGHT_KILL, "CAP_KILL"},
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

/* The value behind "\nKEY:", or NULL. */
static const char *status_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len) && line[len] == ':')
			return line + len + 1;
		if (!*line)
			break;
	}
	return NULL;
}

int rights_parse_status(const char *text, struct rights *r)
{
	const char *caps = status_value(text, "CapEff");
	const char *seccomp = status_value(text, "Seccomp");
	char *end;
	uint64_t v;

	if (!caps)
		return -EBADMSG;
	v = strtoull(caps, &end, 16);
	if (end == caps || (*end && *end != '\n'))
		return -EBADMSG;
	r->caps = v;
	r->seccomp = seccomp && atoi(seccomp) == 2;
	return 0;
}

enum lockdown rights_parse_lockdown(const char *text)
{
	if (strstr(text, "[none]"))
		return LOCKDOWN_NONE;
	if (strstr(text, "[integrity]"))
		return LOCKDOWN_INTEGRITY;
	if (strstr(text, "[confidentiality]"))
		return LOCKDOWN_CONFIDENTIALITY;
	return LOCKDOWN_UNKNOWN;
}

bool rights_counts_memlock(const char *release)
{
	unsigned int major, minor;

	return sscanf(release, "%u.%u", &major, &minor) == 2 &&
	       (major < 5 || (major == 5 && minor < 11));
}

bool rights_has(const struct rights *r, enum right right)
{
	/* CAP_SYS_ADMIN includes the two that were split off from it. */
	if ((right == RIGHT_BPF || right == RIGHT_PERFMON) && r->caps & RIGHT_BIT(RIGHT_SYS_ADMIN))
		return true;
	return r->caps & RIGHT_BIT(right);
}

const char *rights_missing(const struct rights *r, uint64_t want, char *buf, size_t sz)
{
	size_t at = 0, left = 0;

	for (size_t i = 0; i < N_NAMES; i++)
		left += want & RIGHT_BIT(names[i].right) && !rights_has(r, names[i].right);
	buf[0] = '\0';
	for (size_t i = 0; i < N_NAMES; i++) {
		int n;

		if (!(want & RIGHT_BIT(names[i].right)) || rights_has(r, names[i].right))
			continue;
		left--;
		n = snprintf(buf + at, sz - at, "%s%s", names[i].name,
			     left > 1 ? ", " : (left ? " and " : ""));
		if (n < 0 || (size_t)n >= sz - at)
			break;
		at += (size_t)n;
	}
	return buf;
}

const char *rights_explain(const struct rights *r, uint64_t need, int err, char *buf, size_t sz)
{
	char missing[128];

	buf[0] = '\0';
	if (err == -EINVAL && r->lockdown == LOCKDOWN_CONFIDENTIALITY)
		snprintf(buf, sz,
			 "kernel lockdown is set to confidentiality: boot with "
			 "lockdown=integrity or none");
	if (err != -EPERM && err != -EACCES)
		return buf;
	rights_missing(r, need, missing, sizeof(missing));
	if (*missing)
		snprintf(buf, sz, "missing %s: run as root, in a container with --cap-add",
			 missing);
	else if (r->memlock)
		snprintf(buf, sz,
			 "locked memory is limited and CAP_SYS_RESOURCE is missing: "
			 "'ulimit -l unlimited' before");
	else if (r->user_ns)
		snprintf(buf, sz,
			 "in a user namespace, where capabilities do not count for "
			 "tracing: run on the host");
	else if (r->lockdown == LOCKDOWN_CONFIDENTIALITY)
		snprintf(buf, sz,
			 "kernel lockdown is set to confidentiality: boot with "
			 "lockdown=integrity or none");
	else if (r->selinux)
		snprintf(buf, sz,
			 "all capabilities are there, SELinux enforces: see "
			 "'ausearch -m avc -ts recent'");
	else if (r->seccomp)
		snprintf(buf, sz,
			 "all capabilities are there, a seccomp filter is on: run the "
			 "container with --security-opt seccomp=unconfined");
	else if (*r->lsm)
		snprintf(buf, sz,
			 "all capabilities are there: a security module may forbid it "
			 "(active: %s)",
			 r->lsm);
	else
		snprintf(buf, sz,
			 "all capabilities are there: a security module or a limit of the "
			 "container may forbid it");
	return buf;
}

static int read_number(const char *path, int unknown)
{
	char text[32];

	return readall_text(path, text, sizeof(text)) > 0 ? atoi(text) : unknown;
}

/* The inode of an initial namespace is a constant of the kernel (PROC_*_INIT_INO). */
static bool other_ns(const char *name, const char *initial)
{
	char path[64], link[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0)
		return false;
	link[n] = '\0';
	return strcmp(link, initial) != 0;
}

/* Whoever may lift the limit does (libbpf). */
static bool memlock_holds(const struct rights *r)
{
	struct rlimit limit;
	struct utsname u;

	return !uname(&u) && rights_counts_memlock(u.release) &&
	       !rights_has(r, RIGHT_SYS_RESOURCE) && !getrlimit(RLIMIT_MEMLOCK, &limit) &&
	       limit.rlim_max != RLIM_INFINITY;
}

void rights_read(struct rights *r)
{
	char text[8192];

	memset(r, 0, sizeof(*r));
	if (readall_text("/proc/self/status", text, sizeof(text)) > 0)
		rights_parse_status(text, r);
	r->memlock = memlock_holds(r);
	if (readall_text("/sys/kernel/security/lockdown", text, sizeof(text)) > 0)
		r->lockdown = rights_parse_lockdown(text);
	if (readall_text("/sys/kernel/security/lsm", r->lsm, sizeof(r->lsm)) > 0)
		r->lsm[strcspn(r->lsm, "\n")] = '\0';
	r->perf_paranoid = read_number("/proc/sys/kernel/perf_event_paranoid", -2);
	r->unpriv_bpf = read_number("/proc/sys/kernel/unprivileged_bpf_disabled", -1);
	r->selinux = read_number("/sys/fs/selinux/enforce", 0) == 1;
	r->user_ns = other_ns("user", "user:[4026531837]");
	r->pid_ns = other_ns("pid", "pid:[4026531836]");
}
