// SPDX-License-Identifier: GPL-2.0-only
/*
 * The planner against functions that clang compiles for AArch64; nothing is run, so this works on
 * any machine. The expected choice comes from llvm-objdump's listing.
 */
#include "harness/test.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>

#include "discover/site.h"
#include "harness/compile.h"
#include "harness/tmpdir.h"
#include "util/cleanup.h"

static const char text[] =
	"int ProfAclA(void *); int ProfAclB(void *, const char *, unsigned);\n"
	"int ProfAclC(void *, unsigned *); void *ProfAclD(void);\n"
	"int wrapA(void *s) { return ProfAclA(s); }\n"
	"int wrapB(void *s, const char *m, unsigned n) { return ProfAclB(s, m, n); }\n"
	"int wrapC(void *s, unsigned *id) { return ProfAclC(s, id); }\n"
	"void *wrapD(void) { return ProfAclD(); }\n";

static struct comp_func funcs[] = {
	{.name = "wrapA"}, {.name = "wrapB"}, {.name = "wrapC"}, {.name = "wrapD"}};
static const unsigned int n_args[] = {1, 3, 2, 0};

#define FUNCS (sizeof(funcs) / sizeof(funcs[0]))
#define STUBS 0x100000 /* address of the stub of symbol 0; 16 bytes each */

struct object {
	uint8_t *bytes;
	char names[64][32]; /* by symbol number */
};

/* What a linker does with calls and tail jumps: they go to one stub per symbol. */
static void link_calls(const char *path, struct object *o)
{
	_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh, to;
	GElf_Rela r;
	GElf_Sym sym;

	elf_version(EV_CURRENT);
	Elf *e = elf_begin(fd, ELF_C_READ, NULL);

	assert_non_null(e);
	while ((scn = elf_nextscn(e, scn)) && gelf_getshdr(scn, &sh)) {
		Elf_Data *d = elf_getdata(scn, NULL);

		for (int i = 0; sh.sh_type == SHT_SYMTAB && gelf_getsym(d, i, &sym); i++)
			snprintf(o->names[i % 64], 32, "%s",
				 elf_strptr(e, sh.sh_link, sym.st_name));
		if (sh.sh_type != SHT_RELA || !gelf_getshdr(elf_getscn(e, sh.sh_info), &to) ||
		    !(to.sh_flags & SHF_EXECINSTR))
			continue;
		for (int i = 0; gelf_getrela(d, i, &r); i++) {
			uint32_t type = (uint32_t)GELF_R_TYPE(r.r_info), w;
			int64_t by =
				STUBS + 16 * (int64_t)GELF_R_SYM(r.r_info) - (int64_t)r.r_offset;
			uint8_t *at = o->bytes + to.sh_offset + r.r_offset;

			if (type != R_AARCH64_CALL26 && type != R_AARCH64_JUMP26)
				continue;
			memcpy(&w, at, 4);
			w = (w & 0xfc000000) | ((uint32_t)(by >> 2) & 0x3ffffff);
			memcpy(at, &w, 4);
		}
	}
	elf_end(e);
}

static const char *name_of(void *ctx, uint64_t vaddr)
{
	const struct object *o = ctx;
	uint64_t n = (vaddr - STUBS) / 16;

	return vaddr >= STUBS && n < 64 && o->names[n][0] ? o->names[n] : NULL;
}

struct line {
	char op[24], args[96];
};

static size_t listing(const char *path, const struct comp_func *f, struct line *l, size_t room)
{
	_free_ char *out = command_output("llvm-objdump -d --mattr=+v8.5a --no-show-raw-insn "
					  "--start-address=%#llx --stop-address=%#llx '%s'",
					  (unsigned long long)f->vaddr,
					  (unsigned long long)(f->vaddr + f->size), path);
	size_t n = 0;

	for (char *s = strtok(out, "\n"); s; s = strtok(NULL, "\n")) {
		unsigned long long at;
		int used = 0;

		if (sscanf(s, " %llx:%n", &at, &used) != 1 || !used || n == room)
			continue;
		l[n] = (struct line){0};
		if (sscanf(s + used, "%23s %95[^\n]", l[n].op, l[n].args) >= 1)
			n++;
	}
	return n;
}

