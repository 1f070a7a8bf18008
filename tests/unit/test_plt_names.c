// SPDX-License-Identifier: GPL-2.0-only
/* PLT stubs of linked files against the labels of a disassembler, and damaged files. */
#include "harness/test.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "discover/plt_names.h"
#include "harness/compile.h"
#include "harness/tmpdir.h"
#include "util/cleanup.h"

#ifdef __x86_64__

static const char text[] = "int a(int); int b(int); void *c(void); extern int v;\n"
			   "int f(int x) { return a(x) + b(x) + v; }\n"
			   "void *g(void) { return c(); }\n"
			   "void *h(void) { return (void *)c; }\n";

/* Every "name@plt" label of the listing must be found, and nothing else be called so. */
static unsigned int check_labels(struct plt_names *p, const char *so)
{
	_free_ char *out = command_output("objdump -d '%s'", so);
	unsigned int found = 0;

	for (char *s = strtok(out, "\n"); s; s = strtok(NULL, "\n")) {
		unsigned long long at;
		char name[64];
		char *suffix;

		if (sscanf(s, "%llx <%63[^>]>:", &at, name) != 2)
			continue;
		suffix = strstr(name, "@plt");
		if (!suffix || suffix[4]) { /* code, or the common part before the stubs */
			assert_null(plt_names_find(p, at));
			continue;
		}
		*suffix = '\0';
		if (!plt_names_find(p, at))
			fail_msg("no name for %s at %llx", name, at);
		assert_string_equal(plt_names_find(p, at), name);
		assert_null(plt_names_find(p, at + 1));
		found++;
	}
	return found;
}

static void linked_files(void **state)
{
	static const char *const flags[] = {
		"-fcf-protection=none",
		"-fcf-protection -Wl,-z,ibtplt",
		"-Wl,-z,now",
		"-Wl,-z,lazy -Wl,--hash-style=gnu",
		"-fcf-protection -Wl,-z,ibt -Wl,-z,shstk",
	};
	const char *so = tmpdir_path(state, "f.so");

	spew(tmpdir_path(state, "f.c"), text, strlen(text));
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		_plt_names_ struct plt_names *p = NULL;
		_fd_ int fd = -1;

		run_command("gcc -O2 -fstack-protector-all %s -shared -fPIC -s -o '%s' '%s'",
			    flags[i], so, tmpdir_path(state, "f.c"));
		fd = open(so, O_RDONLY | O_CLOEXEC);
		assert_ok(plt_names_load(fd, &p));
		if (check_labels(p, so) < 4) /* a, b, c, __stack_chk_fail */
			fail_msg("%s: too few stubs", flags[i]);
		assert_null(plt_names_find(p, 0));
		assert_null(plt_names_find(p, UINT64_MAX));
	}
}

/* Without a PLT the slot of the GOT has the name. */
static void slots(void **state)
{
	const char *so = tmpdir_path(state, "f.so");
	_plt_names_ struct plt_names *p = NULL;
	_free_ char *out = NULL;
	_fd_ int fd = -1;
	unsigned int found = 0;

	spew(tmpdir_path(state, "f.c"), text, strlen(text));
	run_command("gcc -O2 -fno-plt -shared -fPIC -s -o '%s' '%s'", so,
		    tmpdir_path(state, "f.c"));
	fd = open(so, O_RDONLY | O_CLOEXEC);
	assert_ok(plt_names_load(fd, &p));
	out = command_output("objdump -R '%s'", so);
	for (char *s = strtok(out, "\n"); s; s = strtok(NULL, "\n")) {
		unsigned long long at;
		char type[32], name[64];

		if (sscanf(s, "%llx %31s %63[^@\n]", &at, type, name) != 3 ||
		    (strcmp(type, "R_X86_64_GLOB_DAT") && strcmp(type, "R_X86_64_JUMP_SLOT")))
			continue;
		assert_non_null(plt_names_find(p, at));
		assert_string_equal(plt_names_find(p, at), name);
		found++;
	}
	assert_true(found >= 3);
}

