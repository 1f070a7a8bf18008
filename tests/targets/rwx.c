// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the library's text writable before it uses it, as hot patchers do, or replaces it by a copy
 * in memory that belongs to no file, as tools for huge pages do: the kernel then places no probe
 * there, and a tracer must say so.
 * usage: rwx [anonymous]
 */
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "truth.h"

static int anonymous;

/* From the file: in memory a probe may stand, of which the copy would be a trap for the program. */
static void copy_text(const char *path, uintptr_t start, size_t size, off_t offset)
{
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	must(copy != MAP_FAILED && fd >= 0, "a copy");
	must(pread(fd, copy, size, offset) > 0, "read the text");
	must(!close(fd) && !mprotect(copy, size, PROT_READ | PROT_EXEC), "mprotect");
	must(mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) ==
		     (void *)start,
	     "mremap");
}

static int change(struct dl_phdr_info *info, size_t size, void *found)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "/libmsprofiler.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = (info->dlpi_addr + ph->p_vaddr) & ~(page - 1);
		uintptr_t end = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		if (anonymous)
			copy_text(info->dlpi_name, start, (end - start + page - 1) & ~(page - 1),
				  (off_t)(ph->p_offset & ~(page - 1)));
		else
			must(!mprotect((void *)start, end - start,
				       PROT_READ | PROT_WRITE | PROT_EXEC),
			     "mprotect");
		*(int *)found = 1;
	}
	return 1;
}

int main(int argc, char **argv)
{
	int found = 0;

	(void)argv;
	anonymous = argc > 1;
	dl_iterate_phdr(change, &found);
	must(found, "find libmsprofiler.so");
	truth_open(NULL);
	wait_for_test();
	for (int i = 0; i < 10; i++)
		truth_mark("rwx");
	return 0;
}
