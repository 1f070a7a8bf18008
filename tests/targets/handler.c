// SPDX-License-Identifier: GPL-2.0-only
/*
 * A signal handler makes traced calls while range_start of its thread has not returned: a mark,
 * then a start of its own. The functions are the program's own, so that the moment is certain.
 * Range 77 is open all the time; its id lies where the handler's stamp points.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "truth.h"

#define OUTER_ID 77
#define INNER_ID 5
#define HANDLER_ID 6

static uint32_t stamp[2] = {OUTER_ID, OUTER_ID};
static uint32_t next_id = OUTER_ID;
static volatile sig_atomic_t interrupt;

#define CALL __attribute__((noipa)) /* nor folded with one of equal code */

CALL aclError aclprofSetStampTraceMessage(void *s, const char *msg, uint32_t len)
{
	return s && msg && len ? 0 : -1;
}

CALL aclError aclprofMark(void *s)
{
	return s ? 0 : -1;
}

CALL aclError aclprofRangeStart(void *s, uint32_t *id)
{
	if (interrupt)
		raise(SIGUSR1);
	*id = next_id;
	return s ? 0 : -1;
}

CALL aclError aclprofRangeStop(uint32_t id)
{
	return id ? 0 : -1;
}

static void handler(int sig)
{
	uint32_t id = 0;

	(void)sig;
	interrupt = 0;
	aclprofMark(stamp);
	next_id = HANDLER_ID;
	aclprofRangeStart(stamp, &id);
	aclprofRangeStop(id);
	next_id = INNER_ID;
}

int main(void)
{
	uint32_t outer, inner;

	wait_for_test();
	must(signal(SIGUSR1, handler) != SIG_ERR, "signal");
	aclprofSetStampTraceMessage(stamp, "signals", 7);
	aclprofRangeStart(stamp, &outer);
	interrupt = 1;
	aclprofRangeStart(stamp, &inner);
	must(outer == OUTER_ID && inner == INNER_ID, "ids");
	aclprofRangeStop(inner);
	aclprofRangeStop(outer);
	return 0;
}
