// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaves ranges by longjmp, so that their pops never come: later pops close the inner ranges, as
 * they do in the program's library. Then a range whose end comes in the same moment as its begin.
 */
#include <setjmp.h>
#include <stdlib.h>

#include "truth.h"

#define DEPTH 3

static jmp_buf back;

__attribute__((noreturn)) static void leave(int depth)
{
	void *stamp = checked_stamp("left by longjmp", 15);

	must(aclprofPush(stamp) == 0, "push");
	if (depth > 1)
		leave(depth - 1);
	longjmp(back, 1);
}

int main(void)
{
	void *stamp;

	wait_for_test();
	stamp = checked_stamp("outer", 5);
	aclprofPush(stamp);
	if (!setjmp(back))
		leave(DEPTH);
	aclprofMark(stamp);
	must(aclprofPop() == 0, "pop");
	must(aclprofPush(stamp) == 0 && aclprofPop() == 0, "push and pop");
	return 0;
}
