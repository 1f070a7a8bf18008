// SPDX-License-Identifier: GPL-2.0-only
#include "discover/plt_names.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/grow.h"
#include "util/readall.h"

#define MAX_PHDRS 128
#define MAX_DYN 4096 /* entries of the dynamic segment */
#define MAX_RELOC_BYTES (64u << 20)
#define MAX_SLOTS (1u << 16)
#define MAX_NAME 256
#define STUB_BYTES 32

struct slot {
	uint64_t vaddr;
	uint32_t sym;
};

struct plt_names {
	int fd;
	uint16_t machine;
	Elf64_Phdr phdrs[MAX_PHDRS];
	size_t n_phdrs;
	uint64_t symtab, strtab, strsz; /* addresses, bytes */
	struct slot *slots;		/* sorted by vaddr */
	size_t n_slots, room;
	char name[MAX_NAME];
};

/* All of it or an error; beyond the end of the file is damage. */
static int read_at(int fd, void *buf, size_t n, uint64_t off)
{
	ssize_t got;

	if (off > INT64_MAX - n)
		return -ENOEXEC;
	got = readall_at(fd, buf, n, off);
	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -ENOEXEC;
}

/* The PT_LOAD that has this address in the file, or NULL; *left = bytes from there to its end. */
static const Elf64_Phdr *segment_of(const struct plt_names *p, uint64_t vaddr, uint64_t *left)
{
	for (size_t i = 0; i < p->n_phdrs; i++) {
		const Elf64_Phdr *ph = &p->phdrs[i];

		if (ph->p_type != PT_LOAD || vaddr < ph->p_vaddr ||
		    vaddr - ph->p_vaddr >= ph->p_filesz)
			continue;
		*left = ph->p_filesz - (vaddr - ph->p_vaddr);
		return ph;
	}
	return NULL;
}

/* n bytes that the file puts at an address. */
static int read_vaddr(const struct plt_names *p, void *buf, size_t n, uint64_t vaddr)
{
	uint64_t left;
	const Elf64_Phdr *ph = segment_of(p, vaddr, &left);
	uint64_t off;

	if (!ph || left < n || __builtin_add_overflow(ph->p_offset, vaddr - ph->p_vaddr, &off))
		return -ENOEXEC;
	return read_at(p->fd, buf, n, off);
}

static int load_headers(struct plt_names *p)
{
	Elf64_Ehdr eh;
	int err = read_at(p->fd, &eh, sizeof(eh), 0);

	if (err)
		return err;
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_ident[EI_DATA] != ELFDATA2LSB || eh.e_phentsize != sizeof(Elf64_Phdr) ||
	    eh.e_phnum > MAX_PHDRS || (eh.e_machine != EM_X86_64 && eh.e_machine != EM_AARCH64))
		return -ENOEXEC;
	p->machine = eh.e_machine;
	p->n_phdrs = eh.e_phnum;
	return read_at(p->fd, p->phdrs, p->n_phdrs * sizeof(Elf64_Phdr), eh.e_phoff);
}

/* ---- Relocations -----------------------------------------------------------------------------*/

