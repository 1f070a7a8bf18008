// SPDX-License-Identifier: GPL-2.0-only
/* Runs about a millisecond and exits with status 7 (or argv[1]): nothing may be missed. */
#include <stdlib.h>

#include "truth.h"

int main(int argc, char **argv)
{
	struct truth t;

	truth_open(NULL);
	wait_for_test();
	t = truth_push("brief");
	truth_mark("inside");
	truth_pop(&t);
	t = truth_start("range");
	truth_stop(&t);
	return argc > 1 ? atoi(argv[1]) : 7;
}
