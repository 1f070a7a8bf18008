// SPDX-License-Identifier: GPL-2.0-only
#include "harness/fakeelf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CAP 0x10000u
#define N_PHDRS 4
#define N_SHDRS 4 /* null, .symtab, .strtab, .dynsym */

#if defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#else
#define OWN_MACHINE EM_X86_64
#endif

static void *put(struct fakeelf_image *img, const void *p, size_t n)
{
	void *at = img->bytes + img->len;

	if (img->len + n > CAP)
		abort();
	if (p)
		memcpy(at, p, n);
	img->len += n;
	return at;
}

static void align(struct fakeelf_image *img, size_t to)
{
	while (img->len % to)
		put(img, NULL, 1);
}

/* The symbols of one table, and the names behind them. Returns how many, the null one counted. */
static size_t put_table(struct fakeelf_image *img, const struct fakeelf *f, uint8_t where,
			size_t *syms, size_t *names)
{
	char text[CAP / 4] = "";
	size_t len = 1, n = 1;

	align(img, 8);
	*syms = img->len;
	put(img, NULL, sizeof(Elf64_Sym));
	for (size_t i = 0; i < f->n_syms; i++) {
		const struct fakeelf_sym *s = &f->syms[i];
		Elf64_Sym sym = {.st_name = (Elf64_Word)len,
				 .st_info = ELF64_ST_INFO(s->bind, s->type),
				 .st_shndx = s->shndx,
				 .st_value = s->value,
				 .st_size = s->size};

		if (!(s->where & where))
			continue;
		if (len + strlen(s->name) + 1 > sizeof(text))
			abort();
		len += (size_t)(stpcpy(text + len, s->name) - (text + len)) + 1;
		put(img, &sym, sizeof(sym));
		n++;
	}
	*names = img->len;
	put(img, text, len);
	return n;
}

static size_t put_versions(struct fakeelf_image *img, const struct fakeelf *f)
{
	size_t at;
	uint16_t zero = 0;

	align(img, 8);
	at = img->len;
	put(img, &zero, sizeof(zero));
	for (size_t i = 0; i < f->n_syms; i++)
		if (f->syms[i].where & FAKE_DYNSYM)
			put(img, &f->syms[i].version, sizeof(zero));
	return at;
}

/* Only what tells the number of symbols is right: nobody looks a name up in it. */
static void put_hash(struct fakeelf_image *img, enum fakeelf_hash kind, size_t n)
{
	align(img, 8);
	img->hash = img->len;
	if (kind == FAKE_GNU_HASH) {
		uint32_t head[] = {2, 1, 1, 6, 0, 0, n > 1 ? 1 : 0, n > 2 ? 2 : 0};

		put(img, head, sizeof(head));
		for (uint32_t i = 1; i < n; i++) {
			uint32_t h = i << 1 | (i == 1 || i + 1 == n);

			put(img, &h, sizeof(h));
		}
	} else if (kind == FAKE_SYSV_HASH) {
		uint32_t head[] = {1, (uint32_t)n, n > 1 ? 1 : 0};

		put(img, head, sizeof(head));
		put(img, NULL, n * sizeof(uint32_t));
	}
}

static void put_dynamic(struct fakeelf_image *img, const struct fakeelf *f)
{
	size_t n = put_table(img, f, FAKE_DYNSYM, &img->syms, &img->names);
	size_t names_len = img->len - img->names;
	size_t versions = f->versions ? put_versions(img, f) : 0;

	put_hash(img, f->hash, n);
	align(img, 8);
	img->dynamic = img->len;
	{
		Elf64_Dyn dyn[] = {
			{DT_SYMTAB, {img->syms}},
			{DT_STRTAB, {img->names}},
			{DT_STRSZ, {names_len}},
			{DT_SYMENT, {sizeof(Elf64_Sym)}},
			{DT_FLAGS_1, {f->flags_1}},
			{f->versions ? DT_VERSYM : DT_DEBUG, {versions}},
			{f->hash == FAKE_GNU_HASH    ? DT_GNU_HASH
			 : f->hash == FAKE_SYSV_HASH ? DT_HASH
						     : DT_DEBUG,
			 {img->hash}},
			{DT_NULL, {0}},
		};

		put(img, dyn, sizeof(dyn));
	}
}

