// SPDX-License-Identifier: GPL-2.0-only
#include "truth.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

static int truth_fd = -1;

void must(bool ok, const char *what)
{
	if (ok)
		return;
	dprintf(2, "target: failed: %s\n", what);
	abort();
}

uint64_t truth_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

void spin_us(unsigned int us)
{
	uint64_t until = truth_now() + us * 1000ull;

	while (truth_now() < until)
		;
}

void wait_for_test(void)
{
	const char *path = getenv("ACLTAP_WAIT");
	char c = 0;
	int fd;

	if (!path)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd >= 0, "open the FIFO");
	must(read(fd, &c, 1) == 1, "read the FIFO");
	close(fd);
}

void truth_open(const char *path)
{
	if (!path)
		path = getenv("ACLTAP_TRUTH");
	if (!path || !*path)
		return;
	truth_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	must(truth_fd >= 0, "open the truth log");
}

static void put_line(const char *line, int len)
{
	if (truth_fd >= 0)
		must(write(truth_fd, line, (size_t)len) == len, "write the truth log");
}

/* Bytes that are not plain ASCII become \xHH, so that a line stays a line. */
static void escape(char *out, const unsigned char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (name[i] > 0x20 && name[i] < 0x7f && name[i] != '\\')
			*out++ = (char)name[i];
		else
			out += sprintf(out, "\\x%02x", name[i]);
	}
	*out = '\0';
}

void truth_write(const struct truth *t, const struct truth_call *end, const char *status)
{
	static const struct truth_call none;
	char name[4 * 256 + 1], line[4 * 256 + 256];
	int len;

	if (truth_fd < 0)
		return;
	escape(name, t->name, t->len > 255 ? 255 : t->len);
	if (!end)
		end = &none;
	len = snprintf(line, sizeof(line), "%s\t%s\t%d\t%d\t%d\t%llu\t%llu\t%llu\t%llu\t%u\t%s\n",
		       t->kind, name, getpid(), t->start.tid, end->tid,
		       (unsigned long long)t->start.before, (unsigned long long)t->start.after,
		       (unsigned long long)end->before, (unsigned long long)end->after, t->depth,
		       status);
	put_line(line, len);
}

void truth_expect(const char *what, unsigned long count)
{
	char line[128];

	put_line(line, snprintf(line, sizeof(line), "# %s %lu\n", what, count));
}
