// SPDX-License-Identifier: GPL-2.0-only
#include "discover/elfread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
	char *p = buf;

	if (offset > r->file_size || len > r->file_size - offset)
		return -ENOEXEC;
	while (len) {
		ssize_t n = pread(r->fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n) /* truncated meanwhile */
			return -ENOEXEC;
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static int read_phdrs(struct elfread *r)
{
	size_t n = r->eh.e_phnum;

	if (n > MAX_PHDRS || (n && r->eh.e_phentsize != sizeof(*r->ph)))
		return -ENOEXEC;
	r->ph = calloc(n ? n : 1, sizeof(*r->ph));
	if (!r->ph)
		return -ENOMEM;
	r->n_ph = n;
	return elfread_at(r, r->eh.e_phoff, r->ph, n * sizeof(*r->ph));
}

int elfread_open(struct elfread *r, int fd)
{
	struct stat st;
	int err;

	memset(r, 0, sizeof(*r));
	r->fd = fd;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < 0)
		return -ENOEXEC;
	r->file_size = (uint64_t)st.st_size;
	/* Class and machine are at the same place in a 32-bit header, which is shorter. */
	err = elfread_at(r, 0, &r->eh, sizeof(Elf32_Ehdr));
	if (err)
		return err;
	if (memcmp(r->eh.e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (r->eh.e_ident[EI_CLASS] != ELFCLASS64 || r->eh.e_ident[EI_DATA] != ELFDATA2LSB ||
	    r->eh.e_machine != OWN_MACHINE)
		return -ENOTSUP;
	err = elfread_at(r, 0, &r->eh, sizeof(r->eh));
	if (err)
		return err;
	if (r->eh.e_type != ET_EXEC && r->eh.e_type != ET_DYN)
		return -ENOEXEC;
	return read_phdrs(r);
}

void elfread_close(struct elfread *r)
{
	free(r->ph);
	r->ph = NULL;
	r->n_ph = 0;
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

static int read_dynamic(const struct elfread *r, const Elf64_Phdr *ph, struct dynamic *d)
{
	uint64_t n = ph->p_filesz / sizeof(Elf64_Dyn);

	for (uint64_t i = 0; i < n && i < MAX_DYNAMIC; i++) {
		Elf64_Dyn dyn;
		uint64_t at = ph->p_offset + i * sizeof(dyn);
		int err = at < ph->p_offset ? -ENOEXEC : elfread_at(r, at, &dyn, sizeof(dyn));

		if (err)
			return err;
		if (dyn.d_tag == DT_NULL)
			return 0;
		note_dynamic(d, &dyn);
	}
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

int elfread_dynamic(const struct elfread *r, struct elf_table *t)
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

static int read_shdr(const struct elfread *r, uint64_t i, Elf64_Shdr *sh)
{
	uint64_t at = r->eh.e_shoff + i * sizeof(*sh);

	return at < r->eh.e_shoff ? -ENOEXEC : elfread_at(r, at, sh, sizeof(*sh));
}

static int take_symtab(const struct elfread *r, const Elf64_Shdr *sh, uint64_t n_sh,
		       struct elf_table *t)
{
	Elf64_Shdr names;
	int err = sh->sh_link < n_sh ? read_shdr(r, sh->sh_link, &names) : -ENOEXEC;

	if (err)
		return err;
	if (sh->sh_entsize != sizeof(Elf64_Sym) || names.sh_type != SHT_STRTAB)
		return -ENOEXEC;
	t->syms = sh->sh_offset;
	t->n = sh->sh_size / sizeof(Elf64_Sym);
	t->names = names.sh_offset;
	t->names_len = names.sh_size;
	return check_table(r, t);
}

int elfread_sections(const struct elfread *r, struct elf_table *t)
{
	uint64_t n = r->eh.e_shnum;
	Elf64_Shdr sh;
	int err;

	memset(t, 0, sizeof(*t));
	if (!r->eh.e_shoff)
		return -ENOENT;
	if (r->eh.e_shentsize != sizeof(sh))
		return -ENOEXEC;
	if (!n) { /* too many for the header: the first section says */
		err = read_shdr(r, 0, &sh);
		if (err)
			return err;
		n = sh.sh_size;
	}
	if (n > MAX_SHDRS)
		return -ENOEXEC;
	for (uint64_t i = 1; i < n; i++) {
		err = read_shdr(r, i, &sh);
		if (err)
			return err;
		if (sh.sh_type == SHT_SYMTAB)
			return take_symtab(r, &sh, n, t);
	}
	return -ENOENT;
}