static bool names_slot(const struct plt_names *p, const Elf64_Rela *r)
{
	uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);

	if (!ELF64_R_SYM(r->r_info) || r->r_addend)
		return false;
	if (p->machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

static int add_slot(struct plt_names *p, const Elf64_Rela *r)
{
	if (p->n_slots == MAX_SLOTS)
		return -E2BIG;
	if (grow_table(p->slots, p->n_slots, p->room, 64))
		return -ENOMEM;
	p->slots[p->n_slots++] =
		(struct slot){.vaddr = r->r_offset, .sym = (uint32_t)ELF64_R_SYM(r->r_info)};
	return 0;
}

static int load_relocs(struct plt_names *p, uint64_t vaddr, uint64_t bytes)
{
	Elf64_Rela chunk[256];

	if (bytes > MAX_RELOC_BYTES)
		return -E2BIG;
	for (uint64_t left = bytes / sizeof(*chunk); left;) {
		size_t n = left < 256 ? (size_t)left : 256;
		int err = read_vaddr(p, chunk, n * sizeof(*chunk), vaddr);

		for (size_t i = 0; i < n && !err; i++)
			if (names_slot(p, &chunk[i]))
				err = add_slot(p, &chunk[i]);
		if (err)
			return err;
		vaddr += n * sizeof(*chunk);
		left -= n;
	}
	return 0;
}

struct dyn {
	uint64_t jmprel, jmprel_bytes, jmprel_type, rela, rela_bytes;
};

static void note_dyn(struct plt_names *p, struct dyn *d, const Elf64_Dyn *e)
{
	switch (e->d_tag) {
	case DT_JMPREL:
		d->jmprel = e->d_un.d_ptr;
		break;
	case DT_PLTRELSZ:
		d->jmprel_bytes = e->d_un.d_val;
		break;
	case DT_PLTREL:
		d->jmprel_type = e->d_un.d_val;
		break;
	case DT_RELA:
		d->rela = e->d_un.d_ptr;
		break;
	case DT_RELASZ:
		d->rela_bytes = e->d_un.d_val;
		break;
	case DT_SYMTAB:
		p->symtab = e->d_un.d_ptr;
		break;
	case DT_STRTAB:
		p->strtab = e->d_un.d_ptr;
		break;
	case DT_STRSZ:
		p->strsz = e->d_un.d_val;
		break;
	default:
		break;
	}
}

static int load_dynamic(struct plt_names *p)
{
	const Elf64_Phdr *ph = NULL;
	struct dyn d = {0};
	int err;

	for (size_t i = 0; i < p->n_phdrs && !ph; i++)
		if (p->phdrs[i].p_type == PT_DYNAMIC)
			ph = &p->phdrs[i];
	for (size_t i = 0; ph && i < ph->p_filesz / sizeof(Elf64_Dyn) && i < MAX_DYN; i++) {
		Elf64_Dyn e;

		if (ph->p_offset > INT64_MAX / 2)
			return -ENOEXEC;
		err = read_at(p->fd, &e, sizeof(e), ph->p_offset + i * sizeof(e));
		if (err)
			return err;
		if (e.d_tag == DT_NULL)
			break;
		note_dyn(p, &d, &e);
	}
	if (d.jmprel && d.jmprel_type == DT_RELA) {
		err = load_relocs(p, d.jmprel, d.jmprel_bytes);
		if (err)
			return err;
	}
	return d.rela ? load_relocs(p, d.rela, d.rela_bytes) : 0;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

void plt_names_free(struct plt_names *p)
{
	if (p)
		free(p->slots);
	free(p);
}

int plt_names_load(int fd, struct plt_names **out)
{
	_plt_names_ struct plt_names *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->fd = fd;
	err = load_headers(p);
	if (!err)
		err = load_dynamic(p);
	if (err)
		return err;
	if (p->n_slots)
		qsort(p->slots, p->n_slots, sizeof(*p->slots), by_vaddr);
	*out = take_ptr(p);
	return 0;
}

/* ---- Stubs -----------------------------------------------------------------------------------*/

static uint32_t le32(const uint8_t *b)
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* [endbr64] [bnd] jmp *disp(%rip) */
static bool stub_x86(const uint8_t *b, uint64_t vaddr, uint64_t *slot)
{
	size_t at = le32(b) == 0xfa1e0ff3 ? 4 : 0;

	if (b[at] == 0xf2)
		at++;
	if (b[at] != 0xff || b[at + 1] != 0x25)
		return false;
	*slot = vaddr + at + 6 + (uint64_t)(int64_t)(int32_t)le32(b + at + 2);
	return true;
}

/* [bti c] adrp x16, page; ldr x17, [x16, #n]; add x16, x16, #m; [autia1716] br x17 */
static bool stub_arm64(const uint8_t *b, uint64_t vaddr, uint64_t *slot)
{
	size_t at = le32(b) == 0xd503245f ? 4 : 0;
	uint32_t adrp = le32(b + at), ldr = le32(b + at + 4), add = le32(b + at + 8);
	uint32_t br = le32(b + at + 12);
	uint32_t pages = (adrp >> 29 & 3) | (adrp >> 5 & 0x7ffff) << 2;
	int64_t page = (int32_t)(pages << 11) >> 11; /* 21 bits, signed */

	if (br == 0xd503219f)
		br = le32(b + at + 16);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211 ||
	    (add & 0xffc003ff) != 0x91000210 || br != 0xd61f0220)
		return false;
	*slot = ((vaddr + at) & ~(uint64_t)0xfff) + (uint64_t)(page * 4096) +
		(ldr >> 10 & 0xfff) * 8;
	return true;
}

static const struct slot *find_slot(const struct plt_names *p, uint64_t vaddr)
{
	size_t lo = 0, hi = p->n_slots;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->slots[mid].vaddr < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}

	if (lo == p->n_slots || p->slots[lo].vaddr != vaddr)
		return NULL;

	const struct slot *s = p->slots + lo, *end = p->slots + p->n_slots;

	/* Several relocations of one slot may only repeat the symbol. */
	for (const struct slot *more = s + 1; more < end && more->vaddr == vaddr; more++)
		if (more->sym != s->sym)
			return NULL;
	return s;
}

