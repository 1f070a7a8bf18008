// SPDX-License-Identifier: GPL-2.0-only
#include "discover/elfsym.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "discover/byname.h"
#include "discover/elfread.h"
#include "util/cleanup.h"

#define CHUNK 2048 /* symbols read at a time */

#define VERSION_HIDDEN 0x8000 /* not the default version of its name */

_Static_assert(ELF_MAX_FUNCS <= UINT8_MAX, "function numbers fit");

/*
 * Which of several symbols of one name a caller reaches: an exported one before one that only
 * .symtab has, there a global one before a local one, and the default version before others.
 */
enum rank { RANK_NONE, RANK_LOCAL, RANK_GLOBAL, RANK_OLD_VERSION, RANK_EXPORTED };

struct scan {
	struct elfread file;
	struct elf_scan *out;
	uint8_t rank[ELF_MAX_FUNCS];   /* enum rank of what out->funcs holds */
	uint64_t debug_state, r_debug; /* addresses, 0 = absent */
	bool imports_dlsym;
	struct elf_table dynamic;
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

/* Hand-written assembly often leaves a function without a type. */
static bool may_be_function(const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);

	return type == STT_FUNC || type == STT_NOTYPE;
}

static void judge(const struct scan *s, const Elf64_Sym *sym, struct sym *to)
{
	uint64_t left = 0;

	*to = (struct sym){.vaddr = sym->st_value, .same_as = -1};
	if (ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		to->state = SYM_IFUNC;
	else if (!may_be_function(sym))
		to->state = SYM_NOT_FUNC;
	else if (sym->st_shndx == SHN_ABS || sym->st_shndx == SHN_COMMON ||
		 !elfread_offset(&s->file, sym->st_value, PF_X, &to->offset, &left))
		to->state = SYM_NOT_LOADED;
	else
		to->state = SYM_FOUND;
	/* A size that leaves the segment is no size. */
	to->size = to->state == SYM_FOUND && sym->st_size <= left ? sym->st_size : 0;
}

static bool same_class(enum rank a, enum rank b)
{
	return a == b || (a >= RANK_OLD_VERSION && b >= RANK_OLD_VERSION);
}

static void note_entry(struct scan *s, const struct entry *e, const Elf64_Sym *sym, enum rank rank)
{
	struct sym *have = &s->out->funcs[e->func], found;
	enum rank was = s->rank[e->func];
	bool ambiguous;

	if (sym->st_shndx == SHN_UNDEF) {
		/* Some linkers leave the address of a PLT stub in it: not the function. */
		if (have->state == SYM_ABSENT)
			have->state = SYM_UNDEFINED;
		return;
	}
	judge(s, sym, &found);
	ambiguous = have->ambiguous || found.vaddr != have->vaddr;
	if (was != RANK_NONE && same_class(was, rank))
		have->ambiguous = found.ambiguous = ambiguous;
	if (rank > was) {
		*have = found;
		s->rank[e->func] = rank;
	}
}

static void note_loader(struct scan *s, const char *name, const Elf64_Sym *sym)
{
	if (!s->debug_state && may_be_function(sym) && !strcmp(name, "_dl_debug_state"))
		s->debug_state = sym->st_value;
	else if (!s->r_debug && ELF64_ST_TYPE(sym->st_info) == STT_OBJECT &&
		 !strcmp(name, "_r_debug"))
		s->r_debug = sym->st_value;
}

static void note_symbol(struct scan *s, const char *name, const Elf64_Sym *sym, enum rank rank)
{
	const struct entry *e;

	if (*name == '_' && sym->st_shndx != SHN_UNDEF)
		note_loader(s, name, sym);
	else if (!strncmp(name, "mstx", 4) && rank > RANK_LOCAL && sym->st_shndx != SHN_UNDEF &&
		 may_be_function(sym))
		s->out->has_mstx = true;
	else if (sym->st_shndx == SHN_UNDEF && (!strcmp(name, "dlsym") || !strcmp(name, "dlvsym")))
		s->imports_dlsym = true;
	else if (!strncmp(name, "aclprof", 7) && (e = entry_by_symbol(name)))
		note_entry(s, e, sym, rank);
}

static enum rank rank_of(const struct elf_table *t, const Elf64_Sym *sym, uint16_t version)
{
	if (t->dynamic)
		return version & VERSION_HIDDEN ? RANK_OLD_VERSION : RANK_EXPORTED;
	return ELF64_ST_BIND(sym->st_info) == STB_LOCAL ? RANK_LOCAL : RANK_GLOBAL;
}

/* The n symbols from number i on. */
static int read_chunk(struct scan *s, const struct elf_table *t, const char *names, uint64_t i,
		      size_t n)
{
	Elf64_Sym syms[CHUNK];
	Elf64_Half versions[CHUNK] = {0};
	int err = elfread_at(&s->file, t->syms + i * sizeof(*syms), syms, n * sizeof(*syms));

	if (!err && t->versions)
		err = elfread_at(&s->file, t->versions + i * sizeof(*versions), versions,
				 n * sizeof(*versions));
	for (size_t k = 0; k < n && !err; k++)
		if (syms[k].st_name < t->names_len)
			note_symbol(s, names + syms[k].st_name, &syms[k],
				    rank_of(t, &syms[k], versions[k]));
	return err;
}

static int read_table(struct scan *s, const struct elf_table *t)
{
	_free_ char *names = malloc(t->names_len + 1);
	int err;

	if (!names)
		return -ENOMEM;
	err = elfread_at(&s->file, t->names, names, t->names_len);
	names[t->names_len] = '\0'; /* the last name need not end */
	for (uint64_t i = 0; i < t->n && !err; i += CHUNK)
		err = read_chunk(s, t, names, i, t->n - i < CHUNK ? t->n - i : CHUNK);
	return err;
}

/*
 * What the loader sees must be sound. The section headers are for tools and often damaged on
 * purpose: they only count in a file that has nothing else.
 */
static int read_tables(struct scan *s, bool *pie)
{
	struct elf_table t;
	int err = elfread_dynamic(&s->file, &t);
	bool dynamic = !err;

	*pie = t.pie;
	s->dynamic = t;
	if (dynamic)
		err = read_table(s, &t);
	if (err && err != -ENOENT)
		return err;
	err = elfread_sections(&s->file, &t);
	if (!err)
		err = read_table(s, &t);
	return err == -ENOENT || (err == -ENOEXEC && dynamic) ? 0 : err;
}

static int read_interp(struct scan *s)
{
	const Elf64_Phdr *ph = elfread_segment(&s->file, PT_INTERP);
	char *to = s->out->interp;
	int err;

	if (!ph)
		return 0;
	if (!ph->p_filesz || ph->p_filesz > sizeof(s->out->interp))
		return -ENOEXEC;
	err = elfread_at(&s->file, ph->p_offset, to, ph->p_filesz);
	if (!err && to[ph->p_filesz - 1])
		err = -ENOEXEC;
	if (err)
		*to = '\0';
	return err;
}

static void find_aliases(struct elf_scan *out)
{
	for (size_t i = 0; i < entry_count(); i++) {
		struct sym *sym = &out->funcs[i];

		if (sym->state != SYM_FOUND)
			continue;
		out->n_found++;
		for (size_t j = 0; j < i && sym->same_as < 0; j++)
			if (out->funcs[j].state == SYM_FOUND && out->funcs[j].offset == sym->offset)
				sym->same_as = (int)j;
	}
}

static int scan_file(struct scan *s)
{
	struct elf_scan *out = s->out;
	bool pie;
	int err = read_interp(s);

	err = err ?: read_tables(s, &pie);
	if (err)
		return err;
	out->is_static = !*out->interp && (s->file.eh.e_type == ET_EXEC || pie);
	find_aliases(out);
	out->by_name = out->n_found && s->imports_dlsym && byname_holds(&s->file, &s->dynamic);
	if (s->debug_state &&
	    elfread_offset(&s->file, s->debug_state, PF_X, &out->dl_debug_state, NULL) &&
	    s->r_debug)
		out->r_debug_delta = (int64_t)(s->r_debug - s->debug_state);
	return 0;
}

int elfsym_scan(int fd, struct elf_scan *out)
{
	struct scan s = {.out = out};
	int err;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < ELF_MAX_FUNCS; i++)
		out->funcs[i].same_as = -1;
	err = elfread_open(&s.file, fd);
	out->machine = s.file.eh.e_machine;
	out->is_64 = s.file.eh.e_ident[EI_CLASS] == ELFCLASS64;
	err = err ?: scan_file(&s);
	elfread_close(&s.file);
	return err;
}
