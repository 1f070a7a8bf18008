// SPDX-License-Identifier: GPL-2.0-only
/*
 * The measured program: set_message + range_start + range_stop in a loop. It waits for a line on
 * standard input (the tracer is attached), warms up, and prints ns per iteration: the median over
 * parts of CHUNK iterations, shorter than another process's turn on the CPU, and the mean of all.
 * Then it waits for the end of standard input, so that a tracer can be looked at meanwhile.
 * usage: loop ITERATIONS [WARMUP=1000]
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "acl_prof.h"

#define CHUNK 20

static void die(const char *what)
{
	fprintf(stderr, "loop: %s\n", what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void iterate(void *stamp, unsigned long n)
{
	static const char name[] = "forward layer 07";

	for (unsigned long i = 0; i < n; i++) {
		uint32_t id;

		if (aclprofSetStampTraceMessage(stamp, name, sizeof(name) - 1) ||
		    aclprofRangeStart(stamp, &id) || aclprofRangeStop(id))
			die("a call failed");
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Waits for a line, or for the end when there are no more. */
static void wait_line(void)
{
	char c = 0;
	ssize_t n;

	do
		n = read(STDIN_FILENO, &c, 1);
	while ((n < 0 && errno == EINTR) || (n == 1 && c != '\n'));
	if (n < 0)
		die("cannot read standard input");
}

/* Measures n parts into chunk[], which is sorted then; returns the mean. */
static double measure(void *stamp, double *chunk, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t begun = now_ns();

		iterate(stamp, CHUNK);
		chunk[i] = (double)(now_ns() - begun) / CHUNK;
		sum += chunk[i];
	}
	qsort(chunk, n, sizeof(*chunk), by_value);
	return sum / (double)n;
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) / CHUNK : 0;
	unsigned long warmup = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	double *chunk = calloc(n + 1, sizeof(*chunk));
	void *stamp;
	double mean;

	if (!n || !chunk)
		die("usage: loop ITERATIONS [WARMUP], iterations a multiple of 20");
	wait_line();
	stamp = aclprofCreateStamp();
	if (!stamp)
		die("no stamp");
	iterate(stamp, warmup);
	mean = measure(stamp, chunk, n);
	printf("%.1f %.1f\n", chunk[n / 2], mean);
	if (fflush(stdout))
		die("cannot write");
	wait_line();
	aclprofDestroyStamp(stamp);
	free(chunk);
	return 0;
}
