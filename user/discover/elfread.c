// SPDX-License-Identifier: GPL-2.0-only
#include "discover/elfread.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/readall.h"

#define MAX_PHDRS 1170 /* 64 KiB of them; Linux runs no file with more */
#define MAX_SHDRS (1u << 17)
#define MAX_DYNAMIC 4096
#define MAX_SYMBOLS (16u << 20)
#define MAX_NAMES (256u << 20)

#define CHUNK 512

#if defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_X86_64
#endif

int elfread_at(const struct elfread *r, uint64_t offset, void *buf, size_t len)
{
	ssize_t n;

	if (offset > r->file_size || len > r->file_size - offset)
		return -ENOEXEC;
	n = readall_at(r->fd, buf, len, offset);
	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -ENOEXEC; /* truncated meanwhile */
}

/* Brings a part of the file into the image. */
static int fill(struct elfread *r, uint64_t offset, uint64_t len)
{
	if (offset > r->file_size || len > r->file_size - offset)
		return -ENOEXEC;
	return elfread_at(r, offset, r->image + offset, len);
}

static int map_image(struct elfread *r)
{
	void *p = mmap(NULL, r->file_size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	r->image = p;
	return 0;
}

static int fill_phdrs(struct elfread *r)
{
	const Elf64_Ehdr *eh = &r->eh;

	if (eh->e_phnum > MAX_PHDRS || (eh->e_phnum && eh->e_phentsize != sizeof(Elf64_Phdr)))
		return -ENOEXEC;
	return fill(r, eh->e_phoff, (uint64_t)eh->e_phnum * sizeof(Elf64_Phdr));
}

static int fill_shdrs(struct elfread *r)
{
	const Elf64_Ehdr *eh = &r->eh;
	uint64_t n = eh->e_shnum;
	Elf64_Shdr first;
	int err;

	if (eh->e_shentsize != sizeof(first))
		return -ENOEXEC;
	if (!n) { /* too many for the header: the first section says */
		err = elfread_at(r, eh->e_shoff, &first, sizeof(first));
		if (err)
			return err;
		n = first.sh_size;
	}
	return n > MAX_SHDRS ? -ENOEXEC : fill(r, eh->e_shoff, n * sizeof(first));
}

/* libelf refuses a file for damaged section headers, which the dynamic loader never looks at. */
static int fill_sections(struct elfread *r)
{
	Elf64_Ehdr *eh = (Elf64_Ehdr *)r->image;
	int err = r->eh.e_shoff ? fill_shdrs(r) : 0;

	r->bad_sections = err == -ENOEXEC;
	if (r->bad_sections || !r->eh.e_shoff)
		eh->e_shoff = eh->e_shnum = eh->e_shstrndx = 0;
	return r->bad_sections ? 0 : err;
}

/* Copies, as everywhere here: in place they need not be aligned. */
static int copy_phdrs(struct elfread *r)
{
	r->ph = calloc(r->n_ph + 1, sizeof(*r->ph));
	if (!r->ph)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_ph; i++)
		if (!gelf_getphdr(r->elf, (int)i, &r->ph[i]))
			return -ENOEXEC;
	return 0;
}

static int open_image(struct elfread *r)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	r->elf = elf_memory(r->image, r->file_size);
	if (!r->elf || elf_kind(r->elf) != ELF_K_ELF || elf_getphdrnum(r->elf, &r->n_ph))
		return -ENOEXEC;
	return copy_phdrs(r);
}

/* Is it one that this machine runs? */
static int check_header(const Elf64_Ehdr *eh)
{
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_machine != OWN_MACHINE)
		return -ENOTSUP;
	return 0;
}

static int open_file(struct elfread *r)
{
	/* Class and machine are at the same place in a 32-bit header, which is shorter. */
	int err = elfread_at(r, 0, &r->eh, sizeof(Elf32_Ehdr));

	err = err ?: check_header(&r->eh);
	err = err ?: map_image(r);
	err = err ?: fill(r, 0, sizeof(r->eh));
	if (err)
		return err;
	memcpy(&r->eh, r->image, sizeof(r->eh));
	err = check_header(&r->eh); /* it may have changed */
	if (!err && r->eh.e_type != ET_EXEC && r->eh.e_type != ET_DYN)
		err = -ENOEXEC;
	err = err ?: fill_phdrs(r);
	err = err ?: fill_sections(r);
	return err ?: open_image(r);
}

int elfread_open(struct elfread *r, int fd)
{
	struct stat st;

	memset(r, 0, sizeof(*r));
	r->fd = fd;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 0)
		return -ENOEXEC;
	r->file_size = (uint64_t)st.st_size;
	return open_file(r);
}