/* A function that is nothing but a jump to its namesake in another file, and others. */
static void forwarding(void **state)
{
	static const char *const flags[] = {"", "-fcf-protection", "-fno-plt", "-Wl,-z,now",
					    "-fcf-protection -fno-plt"};
	static const char def[] = "int a(int x) { return x; }\n",
			  use[] = "__asm__(\".symver old_a, a@V1\"); int old_a(int);\n"
				  "int a(int x) { return old_a(x); }\n"
				  "int b(int x) { return old_a(x); }\n"
				  "int c(int x) { return old_a(x) + 1; }\n";
	_free_ char *so = strdup(tmpdir_path(state, "use.so")),
		    *from = strdup(tmpdir_path(state, "def.so"));

	spew(tmpdir_path(state, "def.c"), def, strlen(def));
	spew(tmpdir_path(state, "use.c"), use, strlen(use));
	spew(tmpdir_path(state, "def.map"), "V1 { a; };", 10);
	spew(tmpdir_path(state, "use.map"), "V2 { a; };", 10);
	run_command("gcc -shared -fPIC -nostdlib -Wl,--version-script='%s' -o '%s' '%s'",
		    tmpdir_path(state, "def.map"), from, tmpdir_path(state, "def.c"));
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		struct comp_func f[] = {{"a", 0, 0, 0}, {"b", 0, 0, 0}, {"c", 0, 0, 0}};
		_plt_names_ struct plt_names *p = NULL;
		_fd_ int fd = -1;

		run_command("gcc -O2 -fcf-protection=none %s -shared -fPIC -nostdlib "
			    "-Wl,--version-script='%s' -o '%s' '%s' '%s'",
			    flags[i], tmpdir_path(state, "use.map"), so,
			    tmpdir_path(state, "use.c"), from);
		fd = open(so, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		find_funcs(so, f, 3);
		assert_ok(plt_names_load(fd, &p));
		assert_true(plt_names_forwards(p, f[0].vaddr, "a"));
		assert_false(plt_names_forwards(p, f[1].vaddr, "b"));
		assert_false(plt_names_forwards(p, f[2].vaddr, "c"));
		assert_false(plt_names_forwards(p, f[2].vaddr, "a"));
		assert_false(plt_names_forwards(p, UINT64_MAX, "a"));
	}
}

static int load_bytes(const void *data, size_t n, struct plt_names **out, int *fd)
{
	*fd = memfd_create("elf", MFD_CLOEXEC);
	assert_true(*fd >= 0);
	assert_int_equal(write(*fd, data, n), n);
	return plt_names_load(*fd, out);
}

/* One byte changed at a time, and cut at every length: no crash, and names end. */
static void damaged_files(void **state)
{
	const char *so = tmpdir_path(state, "f.so");
	_free_ char *good = NULL;
	size_t sz, dyn = 0;

	spew(tmpdir_path(state, "f.c"), text, strlen(text));
	run_command("gcc -O2 -shared -fPIC -s -nostdlib -o '%s' '%s'", so,
		    tmpdir_path(state, "f.c"));
	good = slurp(so, &sz);
	assert_true(sz > 4096);

	Elf64_Ehdr *eh = (Elf64_Ehdr *)good;
	Elf64_Phdr *ph = (Elf64_Phdr *)(good + eh->e_phoff);

	for (int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			dyn = ph[i].p_offset;
	assert_true(dyn > 0);
	for (size_t at = 0; at < 1024; at++) {
		size_t pos = at < 512 ? at : dyn + at - 512;
		char old = good[pos];

		for (int k = 0; k < 3; k++) {
			_plt_names_ struct plt_names *p = NULL;
			_fd_ int fd = -1;

			good[pos] = (char)(k == 0 ? ~old : k == 1 ? 0x7f : old ^ 0x40);
			if (load_bytes(good, sz, &p, &fd) == 0)
				for (uint64_t v = 0x1000; v < 0x1100; v += 16)
					plt_names_find(p, v);
		}
		good[pos] = old;
	}
	for (size_t n = 0; n < sz; n += n < 600 ? 1 : 97) {
		_plt_names_ struct plt_names *p = NULL;
		_fd_ int fd = -1;

		if (load_bytes(good, n, &p, &fd) == 0)
			for (uint64_t v = 0x1000; v < 0x1100; v += 16)
				plt_names_find(p, v);
		else
			assert_null(p);
	}
}

#endif

/* A file for the other machine, made by hand: one segment, one slot, one stub. */
struct arm_file {
	Elf64_Ehdr eh;
	Elf64_Phdr load, dynamic;
	Elf64_Dyn dyn[7];
	Elf64_Rela rela;
	Elf64_Sym sym[2];
	char str[16];
	uint32_t stub[6];
	uint64_t slot;
};

#define AT(field) offsetof(struct arm_file, field) /* file offset and address */

static struct arm_file arm_file(void)
{
	struct arm_file f = {.str = "\0ProfAclMark"};

	memcpy(f.eh.e_ident, ELFMAG, SELFMAG);
	f.eh.e_ident[EI_CLASS] = ELFCLASS64;
	f.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	f.eh.e_machine = EM_AARCH64;
	f.eh.e_phoff = AT(load);
	f.eh.e_phentsize = sizeof(Elf64_Phdr);
	f.eh.e_phnum = 2;
	f.load = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = sizeof(f)};
	f.dynamic =
		(Elf64_Phdr){.p_type = PT_DYNAMIC, .p_offset = AT(dyn), .p_filesz = sizeof(f.dyn)};
	f.dyn[0] = (Elf64_Dyn){.d_tag = DT_JMPREL, .d_un.d_ptr = AT(rela)};
	f.dyn[1] = (Elf64_Dyn){.d_tag = DT_PLTRELSZ, .d_un.d_val = sizeof(f.rela)};
	f.dyn[2] = (Elf64_Dyn){.d_tag = DT_PLTREL, .d_un.d_val = DT_RELA};
	f.dyn[3] = (Elf64_Dyn){.d_tag = DT_SYMTAB, .d_un.d_ptr = AT(sym)};
	f.dyn[4] = (Elf64_Dyn){.d_tag = DT_STRTAB, .d_un.d_ptr = AT(str)};
	f.dyn[5] = (Elf64_Dyn){.d_tag = DT_STRSZ, .d_un.d_val = sizeof(f.str)};
	f.rela.r_offset = 0x3000 + AT(slot); /* two pages further on in memory than in the file */
	f.rela.r_info = ELF64_R_INFO(1, R_AARCH64_JUMP_SLOT);
	f.sym[1].st_name = 1;
	return f;
}

