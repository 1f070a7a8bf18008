// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as an ELF file: what is found, and what would be probed, lies inside the file. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "discover/elfsym.h"
#include "discover/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const struct elf_scan *scan, int i, size_t size)
{
	const struct sym *s = &scan->funcs[i];

	if (s->same_as >= i)
		abort();
	if (s->state == SYM_FOUND && (s->offset >= size || s->size > size - s->offset))
		abort();
}

/* Also reads the file's relocations and code. */
static void check_plan(const struct elf_scan *scan, int fd, size_t size)
{
	static struct plan plan;

	plan_make(&(struct plan_opts){.returns = true, .all = true}, scan, fd, &plan);
	for (size_t i = 0; i < plan.n_entry; i++)
		if (plan.entry[i].offset >= size)
			abort();
	for (size_t i = 0; i < plan.n_leave; i++)
		if (plan.leave[i].offset >= size)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct elf_scan scan;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
		abort();
	if (!elfsym_scan(fd, &scan)) {
		for (int i = 0; i < ELF_MAX_FUNCS; i++)
			check_row(&scan, i, size);
		if (scan.dl_debug_state && scan.dl_debug_state >= size)
			abort();
		if (!memchr(scan.interp, '\0', sizeof(scan.interp)))
			abort();
		check_plan(&scan, fd, size);
	}
	close(fd);
	return 0;
}
