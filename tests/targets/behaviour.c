// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks that the stand-in library behaves as the real one did in tests of the vendor's own code
 * (pool, messages, ids, results). Prints one TAP line a check.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/acl_prof.h"

#define POOL_SIZE 100
#define STAMP_DISTANCE 256

static int number, failures;

static void check(int good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
	failures += !good;
}

static void pool(void)
{
	char *stamp[POOL_SIZE];
	int apart = 1;

	for (int i = 0; i < POOL_SIZE; i++)
		stamp[i] = aclprofCreateStamp();
	for (int i = 1; i < POOL_SIZE; i++)
		apart &= stamp[i] == stamp[i - 1] + STAMP_DISTANCE;
	check(stamp[0] && apart, "100 stamps, 256 bytes apart");
	check(!aclprofCreateStamp(), "the 101st create returns NULL");
	aclprofDestroyStamp(stamp[7]);
	aclprofDestroyStamp(stamp[3]);
	check(aclprofCreateStamp() == stamp[3], "the stamp destroyed last is used first");
	check(aclprofCreateStamp() == stamp[7], "then the one before");
	for (int i = POOL_SIZE - 1; i >= 0; i--)
		aclprofDestroyStamp(stamp[i]);
	aclprofDestroyStamp(stamp[0]);
	check(aclprofCreateStamp() == stamp[0], "a second destroy does nothing");
	aclprofDestroyStamp(stamp[0]);
}

static void messages(void)
{
	char text[256];
	char *stamp = aclprofCreateStamp();

	memset(text, 'm', sizeof(text));
	check(aclprofSetStampTraceMessage(stamp, text, 126) == 0, "126 bytes are accepted");
	check(aclprofSetStampTraceMessage(stamp, text, 128) == -1 && strlen(stamp) == 126,
	      "128 are refused and the old text stays");
	aclprofDestroyStamp(stamp);
	check(aclprofCreateStamp() == stamp && strlen(stamp) == 126,
	      "destroy and create keep the text");
	check(aclprofSetStampTraceMessage(stamp, text, 127) == -1 && !stamp[0],
	      "127 are refused and empty the text");
	check(aclprofSetStampTraceMessage(stamp, "abcdef", 3) == 0 && !strcmp(stamp, "abc"),
	      "msgLen bounds the text");
	check(aclprofSetStampTraceMessage(stamp, "ab\0cd", 5) == 0 && !strcmp(stamp, "ab"),
	      "the text ends at a NUL");
	check(aclprofSetStampTraceMessage(NULL, text, 3) == -1, "a NULL stamp is refused");
	aclprofDestroyStamp(stamp);
}

static void ranges(void)
{
	void *a = aclprofCreateStamp(), *b = aclprofCreateStamp();
	uint32_t id_a = 4242, id_b = 4242, untouched = 4242;

	check(!aclprofRangeStart(a, &id_a) && !aclprofRangeStart(b, &id_b) && id_a == 0 &&
		      id_b == 1,
	      "the range id is the index in the pool, 0 is valid");
	check(aclprofRangeStop(id_b) == 0 && aclprofRangeStop(id_b) == 0,
	      "a repeated stop succeeds");
	check(aclprofRangeStop(99) == -1 && aclprofRangeStop(100) == -1,
	      "a stop without a start fails");
	check(aclprofRangeStart(NULL, &untouched) == ACL_ERROR_BAD_STAMP && untouched == 4242,
	      "a NULL stamp starts nothing and writes no id");
	check(aclprofRangeStart(a, NULL) == ACL_ERROR_BAD_STAMP, "no place for the id");
	aclprofDestroyStamp(b);
	aclprofDestroyStamp(a);
	check(aclprofRangeStop(id_a) == 0, "a stop after destroy succeeds");
}

static void calls(void)
{
	void *stamp = aclprofCreateStamp();
	int stream;

	check(aclprofPop() == -1, "pop on an empty stack fails");
	check(!aclprofPush(stamp) && !aclprofPush(stamp) && !aclprofPop() && !aclprofPop(),
	      "one stamp can be pushed twice");
	check(aclprofPop() == -1, "and is popped twice");
	check(aclprofMark(NULL) == -1 && aclprofPush(NULL) == ACL_ERROR_BAD_STAMP,
	      "mark and push refuse NULL, each in its own way");
	check(aclprofMark(stamp) == 0, "mark");
	check(aclprofMarkEx("nine char", 9, &stream) == 0, "mark_ex");
	check(aclprofMarkEx("nine char", 9, NULL) == -1, "mark_ex without a stream");
	check(aclprofMarkEx("nine char", 3, &stream) == -1, "mark_ex with a wrong length");
	aclprofDestroyStamp(stamp);
}

int main(void)
{
	if (getenv("ACLTAP_FAKE_PROF")) {
		check(!aclprofCreateStamp(), "with profiling off create returns NULL");
		return failures != 0;
	}
	pool();
	messages();
	ranges();
	calls();
	return failures != 0;
}
