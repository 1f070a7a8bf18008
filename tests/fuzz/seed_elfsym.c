// SPDX-License-Identifier: GPL-2.0-only
/* Writes seeds for fuzz_elfsym into the directory that is its argument. */
#include <stdio.h>
#include <stdlib.h>

#include "harness/fakeelf.h"

int main(int argc, char **argv)
{
	struct fakeelf_sym syms[] = {FAKE_FUNC("aclprofPush", 0x40), FAKE_FUNC("aclprofMark", 0x80),
				     FAKE_FUNC("mstxMarkA", 0x90),
				     FAKE_FUNC("_dl_debug_state", 0xa0)};

	if (argc != 2)
		return 2;
	syms[0].where = FAKE_DYNSYM | FAKE_SYMTAB;
	for (int i = 0; i < 24; i++) {
		struct fakeelf f = {.syms = syms,
				    .n_syms = 4,
				    .hash = (enum fakeelf_hash)(i % 3),
				    .no_sections = i / 3 & 1,
				    .versions = i / 6 & 1,
				    .no_dynamic = i / 12 & 1,
				    .interp = i & 1 ? "/lib/ld.so" : NULL};
		struct fakeelf_image img;
		char path[4096];
		FILE *out;

		fakeelf_build(&f, &img);
		snprintf(path, sizeof(path), "%s/elf%d", argv[1], i);
		out = fopen(path, "we");
		if (!out || fwrite(img.bytes, 1, img.len, out) != img.len || fclose(out)) {
			perror(path);
			return 1;
		}
		free(img.bytes);
	}
	return 0;
}
