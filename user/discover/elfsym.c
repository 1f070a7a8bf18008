// SPDX-License-Identifier: GPL-2.0-only
/*
 * libelf reads with pread (ELF_C_READ): a mapping of a file that the target truncates meanwhile
 * would end acltap by SIGBUS.
 */
#include "discover/elfsym.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/entry.h"

#define MAX_PHDRS 1024
#define MAX_SYMBOLS (16u << 20)

#define VERSYM_HIDDEN 0x8000
#define VERSYM_VERSION 0x7fff

struct reader {
	int fd;
	Elf *elf;
	size_t n_phdrs;
	uint64_t debug_state, r_debug; /* vaddrs, 0 = absent */
	struct elf_scan *out;
};

const char *sym_state_text(enum sym_state st)
{
	switch (st) {
	case SYM_ABSENT:
		return "absent";
	case SYM_FOUND:
		return "found";
	case SYM_UNDEFINED:
		return "imported from another file";
	case SYM_IFUNC:
		return "an indirect function (IFUNC): its address is a resolver's";
	case SYM_NOT_LOADED:
		return "its address lies in no executable segment";
	case SYM_NOT_FUNC:
		return "not a function";
	}
	return "?";
}

/* The file offset of an address in an executable segment; false when in none. */
static bool code_offset(const struct reader *r, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < r->n_phdrs; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(r->elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X))
			continue;
		if (vaddr >= ph.p_vaddr && vaddr - ph.p_vaddr < ph.p_filesz) {
			*offset = vaddr - ph.p_vaddr + ph.p_offset;
			return true;
		}
	}
	return false;
}

static enum sym_state judge(const struct reader *r, const GElf_Sym *sym, uint64_t *offset)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (sym->st_shndx == SHN_UNDEF)
		return SYM_UNDEFINED;
	if (type == STT_GNU_IFUNC)
		return SYM_IFUNC;
	if (type != STT_FUNC && type != STT_NOTYPE)
		return SYM_NOT_FUNC;
	return code_offset(r, sym->st_value, offset) ? SYM_FOUND : SYM_NOT_LOADED;
}

/* The better of two sights of one name: found beats refused, the default version beats others. */
static void note_entry(struct reader *r, const struct entry *e, const GElf_Sym *sym, bool hidden)
{
	struct sym *s = &r->out->funcs[e->func];
	uint64_t offset = 0;
	enum sym_state state = judge(r, sym, &offset);
	bool was_found = s->state == SYM_FOUND;

	if (was_found && (state != SYM_FOUND || offset == s->offset))
		return;
	if (was_found) {
		s->ambiguous = true;
		if (hidden)
			return;
	}
	s->state = (uint8_t)state;
	s->offset = offset;
	s->vaddr = sym->st_value;
	s->size = sym->st_size;
}

static void note_symbol(struct reader *r, const char *name, const GElf_Sym *sym, bool hidden)
{
	const struct entry *e;

	if (*name == '_') {
		if (sym->st_shndx == SHN_UNDEF)
			return;
		if (!strcmp(name, "_dl_debug_state"))
			r->debug_state = sym->st_value;
		else if (!strcmp(name, "_r_debug"))
			r->r_debug = sym->st_value;
		return;
	}
	if (!strncmp(name, "mstx", 4) && sym->st_shndx != SHN_UNDEF)
		r->out->has_mstx = true;
	if (strncmp(name, "aclprof", 7))
		return;
	e = entry_by_symbol(name);
	if (e)
		note_entry(r, e, sym, hidden);
}

static bool is_hidden(Elf_Data *versions, size_t i)
{
	GElf_Versym v;

	return versions && gelf_getversym(versions, (int)i, &v) && v & VERSYM_HIDDEN &&
	       (v & VERSYM_VERSION) > 1;
}

static Elf_Data *versions_of(struct reader *r, Elf_Scn *dynsym)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(r->elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_GNU_versym &&
		    sh.sh_link == elf_ndxscn(dynsym))
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

static void read_table(struct reader *r, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Data *versions = sh->sh_type == SHT_DYNSYM ? versions_of(r, scn) : NULL;
	size_t n;

	if (!data || !sh->sh_entsize)
		return;
	n = data->d_size / sh->sh_entsize;
	for (size_t i = 1; i < n && i < MAX_SYMBOLS; i++) {
		GElf_Sym sym;
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym))
			return;
		name = elf_strptr(r->elf, sh->sh_link, sym.st_name);
		if (name && *name)
			note_symbol(r, name, &sym, is_hidden(versions, i));
	}
}

static void read_tables(struct reader *r)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(r->elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_DYNSYM || sh.sh_type == SHT_SYMTAB))
			read_table(r, scn, &sh);
	}
}

static void read_interp(struct reader *r)
{
	struct elf_scan *out = r->out;
	bool executable = false;
	GElf_Ehdr eh;

	for (size_t i = 0; i < r->n_phdrs; i++) {
		GElf_Phdr ph;
		ssize_t n;

		if (!gelf_getphdr(r->elf, (int)i, &ph) || ph.p_type != PT_INTERP)
			continue;
		n = ph.p_filesz < sizeof(out->interp) ?
			    pread(r->fd, out->interp, ph.p_filesz, (off_t)ph.p_offset) :
			    -1;
		out->interp[n > 0 ? n : 0] = '\0';
	}
	if (gelf_getehdr(r->elf, &eh))
		executable = eh.e_type == ET_EXEC || (eh.e_type == ET_DYN && eh.e_entry);
	out->is_static = executable && !*out->interp;
}

static void finish(struct reader *r)
{
	struct elf_scan *out = r->out;

	for (size_t i = 0; i < entry_count(); i++) {
		struct sym *s = &out->funcs[i];

		s->same_as = -1;
		if (s->state != SYM_FOUND)
			continue;
		out->n_found++;
		for (size_t j = 0; j < i && s->same_as < 0; j++)
			if (out->funcs[j].state == SYM_FOUND && out->funcs[j].offset == s->offset)
				s->same_as = (int)j;
	}
	if (r->debug_state && code_offset(r, r->debug_state, &out->dl_debug_state) && r->r_debug)
		out->r_debug_delta = (int64_t)(r->r_debug - r->debug_state);
}

static int scan(struct reader *r)
{
	struct elf_scan *out = r->out;
	GElf_Ehdr eh;

	if (elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &eh))
		return -ENOEXEC;
	out->machine = eh.e_machine;
	out->is_64 = gelf_getclass(r->elf) == ELFCLASS64;
#if defined(__x86_64__)
	if (!out->is_64 || out->machine != EM_X86_64)
		return -ENOTSUP;
#elif defined(__aarch64__)
	if (!out->is_64 || out->machine != EM_AARCH64)
		return -ENOTSUP;
#endif
	if (elf_getphdrnum(r->elf, &r->n_phdrs) || r->n_phdrs > MAX_PHDRS)
		return -ENOEXEC;
	read_interp(r);
	read_tables(r);
	finish(r);
	return 0;
}

int elfsym_scan(int fd, struct elf_scan *out)
{
	struct reader r = { .fd = fd, .out = out };
	struct stat st;
	int err;

	memset(out, 0, sizeof(*out));
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	r.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!r.elf)
		return -ENOEXEC;
	err = scan(&r);
	elf_end(r.elf);
	return err;
}
