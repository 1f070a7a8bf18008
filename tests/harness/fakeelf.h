/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds small ELF files for tests, well formed or with one thing off. The text segment's addresses
 * differ from its file offsets, and the section headers' addresses are nonsense, as in files
 * that confuse tools which read sections.
 */
#ifndef ACLTAP_FAKEELF_H
#define ACLTAP_FAKEELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKEELF_TEXT_OFFSET 0x1000u
#define FAKEELF_TEXT_BIAS 0x2000u /* address - file offset of the text segment */
#define FAKEELF_TEXT_SIZE 0x200u
#define FAKEELF_CODE(at) (FAKEELF_TEXT_OFFSET + FAKEELF_TEXT_BIAS + (at)) /* an address in it */

enum fakeelf_where { FAKE_DYNSYM = 1, FAKE_SYMTAB = 2 };

enum fakeelf_hash { FAKE_GNU_HASH, FAKE_SYSV_HASH, FAKE_NO_HASH };

struct fakeelf_sym {
	const char *name;
	uint8_t type, bind;   /* STT_, STB_ */
	uint16_t shndx;	      /* SHN_UNDEF: undefined */
	uint16_t version;     /* number in .gnu.version; | 0x8000 = not the default */
	uint8_t where;	      /* enum fakeelf_where */
	uint64_t value, size; /* address */
};

/* A defined global function at this place of the text, in .dynsym. */
#define FAKE_FUNC(n, at)                                                                           \
	{                                                                                          \
		.name = (n), .type = STT_FUNC, .bind = STB_GLOBAL, .shndx = 1, .version = 1,       \
		.where = FAKE_DYNSYM, .value = FAKEELF_CODE(at), .size = 16                        \
	}

struct fakeelf {
	const struct fakeelf_sym *syms;
	size_t n_syms;
	uint16_t type, machine; /* 0: ET_DYN, this machine's */
	enum fakeelf_hash hash;
	const char *interp; /* NULL: none */
	uint64_t flags_1;   /* DT_FLAGS_1 */
	bool no_dynamic;    /* no PT_DYNAMIC: a static executable */
	bool no_sections;   /* no section headers */
	bool versions;	    /* DT_VERSYM */
	bool elf32;	    /* class byte only */
};

struct fakeelf_image {
	uint8_t *bytes; /* to be freed */
	size_t len;
	size_t syms, names, hash, dynamic, shdrs; /* file offsets; 0: not there */
};

/* Aborts when there is no memory. */
void fakeelf_build(const struct fakeelf *f, struct fakeelf_image *img);

/* A file without a name with these bytes; aborts when it cannot be made. */
int fakeelf_fd(const void *bytes, size_t len);

#endif
