/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where an ELF file keeps its symbols, by libelf. It sees an image in private memory, which pread
 * fills with the parts that are asked for: the target may change the file meanwhile, and would end
 * acltap by SIGBUS if it truncated one that is mapped. Symbols and names are read by elfread_at()
 * without libelf, piece by piece: their size is the target's choice.
 */
#ifndef ACLTAP_DISCOVER_ELFREAD_H
#define ACLTAP_DISCOVER_ELFREAD_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elfread {
	int fd; /* borrowed */
	uint64_t file_size;
	Elf64_Ehdr eh;
	char *image;	 /* of file_size bytes; owned */
	struct Elf *elf; /* over the image; owned */
	Elf64_Phdr *ph;	 /* owned */
	size_t n_ph;
	bool bad_sections; /* there are section headers, and they are damaged */
};

/* A symbol table; offsets are in the file and lie inside it together with their sizes. */
struct elf_table {
	uint64_t syms, n;
	uint64_t names, names_len;
	uint64_t versions; /* one 16-bit number a symbol, 0 = none */
	bool dynamic;	   /* what the dynamic loader sees */
	bool pie;	   /* DF_1_PIE: an executable, not a library */
};

/*
 * Reads and checks the headers. Returns 0; -ENOEXEC not an ELF program or library, or damaged;
 * -ENOTSUP 32-bit or a foreign machine (eh.e_machine and eh.e_ident are set); -errno of reading.
 * elfread_close() is due in every case.
 */
int elfread_open(struct elfread *r, int fd);
void elfread_close(struct elfread *r);

/* All of [offset, offset + len), or -ENOEXEC when the file does not have it, or -errno. */
int elfread_at(const struct elfread *r, uint64_t offset, void *buf, size_t len);

/*
 * File offset of an address in a PT_LOAD with all these p_flags, and how many bytes of the file
 * follow in that segment (may be NULL). False when there is none.
 */
bool elfread_offset(const struct elfread *r, uint64_t vaddr, uint32_t flags, uint64_t *offset,
		    uint64_t *left);

/* The first program header of that type, or NULL. */
const Elf64_Phdr *elfread_segment(const struct elfread *r, uint32_t type);

/*
 * The table of PT_DYNAMIC, and the one of the sections (.symtab). Return 0; -ENOENT when the file
 * has none; -ENOEXEC damaged; -EFBIG above 16 Mi symbols or 256 MiB of names; -errno of reading.
 */
int elfread_dynamic(struct elfread *r, struct elf_table *t);
int elfread_sections(const struct elfread *r, struct elf_table *t);

#endif