static void put_sections(struct fakeelf_image *img, const struct fakeelf *f)
{
	Elf64_Shdr sh[N_SHDRS] = {0};
	size_t syms, names, end;
	size_t n = put_table(img, f, FAKE_SYMTAB, &syms, &names);

	end = img->len;
	align(img, 8);
	img->shdrs = img->len;
	sh[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
			     .sh_addr = 0xdead0000,
			     .sh_offset = syms,
			     .sh_size = n * sizeof(Elf64_Sym),
			     .sh_link = 2,
			     .sh_entsize = sizeof(Elf64_Sym)};
	sh[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = end - names};
	sh[3] = (Elf64_Shdr){.sh_type = SHT_DYNSYM, .sh_addr = 0xbeef, .sh_offset = 1};
	put(img, sh, sizeof(sh));
}

static size_t put_interp(struct fakeelf_image *img, const char *interp, Elf64_Phdr *ph)
{
	if (!interp)
		return 0;
	*ph = (Elf64_Phdr){.p_type = PT_INTERP,
			   .p_flags = PF_R,
			   .p_offset = img->len,
			   .p_vaddr = img->len,
			   .p_filesz = strlen(interp) + 1};
	put(img, interp, strlen(interp) + 1);
	return 1;
}

static size_t describe_segments(struct fakeelf_image *img, const struct fakeelf *f, size_t dyn_end,
				Elf64_Phdr *ph)
{
	size_t n = 0;

	ph[n++] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = dyn_end, .p_memsz = dyn_end};
	ph[n++] = (Elf64_Phdr){.p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_offset = FAKEELF_TEXT_OFFSET,
			       .p_vaddr = FAKEELF_TEXT_OFFSET + FAKEELF_TEXT_BIAS,
			       .p_filesz = FAKEELF_TEXT_SIZE,
			       .p_memsz = FAKEELF_TEXT_SIZE};
	if (!f->no_dynamic)
		ph[n++] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
				       .p_flags = PF_R,
				       .p_offset = img->dynamic,
				       .p_vaddr = img->dynamic,
				       .p_filesz = dyn_end - img->dynamic};
	return n;
}

void fakeelf_build(const struct fakeelf *f, struct fakeelf_image *img)
{
	Elf64_Ehdr eh = {.e_ident = ELFMAG, .e_version = EV_CURRENT, .e_ehsize = sizeof(eh)};
	Elf64_Phdr ph[N_PHDRS] = {0}, interp = {0};
	size_t n_ph, dyn_end;

	memset(img, 0, sizeof(*img));
	img->bytes = calloc(1, CAP);
	if (!img->bytes)
		abort();
	put(img, NULL, sizeof(eh) + sizeof(ph));
	n_ph = put_interp(img, f->interp, &interp);
	if (!f->no_dynamic)
		put_dynamic(img, f);
	dyn_end = img->len;
	if (dyn_end > FAKEELF_TEXT_OFFSET)
		abort();
	put(img, NULL, FAKEELF_TEXT_OFFSET - img->len);
	memset(put(img, NULL, FAKEELF_TEXT_SIZE), 0xc3, FAKEELF_TEXT_SIZE);
	if (!f->no_sections)
		put_sections(img, f);
	ph[0] = interp;
	n_ph += describe_segments(img, f, dyn_end, ph + n_ph);
	eh.e_ident[EI_CLASS] = f->elf32 ? ELFCLASS32 : ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	eh.e_type = f->type ? f->type : ET_DYN;
	eh.e_machine = f->machine ? f->machine : OWN_MACHINE;
	eh.e_phoff = sizeof(eh);
	eh.e_phentsize = sizeof(ph[0]);
	eh.e_phnum = (Elf64_Half)n_ph;
	eh.e_shoff = img->shdrs;
	eh.e_shentsize = sizeof(Elf64_Shdr);
	eh.e_shnum = img->shdrs ? N_SHDRS : 0;
	memcpy(img->bytes, &eh, sizeof(eh));
	memcpy(img->bytes + sizeof(eh), ph, sizeof(ph));
}

int fakeelf_fd(const void *bytes, size_t len)
{
	int fd = memfd_create("fakeelf", MFD_CLOEXEC);
	const char *p = bytes;

	if (fd < 0)
		abort();
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n <= 0)
			abort();
		p += n;
		len -= (size_t)n;
	}
	return fd;
}
