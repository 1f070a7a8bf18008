/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads an ELF file that the target controls: which entry points it defines and where, its
 * interpreter, the loader's notification function. In: a descriptor. Out: file offsets from
 * PT_LOAD. Hostile input: every size is checked, nothing is trusted.
 */
#ifndef ACLTAP_DISCOVER_ELFSYM_H
#define ACLTAP_DISCOVER_ELFSYM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Why a symbol that is there cannot be probed. */
enum sym_state {
	SYM_ABSENT,	/* not in the file: normal, versions differ */
	SYM_FOUND,	/* offset and size are valid */
	SYM_UNDEFINED,	/* imported from another file */
	SYM_IFUNC,	/* an indirect function: its address is a resolver */
	SYM_NOT_LOADED, /* its address is in no executable PT_LOAD */
	SYM_NOT_FUNC,	/* not a function symbol */
};

struct sym {
	uint8_t state;	 /* enum sym_state */
	bool ambiguous;	 /* several versions; the default one (@@) was taken */
	uint64_t offset; /* file offset of the first instruction */
	uint64_t vaddr;
	uint64_t size; /* bytes, 0 = unknown */
	int same_as;   /* func number of an earlier row at the same offset (ICF, alias), or -1 */
};

#define ELF_MAX_FUNCS 64

struct elf_scan {
	uint16_t machine; /* EM_X86_64, EM_AARCH64, ... */
	bool is_64;
	bool is_static; /* executable without an interpreter */
	int n_found;	/* rows with SYM_FOUND */
	bool has_mstx;	/* defines mstx functions, which are not traced */
	bool by_name;	/* has rows, and may look the same functions up elsewhere */
	struct sym funcs[ELF_MAX_FUNCS]; /* indexed by wire func */
	char interp[PATH_MAX];		 /* PT_INTERP, "" = none; as the target wrote it */
	uint64_t dl_debug_state;	 /* file offset of _dl_debug_state, 0 = absent */
	int64_t r_debug_delta; /* vaddr of _r_debug minus that of _dl_debug_state, 0 = absent */
};

/*
 * Returns 0, or: -ENOEXEC not an ELF file or damaged; -ENOTSUP 32-bit or a foreign machine (the
 * fields machine and is_64 are set); -errno of reading. fd stays open.
 */
int elfsym_scan(int fd, struct elf_scan *out);

/* "imported from another file" and so on. */
const char *sym_state_text(enum sym_state st);

#endif