void elfread_close(struct elfread *r)
{
	free(r->ph);
	elf_end(r->elf);
	if (r->image)
		munmap(r->image, r->file_size);
	memset(r, 0, sizeof(*r));
}

const Elf64_Phdr *elfread_segment(const struct elfread *r, uint32_t type)
{
	for (size_t i = 0; i < r->n_ph; i++)
		if (r->ph[i].p_type == type)
			return &r->ph[i];
	return NULL;
}

bool elfread_offset(const struct elfread *r, uint64_t vaddr, uint32_t flags, uint64_t *offset,
		    uint64_t *left)
{
	for (size_t i = 0; i < r->n_ph; i++) {
		const Elf64_Phdr *ph = &r->ph[i];
		uint64_t delta = vaddr - ph->p_vaddr;

		if (ph->p_type != PT_LOAD || (ph->p_flags & flags) != flags ||
		    vaddr < ph->p_vaddr || delta >= ph->p_filesz)
			continue;
		/* A segment that reaches past the end of the file has no code there. */
		if (ph->p_offset > r->file_size || delta >= r->file_size - ph->p_offset)
			continue;
		*offset = ph->p_offset + delta;
		if (left) {
			uint64_t in_file = r->file_size - *offset;

			*left = ph->p_filesz - delta;
			*left = *left < in_file ? *left : in_file;
		}
		return true;
	}
	return false;
}

/* Sizes within the limits and inside the file? */
static int check_table(const struct elfread *r, const struct elf_table *t)
{
	if (t->n > MAX_SYMBOLS || t->names_len > MAX_NAMES)
		return -EFBIG;
	if (t->syms > r->file_size || t->n * sizeof(Elf64_Sym) > r->file_size - t->syms ||
	    t->names > r->file_size || t->names_len > r->file_size - t->names)
		return -ENOEXEC;
	if (t->versions &&
	    (t->versions > r->file_size || t->n * sizeof(Elf64_Half) > r->file_size - t->versions))
		return -ENOEXEC;
	return 0;
}

/* ---- what the dynamic loader sees ---- */

struct dynamic {
	uint64_t symtab, strtab, strsz, syment, hash, gnu_hash, versym, flags_1; /* 0 = absent */
};

static void note_dynamic(struct dynamic *d, const Elf64_Dyn *dyn)
{
	switch (dyn->d_tag) {
	case DT_SYMTAB:
		d->symtab = dyn->d_un.d_ptr;
		break;
	case DT_STRTAB:
		d->strtab = dyn->d_un.d_ptr;
		break;
	case DT_STRSZ:
		d->strsz = dyn->d_un.d_val;
		break;
	case DT_SYMENT:
		d->syment = dyn->d_un.d_val;
		break;
	case DT_HASH:
		d->hash = dyn->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		d->gnu_hash = dyn->d_un.d_ptr;
		break;
	case DT_VERSYM:
		d->versym = dyn->d_un.d_ptr;
		break;
	case DT_FLAGS_1:
		d->flags_1 = dyn->d_un.d_val;
		break;
	}
}

static int read_dynamic(struct elfread *r, const Elf64_Phdr *ph, struct dynamic *d)
{
	uint64_t n = ph->p_filesz / sizeof(Elf64_Dyn);
	Elf_Data *data;
	Elf64_Dyn dyn;
	int err;

	n = n < MAX_DYNAMIC ? n : MAX_DYNAMIC;
	err = n ? fill(r, ph->p_offset, n * sizeof(Elf64_Dyn)) : 0;
	if (err || !n)
		return err;
	data = elf_getdata_rawchunk(r->elf, (int64_t)ph->p_offset, n * sizeof(Elf64_Dyn),
				    ELF_T_DYN);
	if (!data)
		return -ENOEXEC;
	for (int i = 0; gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++)
		note_dynamic(d, &dyn);
	return 0;
}

/* The highest symbol number that a bucket begins with. */
static int max_bucket(const struct elfread *r, uint64_t at, uint32_t n, uint32_t *max)
{
	uint32_t b[CHUNK];

	*max = 0;
	for (uint32_t i = 0, k; i < n; i += k) {
		int err;

		k = n - i < CHUNK ? n - i : CHUNK;
		err = elfread_at(r, at + (uint64_t)i * 4, b, k * sizeof(*b));
		if (err)
			return err;
		for (uint32_t j = 0; j < k; j++)
			*max = b[j] > *max ? b[j] : *max;
	}
	return 0;
}

