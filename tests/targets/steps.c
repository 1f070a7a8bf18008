// SPDX-License-Identifier: GPL-2.0-only
/*
 * For each byte on standard input: A(A(B)) by push/pop, a start/end range C and a mark D. Nothing
 * in between, so a test can see what is shown while a program stands still. Ends with its input.
 * Each step is answered by its number on standard output, once it is done.
 */
#include <stdio.h>
#include <unistd.h>

#include "truth.h"

int main(void)
{
	struct truth t[3];
	long n = 0;
	char c;

	truth_open(NULL);
	while (read(STDIN_FILENO, &c, 1) == 1) {
		t[0] = truth_push("A");
		t[1] = truth_push("A");
		t[2] = truth_push("B");
		for (int i = 2; i >= 0; i--)
			truth_pop(&t[i]);
		t[0] = truth_start("C");
		truth_stop(&t[0]);
		truth_mark("D");
		printf("%ld\n", ++n);
		if (fflush(stdout))
			return 1;
	}
	return 0;
}
