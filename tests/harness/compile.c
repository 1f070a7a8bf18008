// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/compile.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "util/cleanup.h"

#define COMMAND(buf, fmt)                                                                          \
	do {                                                                                       \
		va_list ap_;                                                                       \
		va_start(ap_, fmt);                                                                \
		int n_ = vsnprintf(buf, sizeof(buf), fmt, ap_);                                    \
		va_end(ap_);                                                                       \
		assert_in_range(n_, 1, (int)sizeof(buf) - 1);                                      \
	} while (0)

bool have_command(const char *name)
{
	char cmd[256];

	snprintf(cmd, sizeof(cmd), "command -v %s >/dev/null 2>&1", name);
	return system(cmd) == 0;
}

void run_command(const char *fmt, ...)
{
	char cmd[2048];

	COMMAND(cmd, fmt);
	if (system(cmd) != 0)
		fail_msg("failed: %s", cmd);
}

char *command_output(const char *fmt, ...)
{
	char cmd[2048], *text = NULL;
	size_t sz = 0, got;
	char chunk[4096];
	FILE *p;
	FILE *mem = open_memstream(&text, &sz);

	COMMAND(cmd, fmt);
	assert_non_null(mem);
	p = popen(cmd, "r");
	assert_non_null(p);
	while ((got = fread(chunk, 1, sizeof(chunk), p)) > 0)
		assert_int_equal(fwrite(chunk, 1, got, mem), got);
	assert_int_equal(fclose(mem), 0);
	if (pclose(p) != 0)
		fail_msg("failed: %s", cmd);
	return text;
}

static void fill(Elf *e, const GElf_Sym *sym, struct comp_func *f)
{
	Elf_Scn *scn = elf_getscn(e, sym->st_shndx);
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh))
		return;
	f->vaddr = sym->st_value;
	f->size = sym->st_size;
	f->offset = sym->st_value - sh.sh_addr + sh.sh_offset;
}

void find_funcs(const char *path, struct comp_func *f, size_t n)
{
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Sym sym;

	elf_version(EV_CURRENT);
	Elf *e = elf_begin(fd, ELF_C_READ, NULL);

	assert_non_null(e);
	while ((scn = elf_nextscn(e, scn)) && gelf_getshdr(scn, &sh)) {
		Elf_Data *d = sh.sh_type == SHT_SYMTAB ? elf_getdata(scn, NULL) : NULL;

		for (int i = 0; d && gelf_getsym(d, i, &sym); i++) {
			const char *name = elf_strptr(e, sh.sh_link, sym.st_name);

			for (size_t k = 0; name && k < n; k++)
				if (!strcmp(name, f[k].name) && sym.st_shndx != SHN_UNDEF)
					fill(e, &sym, &f[k]);
		}
	}
	elf_end(e);
}