static void arm64_stubs(void **state)
{
	uint32_t ldr = 0xf9400211 | (uint32_t)(AT(slot) / 8) << 10;
	uint32_t add = 0x91000210 | (uint32_t)AT(slot) << 10;
	uint32_t adrp = 0xf0000010; /* page + 3 */
	const uint32_t stubs[][6] = {
		{adrp, ldr, add, 0xd61f0220},
		{0xd503245f, adrp, ldr, add, 0xd61f0220},
		{adrp, ldr, add, 0xd503219f, 0xd61f0220},
		{adrp, ldr, add, 0xd61f0200},		   /* br x16 */
		{adrp, ldr + (1u << 10), add, 0xd61f0220}, /* the next slot */
		{0xd0000010, ldr, add, 0xd61f0220},	   /* another page */
		{0xd503201f, adrp, ldr, add, 0xd61f0220},
	};
	struct arm_file f = arm_file();

	(void)state;
	for (size_t i = 0; i < sizeof(stubs) / sizeof(stubs[0]); i++) {
		_plt_names_ struct plt_names *p = NULL;
		_fd_ int fd = memfd_create("elf", MFD_CLOEXEC);
		const char *name;

		memcpy(f.stub, stubs[i], sizeof(f.stub));
		assert_int_equal(write(fd, &f, sizeof(f)), sizeof(f));
		assert_ok(plt_names_load(fd, &p));
		name = plt_names_find(p, AT(stub));
		if (i < 3)
			assert_string_equal(name ? name : "none", "ProfAclMark");
		else
			assert_null(name);
	}
}

static void not_elf(void **state)
{
	struct plt_names *p = NULL;
	struct arm_file f = arm_file();
	_fd_ int fd = memfd_create("elf", MFD_CLOEXEC);

	(void)state;
	assert_err(plt_names_load(fd, &p), ENOEXEC); /* empty */
	f.eh.e_machine = EM_386;
	assert_int_equal(pwrite(fd, &f, sizeof(f), 0), sizeof(f));
	assert_err(plt_names_load(fd, &p), ENOEXEC);
	f = arm_file();
	f.dyn[1].d_un.d_val = 1ull << 40;
	assert_int_equal(pwrite(fd, &f, sizeof(f), 0), sizeof(f));
	assert_err(plt_names_load(fd, &p), E2BIG);
	f = arm_file();
	memset(f.str + 1, 'x', sizeof(f.str) - 1); /* a name without an end */
	assert_int_equal(pwrite(fd, &f, sizeof(f), 0), sizeof(f));
	assert_ok(plt_names_load(fd, &p));
	assert_null(plt_names_find(p, f.rela.r_offset));
	plt_names_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
		cmocka_unit_test_setup_teardown(linked_files, tmpdir_setup, tmpdir_teardown),
		cmocka_unit_test_setup_teardown(slots, tmpdir_setup, tmpdir_teardown),
		cmocka_unit_test_setup_teardown(forwarding, tmpdir_setup, tmpdir_teardown),
		cmocka_unit_test_setup_teardown(damaged_files, tmpdir_setup, tmpdir_teardown),
#endif
		cmocka_unit_test(arm64_stubs),
		cmocka_unit_test(not_elf),
	};

	return RUN(tests);
}