/* The number of the symbol that ends the chain of symbol i; its hash lies at at. */
static int end_of_chain(const struct elfread *r, uint64_t at, uint64_t i, uint64_t *last)
{
	uint32_t h[CHUNK];

	while (i < MAX_SYMBOLS && at < r->file_size) {
		uint64_t left = (r->file_size - at) / sizeof(*h);
		size_t k = left < CHUNK ? left : CHUNK;
		int err = k ? elfread_at(r, at, h, k * sizeof(*h)) : -ENOEXEC;

		if (err)
			return err;
		for (size_t j = 0; j < k; j++, i++) {
			*last = i;
			if (h[j] & 1)
				return 0;
		}
		at += k * sizeof(*h);
	}
	return i < MAX_SYMBOLS ? -ENOEXEC : -EFBIG;
}

/* A GNU hash table does not say how many symbols there are: the last chain ends with the last. */
static int count_gnu_hash(const struct elfread *r, uint64_t at, uint64_t *n)
{
	uint32_t h[4], first; /* buckets, first symbol, words of the filter, shift */
	uint64_t buckets, last = 0;
	int err = elfread_at(r, at, h, sizeof(h));

	if (err)
		return err;
	if (h[0] > MAX_SYMBOLS)
		return -EFBIG;
	buckets = at + sizeof(h) + (uint64_t)h[2] * 8;
	err = max_bucket(r, buckets, h[0], &first);
	if (err)
		return err;
	*n = h[1];
	if (first < h[1])
		return first ? -ENOEXEC : 0;
	err = end_of_chain(r, buckets + ((uint64_t)h[0] + first - h[1]) * 4, first, &last);
	*n = last + 1;
	return err;
}

static int count_dynamic(const struct elfread *r, const struct dynamic *d, uint64_t *n)
{
	uint64_t at;
	uint32_t h[2];
	int err;

	if (d->gnu_hash && elfread_offset(r, d->gnu_hash, 0, &at, NULL))
		return count_gnu_hash(r, at, n);
	if (d->hash && elfread_offset(r, d->hash, 0, &at, NULL)) {
		err = elfread_at(r, at, h, sizeof(h));
		*n = err ? 0 : h[1];
		return err;
	}
	/* No hash table: linkers put the names right behind the symbols. */
	*n = d->strtab > d->symtab ? (d->strtab - d->symtab) / sizeof(Elf64_Sym) : 0;
	return 0;
}

int elfread_dynamic(struct elfread *r, struct elf_table *t)
{
	const Elf64_Phdr *ph = elfread_segment(r, PT_DYNAMIC);
	struct dynamic d = {0};
	int err;

	memset(t, 0, sizeof(*t));
	t->dynamic = true;
	if (!ph)
		return -ENOENT;
	err = read_dynamic(r, ph, &d);
	if (err)
		return err;
	t->pie = d.flags_1 & DF_1_PIE;
	if (!d.symtab || !d.strtab)
		return -ENOENT;
	if (d.syment && d.syment != sizeof(Elf64_Sym))
		return -ENOEXEC;
	t->names_len = d.strsz;
	if (!elfread_offset(r, d.symtab, 0, &t->syms, NULL) ||
	    !elfread_offset(r, d.strtab, 0, &t->names, NULL) ||
	    (d.versym && !elfread_offset(r, d.versym, 0, &t->versions, NULL)))
		return -ENOEXEC;
	err = count_dynamic(r, &d, &t->n);
	return err ? err : check_table(r, t);
}

/* ---- sections ---- */

static int take_symtab(const struct elfread *r, const Elf64_Shdr *sh, struct elf_table *t)
{
	Elf_Scn *scn = elf_getscn(r->elf, sh->sh_link);
	Elf64_Shdr names;

	if (!scn || !gelf_getshdr(scn, &names) || sh->sh_entsize != sizeof(Elf64_Sym) ||
	    names.sh_type != SHT_STRTAB)
		return -ENOEXEC;
	t->syms = sh->sh_offset;
	t->n = sh->sh_size / sizeof(Elf64_Sym);
	t->names = names.sh_offset;
	t->names_len = names.sh_size;
	return check_table(r, t);
}

int elfread_sections(const struct elfread *r, struct elf_table *t)
{
	Elf_Scn *scn = NULL;
	Elf64_Shdr sh;

	memset(t, 0, sizeof(*t));
	if (r->bad_sections)
		return -ENOEXEC;
	while ((scn = elf_nextscn(r->elf, scn))) {
		if (!gelf_getshdr(scn, &sh))
			return -ENOEXEC;
		if (sh.sh_type == SHT_SYMTAB)
			return take_symtab(r, &sh, t);
	}
	return -ENOENT;
}
