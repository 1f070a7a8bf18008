// SPDX-License-Identifier: GPL-2.0-only
/*
 * The three loops of the vendor's msproftx example, in C.
 * usage: seed_loops [1|2|3|all] [COUNT=200000]; ACLTAP_WAIT=FIFO waits for a byte before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include "lib/acl_prof.h"

static const char message[] = "test msprof tx";

static void *new_stamp(void)
{
	void *stamp = aclprofCreateStamp();

	if (!stamp) {
		fprintf(stderr, "stamp is nullptr\n");
		return NULL;
	}
	if (aclprofSetStampTraceMessage(stamp, message, sizeof(message) - 1)) {
		fprintf(stderr, "aclprofSetStampTraceMessage failed\n");
		return NULL;
	}
	return stamp;
}

static int once(int loop, void *stamp)
{
	uint32_t id = 0;

	switch (loop) {
	case 1:
		return aclprofMark(stamp);
	case 2:
		return aclprofPush(stamp) || aclprofPop();
	default:
		return aclprofRangeStart(stamp, &id) || aclprofRangeStop(id);
	}
}

static int run(int loop, long count)
{
	for (long i = 0; i < count; i++) {
		void *stamp = new_stamp();

		if (!stamp || once(loop, stamp))
			return EXIT_FAILURE;
		aclprofDestroyStamp(stamp);
	}
	return 0;
}

static int wait_go(void)
{
	const char *path = getenv("ACLTAP_WAIT");
	int fd, ok;
	char c;

	if (!path)
		return 0;
	fd = open(path, O_RDONLY);
	ok = fd >= 0 && read(fd, &c, 1) == 1;
	if (fd >= 0)
		close(fd);
	return ok ? 0 : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	const char *which = argc > 1 ? argv[1] : "all";
	long count = argc > 2 ? atol(argv[2]) : 200000;
	int ret = wait_go();

	for (int loop = 1; loop <= 3 && ret == 0; loop++)
		if (strcmp(which, "all") == 0 || atoi(which) == loop)
			ret = run(loop, count);
	return ret;
}
