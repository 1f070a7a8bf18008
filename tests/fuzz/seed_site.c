// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes seeds for fuzz_site: the traced functions of the libraries named, and some arm64 code.
 * usage: seed_site DIRECTORY LIBRARY...
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "discover/elfsym.h"
#include "discover/site.h"

/* As fuzz_site reads it: machine and purpose, number of arguments, code. */
static int put(const char *dir, int number, uint8_t what, const void *code, size_t size)
{
	const uint8_t head[] = {what, 3};
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/site%d", dir, number);
	f = fopen(path, "we");
	if (!f || fwrite(head, 1, sizeof(head), f) != sizeof(head) ||
	    fwrite(code, 1, size, f) != size || fclose(f)) {
		perror(path);
		return -1;
	}
	return 0;
}

static int from_library(const char *dir, const char *library, int *number)
{
	static struct elf_scan scan;
	uint8_t code[SITE_MAX_CODE];
	int fd = open(library, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || elfsym_scan(fd, &scan)) {
		perror(library);
		return -1;
	}
	for (int i = 0; i < ELF_MAX_FUNCS; i++) {
		const struct sym *s = &scan.funcs[i];

		if (s->state != SYM_FOUND || s->size > sizeof(code) - 2 ||
		    pread(fd, code, s->size, (off_t)s->offset) != (ssize_t)s->size)
			continue;
		/* Bit 0: arm64; bit 1: a return probe; the rest chooses the kernel. */
		if (put(dir, ++*number, (uint8_t)((i & 1) << 1 | i % 5 << 2), code, s->size))
			return -1;
	}
	return close(fd);
}

int main(int argc, char **argv)
{
	static const uint32_t jump[] = {0xd503245f, 0x14000010}; /* bti c; b */
	static const uint32_t frame[] = {
		0xd503233f, 0xa9bf7bfd, 0x910003fd, /* paciasp; stp x29, x30, [sp, #-16]!; mov */
		0x94000010, 0xa8c17bfd, 0xd50323bf, /* bl; ldp x29, x30, [sp], #16; autiasp */
		0xd65f03c0,			    /* ret */
	};
	static const uint32_t branch[] = {0xb4000060, 0x90000010, 0x14000004, 0xd65f03c0};
	int number = 0;

	if (argc < 3)
		return 2;
	for (int i = 2; i < argc; i++)
		if (from_library(argv[1], argv[i], &number))
			return 1;
	return put(argv[1], ++number, 1, jump, sizeof(jump)) ||
	       put(argv[1], ++number, 3, frame, sizeof(frame)) ||
	       put(argv[1], ++number, 1 | 4 << 2, branch, sizeof(branch));
}
