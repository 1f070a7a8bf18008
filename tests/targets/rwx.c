// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the library's text writable before it uses it, as hot patchers do: the kernel then places
 * no probe there, and a tracer must say so.
 * usage: rwx
 */
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "truth.h"

static int make_writable(struct dl_phdr_info *info, size_t size, void *found)
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
		must(mprotect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC) == 0,
		     "mprotect");
		*(int *)found = 1;
	}
	return 1;
}

int main(void)
{
	int found = 0;

	dl_iterate_phdr(make_writable, &found);
	must(found, "find libmsprofiler.so");
	truth_open(NULL);
	wait_for_test();
	for (int i = 0; i < 10; i++)
		truth_mark("rwx");
	return 0;
}