static int read_symbol(const struct plt_names *p, uint32_t index, Elf64_Sym *sym)
{
	uint64_t at;

	if (__builtin_add_overflow(p->symtab, index * (uint64_t)sizeof(*sym), &at))
		return -ENOEXEC;
	return read_vaddr(p, sym, sizeof(*sym), at);
}

static const char *symbol_name(struct plt_names *p, const Elf64_Sym *sym)
{
	uint64_t left, at;
	size_t n = sizeof(p->name);

	if (!sym->st_name || sym->st_name >= p->strsz ||
	    __builtin_add_overflow(p->strtab, sym->st_name, &at) || !segment_of(p, at, &left))
		return NULL;
	if (left > p->strsz - sym->st_name)
		left = p->strsz - sym->st_name;
	if (n > left)
		n = (size_t)left;
	if (read_vaddr(p, p->name, n, at) || !memchr(p->name, '\0', n) || !p->name[0])
		return NULL;
	return p->name;
}

/* Up to STUB_BYTES of code, zeros behind it. */
static bool read_code(const struct plt_names *p, uint64_t vaddr, uint8_t code[STUB_BYTES])
{
	uint64_t left;
	const Elf64_Phdr *ph = segment_of(p, vaddr, &left);

	memset(code, 0, STUB_BYTES);
	return ph && (ph->p_flags & PF_X) &&
	       !read_vaddr(p, code, left < STUB_BYTES ? (size_t)left : STUB_BYTES, vaddr);
}

/* The slot at this address, or the one that the stub there jumps through. */
static const struct slot *slot_behind(const struct plt_names *p, uint64_t vaddr)
{
	const struct slot *s = find_slot(p, vaddr);
	uint8_t stub[STUB_BYTES];
	uint64_t slot;

	if (s || !read_code(p, vaddr, stub))
		return s;
	if (p->machine == EM_X86_64 ? stub_x86(stub, vaddr, &slot) : stub_arm64(stub, vaddr, &slot))
		return find_slot(p, slot);
	return NULL;
}

const char *plt_names_find(void *ctx, uint64_t vaddr)
{
	struct plt_names *p = ctx;
	const struct slot *s = slot_behind(p, vaddr);
	Elf64_Sym sym;

	return s && !read_symbol(p, s->sym, &sym) ? symbol_name(p, &sym) : NULL;
}

/* x86-64: [endbr64] [bnd] jmp; arm64: [bti c] b. Else the address itself. */
static uint64_t jump_target(const struct plt_names *p, uint64_t vaddr)
{
	uint8_t code[STUB_BYTES];
	size_t at = 0;

	if (!read_code(p, vaddr, code))
		return vaddr;
	if (p->machine == EM_X86_64) {
		at = le32(code) == 0xfa1e0ff3 ? 4 : 0;
		at += code[at] == 0xf2;
		if (code[at] != 0xe9)
			return vaddr;
		return vaddr + at + 5 + (uint64_t)(int64_t)(int32_t)le32(code + at + 1);
	}
	at = le32(code) == 0xd503245f ? 4 : 0;
	if ((le32(code + at) & 0xfc000000) != 0x14000000)
		return vaddr;
	return vaddr + at + (uint64_t)((int64_t)(int32_t)(le32(code + at) << 6) >> 4);
}

bool plt_names_forwards(struct plt_names *p, uint64_t vaddr, const char *name)
{
	const struct slot *s = slot_behind(p, jump_target(p, vaddr));
	const char *to;
	Elf64_Sym sym;

	/* Defined in this file it is another version of the function, and as good as this one. */
	if (!s || read_symbol(p, s->sym, &sym) || sym.st_shndx != SHN_UNDEF)
		return false;
	to = symbol_name(p, &sym);
	return to && !strcmp(to, name);
}