static bool cheap(const struct line *l)
{
	return !strcmp(l->op, "b") || !strncmp(l->op, "b.", 2) || !strncmp(l->op, "cb", 2) ||
	       !strncmp(l->op, "tb", 2) || !strncmp(l->op, "adr", 3) || !strcmp(l->op, "bl");
}

/* Destinations come first; only loads, moves and sums write. */
static bool writes_argument(const struct line *l)
{
	return strncmp(l->op, "st", 2) && strncmp(l->op, "cmp", 3) &&
	       (l->args[0] == 'x' || l->args[0] == 'w') && l->args[1] >= '0' && l->args[1] <= '2' &&
	       (l->args[2] == ',' || l->args[2] == ' ');
}

static uint32_t expected_entry(const struct line *l, size_t n)
{
	for (size_t i = 0; i < n && !writes_argument(&l[i]); i++)
		if (cheap(&l[i]))
			return (uint32_t)(4 * i);
	return 0;
}

static uint32_t expected_return(const struct line *l, size_t n)
{
	size_t i = !strcmp(l[0].op, "bti"), calls = 0;
	bool is_signed = false;

	if (cheap(&l[i]))
		return (uint32_t)(4 * i);
	for (size_t k = 0; k < n; k++) {
		is_signed |= !strncmp(l[k].op, "pac", 3);
		calls += !strcmp(l[k].op, "bl");
		if (!strcmp(l[k].op, "b") && !is_signed && !calls)
			return (uint32_t)(4 * k);
	}
	return 0;
}

static void check_func(const char *path, const char *what, const struct object *o, size_t func)
{
	const struct comp_func *f = &funcs[func];
	struct site_request rq = {.code = o->bytes + f->offset,
				  .size = f->size,
				  .vaddr = f->vaddr,
				  .machine = EM_AARCH64,
				  .kernel = 0x60100,
				  .args = n_args[func],
				  .target_name = name_of,
				  .ctx = (void *)(uintptr_t)o};
	struct line l[128];
	size_t n = listing(path, f, l, 128);
	struct site call, ret;

	assert_int_equal(n, f->size / 4);
	assert_true(n > 0);
	site_plan(&rq, &call);
	rq.purpose = SITE_RETURN;
	rq.args = 0;
	site_plan(&rq, &ret);
	if (call.offset != expected_entry(l, n) || ret.offset != expected_return(l, n))
		fail_msg("%s %s: +%#x and +%#x, not +%#x (%s) and +%#x (%s)", what, f->name,
			 expected_entry(l, n), expected_return(l, n), call.offset, call.why,
			 ret.offset, ret.why);
}

static void compiled_functions(void **state)
{
	static const char *const flags[] = {
		"-O0",
		"-O1",
		"-O2",
		"-O3",
		"-Os",
		"-O2 -mbranch-protection=bti",
		"-O2 -mbranch-protection=standard",
		"-O0 -mbranch-protection=standard",
		"-O2 -mbranch-protection=pac-ret+leaf",
		"-O2 -fstack-protector-all",
		"-Os -fstack-protector-all -fno-omit-frame-pointer",
		"-Os -fstack-protector-all -mbranch-protection=standard",
		"-Os -fstack-protector-all -mbranch-protection=bti",
		"-O2 -fpatchable-function-entry=2",
	};
	const char *path = tmpdir_path(state, "f.o"), *src = tmpdir_path(state, "f.c");

	if (!site_can_plan())
		skip();
	spew(src, text, strlen(text));
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct object o = {0};
		_free_ char *bytes = NULL;

		run_command("clang --target=aarch64-linux-gnu %s -w -fPIC -c -o '%s' '%s'",
			    flags[i], path, src);
		bytes = slurp(path, NULL);
		o.bytes = (uint8_t *)bytes;
		link_calls(path, &o);
		find_funcs(path, funcs, FUNCS);
		for (size_t k = 0; k < FUNCS; k++)
			check_func(path, flags[i], &o, k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(compiled_functions, tmpdir_setup, tmpdir_teardown),
	};

	return RUN(tests);
}
