// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of every shape. Each is set and then marked once; the truth holds the bytes that a
 * tracer must have read: those up to the first NUL within msgLen, at most 255. What cannot be
 * read has the status "unreadable". Results of set_message are ignored: the library refuses long
 * texts (without touching them), which is what makes the wild pointers survivable here.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "truth.h"

#define TEXT_MAX 255
#define REFUSED 200 /* a length that the library refuses unread */
#define FAR 131072  /* beyond what a page fault usually maps around itself */

/* Never read by the program itself, each out of reach of the others' page faults. */
static const char fresh[3][FAR] __attribute__((aligned(FAR))) = {"forward", "backward", "step"};
static const char *const fresh_names[3] = {"forward", "backward", "step"};

static void *stamp;

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Is the page of p in the page table (bit 63 of its pagemap entry)? */
static bool present(const void *p)
{
	uint64_t entry = 0;
	off_t offset = (off_t)((uintptr_t)p / page_size() * sizeof(entry));
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	must(fd >= 0, "open pagemap");
	must(pread(fd, &entry, sizeof(entry), offset) == sizeof(entry), "read pagemap");
	close(fd);
	return entry >> 63;
}

/* Sets the message and marks; name and its status are what must be traced. */
static void send(const void *msg, uint32_t msg_len, const void *name, size_t len,
		 const char *status)
{
	struct truth t = {.kind = "marker", .name = name, .len = len, .start.tid = gettid()};

	aclprofSetStampTraceMessage(stamp, msg, msg_len);
	t.start.before = truth_now();
	must(aclprofMark(stamp) == 0, "mark");
	t.start.after = truth_now();
	truth_write(&t, &t.start, status);
}

static void send_bytes(const void *bytes, size_t len)
{
	send(bytes, (uint32_t)len, bytes, len > TEXT_MAX ? TEXT_MAX : len, "complete");
}

/* Takes the page out of the page table, if a fault nearby has brought it in. */
static void drop(const void *p)
{
	if (present(p))
		must(madvise((void *)p, FAR, MADV_DONTNEED) == 0, "madvise");
	must(!present(p), "the literal's page is not mapped in");
}

/* ACLTAP_CANNOT_FAULT: the kernel (before 6.0) lets no probe bring a page in. */
static void untouched(void)
{
	bool readable = !getenv("ACLTAP_CANNOT_FAULT");

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++) {
			size_t len = strlen(fresh_names[i]);

			drop(fresh[i]);
			if (readable)
				send(fresh[i], (uint32_t)len, fresh_names[i], len, "complete");
			else
				send(fresh[i], (uint32_t)len, "", 0, "unreadable");
		}
	}
}

static void lengths(void)
{
	static const uint32_t len[] = {0, 1, 8, 63, 64, 126, 127, 128, 200, 254, 255, 256, 1000};
	char text[1001];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 26);
	for (size_t i = 0; i < sizeof(len) / sizeof(len[0]); i++)
		send_bytes(text, len[i]);
	send("abcdef", 3, "abc", 3, "complete");
	send("ab\0cd", 5, "ab", 2, "complete");
	send("\0ab", 3, "", 0, "complete");
}

/* Texts that end where the mapping ends, without a NUL. */
static void page_end(void)
{
	const size_t page = page_size();
	char *map =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = map + 2 * page;

	must(map != MAP_FAILED, "mmap");
	must(mprotect(end, page, PROT_NONE) == 0, "mprotect");
	memset(map, 'e', 2 * page);
	send_bytes(end - 1, 1);
	send_bytes(end - 7, 7);
	send_bytes(end - 126, 126);
	send_bytes(end - 255, 255);
	send_bytes(end - page - 3, 100); /* across a page boundary, both readable */
	/* More bytes promised than there are. */
	send(end - 100, REFUSED, end - 100, 100, "unreadable");
	send(end, REFUSED, "", 0, "unreadable");
	memcpy(end - 6, "short", 6);
	send(end - 6, REFUSED, "short", 5, "complete");
	munmap(map, 3 * page);
}

static void wild(void)
{
	send(NULL, 10, "", 0, "unreadable");
	send(NULL, REFUSED, "", 0, "unreadable");
	send(NULL, 0, "", 0, "complete");
	send((void *)0xdead0000, REFUSED, "", 0, "unreadable");
	send((void *)0xdeadbeefdeadbeef, REFUSED, "", 0, "unreadable");
	send((void *)0xffffffff81000000, REFUSED, "", 0, "unreadable");
	send((void *)-1, REFUSED, "", 0, "unreadable");
}

#define HOSTILE(literal) send_bytes(literal, sizeof(literal) - 1)

static void hostile(void)
{
	HOSTILE("say \"hi\"");
	HOSTILE("back\\slash");
	HOSTILE("new\nline\r\n");
	HOSTILE("\x01\x02\x1f\x7f");
	HOSTILE("tab\there");
	HOSTILE("a,b,c");
	HOSTILE("=cmd()");
	HOSTILE("+1-1@x");
	HOSTILE("\x1b[31mred\x1b]0;title\x07");
	HOSTILE("\xff\xfe latin \xe9");
	HOSTILE("\xe4\xb8\xad\xe6\x96\x87");
	HOSTILE("cut \xe4\xb8");
	HOSTILE("\xed\xa0\x80 surrogate");
	HOSTILE("\xc0\xaf overlong");
	HOSTILE("\xf4\x90\x80\x80 too big");
	HOSTILE("\xe2\x80\xa8 line separator");
	HOSTILE("\xef\xbb\xbf bom");
	HOSTILE("%s%n%d {} ${HOME} `id` </script>");
	HOSTILE("  blanks  ");
	HOSTILE("null");
}

int main(void)
{
	truth_open(NULL);
	stamp = aclprofCreateStamp();
	must(stamp, "create stamp");
	wait_for_test();
	untouched();
	lengths();
	page_end();
	wild();
	hostile();
	aclprofDestroyStamp(stamp);
	return 0;
}
