// SPDX-License-Identifier: GPL-2.0-only
#include "live/facts.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "discover/proc.h"
#include "util/readall.h"

void facts_put(struct recorder *rec, pid_t pid, enum wire_fact key, const char *text, size_t len)
{
	/* An error of writing sticks in the capture and ends the session at its next write. */
	if (rec && len)
		recorder_fact(rec, (uint32_t)pid, (uint32_t)pid, key, text, len);
}

static void put_number(struct recorder *rec, pid_t pid, enum wire_fact key, long v)
{
	char buf[24];

	facts_put(rec, pid, key, buf, (size_t)snprintf(buf, sizeof(buf), "%ld", v));
}

void facts_write(struct recorder *rec, pid_t pid)
{
	char buf[4096];
	ssize_t len;
	uid_t uid;
	pid_t nspid;
	struct proc_rank rank;

	len = proc_comm(pid, buf, sizeof(buf));
	facts_put(rec, pid, FACT_NAME, buf, len > 0 ? (size_t)len : 0);
	len = proc_cmdline(pid, buf, sizeof(buf));
	facts_put(rec, pid, FACT_CMDLINE, buf, len > 0 ? (size_t)len : 0);
	len = proc_exe(pid, buf, sizeof(buf));
	facts_put(rec, pid, FACT_EXE, buf, len > 0 ? (size_t)len : 0);
	if (!proc_nspid(pid, &nspid))
		put_number(rec, pid, FACT_NSPID, nspid);
	proc_rank(pid, &rank);
	if (rank.rank >= 0)
		put_number(rec, pid, FACT_RANK, rank.rank);
	if (rank.local >= 0)
		put_number(rec, pid, FACT_LOCAL_RANK, rank.local);
	if (!proc_uid(pid, &uid))
		put_number(rec, pid, FACT_USER, uid);
}

/* ---- The capture ---- */

/* The first line of a file of /proc, without its end. Returns the length or -errno. */
static ssize_t read_line(const char *path, char *buf, size_t sz)
{
	ssize_t n = readall_text(path, buf, sz);

	return n < 0 ? n : (ssize_t)strcspn(buf, "\n");
}

static int put_line(struct recorder *rec, enum wire_fact key, const char *path)
{
	char buf[128];
	ssize_t n = read_line(path, buf, sizeof(buf));

	return n > 0 ? recorder_fact(rec, 0, 0, key, buf, (size_t)n) : 0;
}

/* "6.1.0-18-amd64 x86_64" */
static int put_kernel(struct recorder *rec)
{
	struct utsname u;
	char buf[2 * sizeof(u.release)];
	int n;

	if (uname(&u))
		return 0;
	n = snprintf(buf, sizeof(buf), "%s %s", u.release, u.machine);
	return recorder_fact(rec, 0, 0, FACT_KERNEL, buf, (size_t)n);
}

int facts_write_capture(struct recorder *rec)
{
	static const char version[] = ACLTAP_VERSION;
	char host[256] = "", buf[24];
	uint64_t space;
	int err, n;

	gethostname(host, sizeof(host) - 1);
	err = recorder_fact(rec, 0, 0, FACT_VERSION, version, strlen(version));
	err = err ?: recorder_fact(rec, 0, 0, FACT_HOST, host, strlen(host));
	err = err ?: put_kernel(rec);
	/* A new UUID at each reading. */
	err = err ?: put_line(rec, FACT_CAPTURE_ID, "/proc/sys/kernel/random/uuid");
	err = err ?: put_line(rec, FACT_BOOT_ID, "/proc/sys/kernel/random/boot_id");
	if (err || proc_pidns(getpid(), &space))
		return err;
	n = snprintf(buf, sizeof(buf), "%llu", (unsigned long long)space);
	return recorder_fact(rec, 0, 0, FACT_PID_SPACE, buf, (size_t)n);
}
