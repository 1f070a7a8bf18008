// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each event has a name that no other has: "name 0" and so on, marks and push/pop by turns.
 * usage: names [COUNT=100000]
 */
#include <stdio.h>
#include <stdlib.h>

#include "truth.h"

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100000;
	void *stamp = aclprofCreateStamp();
	char name[32];

	must(stamp, "create stamp");
	wait_for_test();
	for (int i = 0; i < count; i++) {
		int len = snprintf(name, sizeof(name), "name %d", i);

		must(!aclprofSetStampTraceMessage(stamp, name, (uint32_t)len), "set message");
		if (i % 2)
			must(!aclprofPush(stamp) && !aclprofPop(), "push and pop");
		else
			must(!aclprofMark(stamp), "mark");
	}
	aclprofDestroyStamp(stamp);
	return 0;
}
