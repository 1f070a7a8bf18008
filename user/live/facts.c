// SPDX-License-Identifier: GPL-2.0-only
#include "live/facts.h"

#include <stdio.h>

#include "discover/proc.h"

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
	int rank;

	len = proc_comm(pid, buf, sizeof(buf));
	facts_put(rec, pid, FACT_NAME, buf, len > 0 ? (size_t)len : 0);
	len = proc_cmdline(pid, buf, sizeof(buf));
	facts_put(rec, pid, FACT_CMDLINE, buf, len > 0 ? (size_t)len : 0);
	len = proc_exe(pid, buf, sizeof(buf));
	facts_put(rec, pid, FACT_EXE, buf, len > 0 ? (size_t)len : 0);
	if (!proc_nspid(pid, &nspid))
		put_number(rec, pid, FACT_NSPID, nspid);
	if (!proc_rank(pid, &rank))
		put_number(rec, pid, FACT_RANK, rank);
	if (!proc_uid(pid, &uid))
		put_number(rec, pid, FACT_USER, uid);
}
