// SPDX-License-Identifier: GPL-2.0-only
/*
 * The planner against functions that gcc and clang compile while the test runs, with the flags
 * that change a prologue. Every function is then called in a child that is single-stepped: the
 * chosen instruction must be met exactly once per call, with the arguments, or for a return probe
 * the stack pointer and the return address, as they were at the entry.
 */
#include "harness/test.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "discover/plt_names.h"
#include "discover/site.h"
#include "harness/compile.h"
#include "harness/tmpdir.h"
#include "util/cleanup.h"

#ifdef __x86_64__

static const char impl_text[] =
	"int ProfAclA(void *s) { return s != 0; }\n"
	"int ProfAclB(void *s, const char *m, unsigned n) { return s && m && n; }\n"
	"int ProfAclC(void *s, unsigned *id) { *id = 5; return s == 0; }\n"
	"void *ProfAclD(void) { return (void *)1; }\n";

static const char text[] =
	"int ProfAclA(void *); int ProfAclB(void *, const char *, unsigned);\n"
	"int ProfAclC(void *, unsigned *); void *ProfAclD(void);\n"
	"int wrapA(void *s) { return ProfAclA(s); }\n"
	"int wrapB(void *s, const char *m, unsigned n) { return ProfAclB(s, m, n); }\n"
	"int wrapC(void *s, unsigned *id) { return ProfAclC(s, id); }\n"
	"void *wrapD(void) { return ProfAclD(); }\n"
	"int guard(void *s, const char *m, unsigned n) { return s ? ProfAclB(s, m, n) : -1; }\n"
	"int loop(void *s, const char *m, unsigned n)\n"
	"{ int t = 0; do t += ProfAclB(s, m, n); while (n-- > 1); return t; }\n"
	"int spin(void *s, const char *m, unsigned n)\n"
	"{ while (n > 1) { __asm__ volatile(\"\"); n--; } return m[n & 3] + (s != 0); }\n"
	"int both(void *s, const char *m, unsigned n)\n"
	"{ if (n == 3) return ProfAclA(s); return ProfAclB(s, m, n); }\n"
	"int buffer(void *s, const char *m, unsigned n)\n"
	"{ char b[32]; unsigned i; for (i = 0; i < 31 && i < n; i++) b[i] = m[i & 7];\n"
	"  b[i] = 0; return ProfAclB(s, b, i); }\n"
	"int again(void *s, const char *m, unsigned n)\n"
	"{ return n < 2 ? ProfAclA(s) : again(s, m, n - 1) + again(s, m, n - 2); }\n"
	"int pick(void *s, const char *m, unsigned n)\n"
	"{ switch (n) { case 0: return ProfAclA(s); case 1: return 4; case 2: return m[0];\n"
	"  case 3: return ProfAclB(s, m, 9); case 4: return 11; case 7: return 2; } return 1; }\n"
	"int stub(void) { return 0; }\n";

static struct comp_func funcs[] = {
	{.name = "wrapA"},  {.name = "wrapB"}, {.name = "wrapC"}, {.name = "wrapD"},
	{.name = "guard"},  {.name = "loop"},  {.name = "spin"},  {.name = "both"},
	{.name = "buffer"}, {.name = "again"}, {.name = "pick"},  {.name = "stub"},
};
static const unsigned int n_args[] = {1, 3, 2, 0, 3, 3, 3, 3, 3, 3, 3, 0};

#define FUNCS (sizeof(funcs) / sizeof(funcs[0]))
#define WRAPPERS 4
#define CALLS 4 /* of each function, n = 0, 1, 3, 4 */

static const char *const levels[] = {"-O2", "-Os", "-O0", "-O1", "-O3"};
static const char *const flags[] = {
	"-fcf-protection=none -fno-stack-protector",
	"-fcf-protection -fno-stack-protector",
	"-fcf-protection=none -fstack-protector-all",
	"-fcf-protection -fstack-protector-all -fno-omit-frame-pointer",
	"-fcf-protection=none -fstack-protector-all -fno-plt",
	"-fcf-protection -fno-plt -fno-omit-frame-pointer",
	"-fcf-protection -pg",
	"-fcf-protection -pg -mfentry",
	"-fcf-protection -fpatchable-function-entry=5",
	"-fcf-protection=none -fpatchable-function-entry=5 -fstack-protector-all",
	"-fcf-protection -mno-red-zone -fomit-frame-pointer",
};

#define LEVELS (sizeof(levels) / sizeof(levels[0]))
#define FLAGS (sizeof(flags) / sizeof(flags[0]))
#define COMMON 6 /* the first so many at every level; the rest at -O2 and -Os */

enum { ENTRY, RETURN, ENTRY_618, RETURN_618, PLANS };

struct build {
	char so[512], what[160];
	struct site sites[FUNCS][PLANS];
};

static void plan(struct build *b)
{
	_free_ uint8_t *bytes = NULL;
	_fd_ int fd = open(b->so, O_RDONLY | O_CLOEXEC);
	_plt_names_ struct plt_names *names = NULL;
	size_t sz;

	bytes = (uint8_t *)slurp(b->so, &sz);
	assert_ok(plt_names_load(fd, &names));
	for (size_t i = 0; i < FUNCS; i++)
		funcs[i].size = 0;
	find_funcs(b->so, funcs, FUNCS);
	for (size_t i = 0; i < FUNCS; i++) {
		struct site_request rq = {.code = bytes + funcs[i].offset,
					  .size = funcs[i].size,
					  .vaddr = funcs[i].vaddr,
					  .machine = EM_X86_64,
					  .target_name = plt_names_find,
					  .ctx = names};

		assert_in_range(funcs[i].size, 1, sz - funcs[i].offset);
		for (int p = 0; p < PLANS; p++) {
			rq.kernel = p < ENTRY_618 ? 0x60100 : 0x61200;
			rq.purpose = p & 1 ? SITE_RETURN : SITE_ENTRY;
			rq.args = p & 1 ? 0 : n_args[i];
			site_plan(&rq, &b->sites[i][p]);
		}
	}
}

/* ---- Every call, instruction by instruction --------------------------------------------------*/

typedef int (*any_func)(void *, const char *, uintptr_t);

static void call_all(const any_func *f)
{
	static const unsigned int ns[CALLS] = {0, 1, 3, 4};
	static unsigned int id;

	for (size_t i = 0; i < FUNCS; i++)
		for (int c = 0; c < CALLS; c++)
			f[i](&id, i == 2 ? (const char *)&id : "messages", ns[c]);
}

struct frame {
	size_t func;
	uint64_t ret, arg[3], sp;
	unsigned int hits[PLANS];
};

struct watch {
	const struct build *b;
	pid_t pid;
	uint64_t base;
	struct frame frames[32];
	int depth;
	unsigned int calls[FUNCS];
};

static uint64_t peek(struct watch *w, uint64_t addr)
{
	errno = 0;

	uint64_t v = (uint64_t)ptrace(PTRACE_PEEKDATA, w->pid, addr, 0);

	assert_int_equal(errno, 0);
	return v;
}

static void enter(struct watch *w, size_t func, const struct user_regs_struct *r)
{
	assert_in_range(w->depth, 0, 31);
	w->frames[w->depth++] = (struct frame){.func = func,
					       .ret = peek(w, r->rsp),
					       .arg = {r->rdi, r->rsi, r->rdx},
					       .sp = r->rsp};
	w->calls[func]++;
}

static void leave(struct watch *w)
{
	struct frame *f = &w->frames[--w->depth];

	for (int p = 0; p < PLANS; p++)
		if (f->hits[p] != 1)
			fail_msg("%s %s plan %d: met %u times in a call, at +%u '%s'", w->b->what,
				 funcs[f->func].name, p, f->hits[p], w->b->sites[f->func][p].offset,
				 w->b->sites[f->func][p].insn);
}

static void hit(struct watch *w, int p, const struct user_regs_struct *r)
{
	struct frame *f = &w->frames[w->depth - 1];
	const uint64_t now[] = {r->rdi, r->rsi, r->rdx};
	const char *name = funcs[f->func].name;

	f->hits[p]++;
	for (unsigned int i = 0; i < n_args[f->func] && !(p & 1); i++)
		if (now[i] != f->arg[i])
			fail_msg("%s %s: argument %u changed", w->b->what, name, i);
	if ((p & 1) && (r->rsp != f->sp || peek(w, r->rsp) != f->ret))
		fail_msg("%s %s: the return address is not at the stack pointer", w->b->what, name);
}

static void watch_step(struct watch *w, const struct user_regs_struct *r)
{
	if (w->depth && r->rip == w->frames[w->depth - 1].ret &&
	    r->rsp == w->frames[w->depth - 1].sp + 8)
		leave(w);
	for (size_t i = 0; i < FUNCS; i++) {
		uint64_t start = w->base + funcs[i].vaddr;

		if (r->rip < start || r->rip >= start + funcs[i].size)
			continue;
		if (r->rip == start)
			enter(w, i, r);
		if (!w->depth || w->frames[w->depth - 1].func != i)
			continue;
		for (int p = 0; p < PLANS; p++)
			if (r->rip == start + w->b->sites[i][p].offset)
				hit(w, p, r);
	}
}

static void watch_calls(const struct build *b)
{
	struct watch w = {.b = b};
	struct user_regs_struct r;
	any_func f[FUNCS];
	void *so = dlopen(b->so, RTLD_NOW | RTLD_LOCAL);
	int st;

	if (!so)
		fail_msg("%s: %s", b->what, dlerror());
	w.base = (uint64_t)(uintptr_t)dlsym(so, funcs[0].name) - funcs[0].vaddr;
	for (size_t i = 0; i < FUNCS; i++)
		*(void **)&f[i] = dlsym(so, funcs[i].name);
	w.pid = fork();
	if (w.pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP))
			_exit(3);
		call_all(f);
		_exit(0);
	}
	assert_int_equal(waitpid(w.pid, &st, 0), w.pid);
	while (WIFSTOPPED(st)) {
		assert_int_equal(ptrace(PTRACE_GETREGS, w.pid, 0, &r), 0);
		watch_step(&w, &r);
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, w.pid, 0, 0), 0);
		assert_int_equal(waitpid(w.pid, &st, 0), w.pid);
		if (WIFSTOPPED(st) && WSTOPSIG(st) != SIGTRAP)
			fail_msg("%s: signal %d at %llx", b->what, WSTOPSIG(st), r.rip);
	}
	assert_true(WIFEXITED(st));
	assert_int_equal(WEXITSTATUS(st), 0);
	assert_int_equal(w.depth, 0);
	for (size_t i = 0; i < FUNCS; i++)
		assert_true(w.calls[i] >= CALLS);
	dlclose(so);
}

/* ---- What the choice should be, from a listing -----------------------------------------------*/

struct line {
	uint32_t off, bytes;
	char op[24], args[96];
};

static size_t listing(const struct build *b, const struct comp_func *f, struct line *l, size_t room)
{
	_free_ char *out = command_output(
		"objdump -d --no-show-raw-insn --start-address=%#llx --stop-address=%#llx '%s'",
		(unsigned long long)f->vaddr, (unsigned long long)(f->vaddr + f->size), b->so);
	size_t n = 0;

	for (char *s = strtok(out, "\n"); s; s = strtok(NULL, "\n")) {
		unsigned long long at;
		int used = 0;

		if (sscanf(s, " %llx: %n", &at, &used) != 1 || !used || n == room)
			continue;
		l[n] = (struct line){.off = (uint32_t)(at - f->vaddr)};
		if (sscanf(s + used, "%23s %95[^\n]", l[n].op, l[n].args) >= 1)
			n++;
	}
	for (size_t i = 0; i < n; i++)
		l[i].bytes = (i + 1 < n ? l[i + 1].off : (uint32_t)f->size) - l[i].off;
	return n;
}

static bool direct_call(const struct line *l)
{
	return !strncmp(l->op, "call", 4) && l->args[0] != '*';
}

/* Emulated by 6.1. */
static bool cheap(const struct line *l)
{
	return direct_call(l) || (l->op[0] == 'j' && l->args[0] != '*') || !strcmp(l->op, "push") ||
	       (!strcmp(l->op, "nop") && l->bytes == 1);
}

static bool writes_argument(const struct line *l)
{
	static const char *const regs[] = {"di", "si", "dx"};
	const char *last = strrchr(l->args, '%');

	if (!strncmp(l->op, "call", 4))
		return true;
	for (size_t i = 0; last && strncmp(l->op, "push", 4) && i < 3; i++)
		if (strstr(last, regs[i]))
			return true;
	return false;
}

static bool leaves_stack(const struct line *l)
{
	return !cheap(l) && (!strcmp(l->op, "endbr64") || !strcmp(l->op, "xor") ||
			     !strncmp(l->op, "nop", 3) || !strcmp(l->op, "xchg"));
}

/* The stack is balanced there; nothing is looked for behind a call that may not return. */
static uint32_t tail_jump(const struct line *l, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		if (!strncmp(l[k].op, "call", 4) && !strstr(l[k].args, "__stack_chk_fail"))
			return 0;
		if (!strcmp(l[k].op, "jmp") && l[k].args[0] != '*')
			return l[k].off;
	}
	return 0;
}

/* Wrappers: a straight line but for the branch to __stack_chk_fail. */
static void check_wrapper(const struct build *b, size_t func)
{
	struct line l[128];
	size_t n = listing(b, &funcs[func], l, 128), first = 0, i = 0;
	const struct site *s = b->sites[func];
	uint32_t entry = 0, ret = 0;

	assert_true(n > 0);
	while (first < n && !cheap(&l[first]) && !writes_argument(&l[first]))
		first++;
	if (first < n && cheap(&l[first]))
		entry = l[first].off;
	while (i < n && leaves_stack(&l[i]))
		i++;
	if (i < n && cheap(&l[i]))
		ret = l[i].off;
	else
		ret = tail_jump(l, n);
	if (s[ENTRY].offset != entry || s[RETURN].offset != ret)
		fail_msg("%s %s: +%#x and +%#x, not +%#x (%s) and +%#x (%s)", b->what,
			 funcs[func].name, entry, ret, s[ENTRY].offset, s[ENTRY].why,
			 s[RETURN].offset, s[RETURN].why);
}

static void compile(const char *cc, const char *level, const char *fl, struct build *b,
		    void **state)
{
	snprintf(b->what, sizeof(b->what), "%s %s %s", cc, level, fl);
	snprintf(b->so, sizeof(b->so), "%s", tmpdir_path(state, "f.so"));
	run_command("%s %s %s -w -shared -fPIC -o '%s' '%s'", cc, level, fl, b->so,
		    tmpdir_path(state, "f.c"));
}

static void compiled_functions(void **state, const char *cc)
{
	const char *impl = tmpdir_path(state, "impl.so");
	unsigned int sites = 0, checked = 0;
	struct build b;
	void *lib;

	if (!site_can_plan())
		skip();
	if (!have_command(cc) || !have_command("objdump"))
		fail_msg("no %s or no objdump", cc);
	spew(tmpdir_path(state, "impl.c"), impl_text, strlen(impl_text));
	spew(tmpdir_path(state, "f.c"), text, strlen(text));
	run_command("%s -O2 -shared -fPIC -o '%s' '%s'", cc, impl, tmpdir_path(state, "impl.c"));
	lib = dlopen(impl, RTLD_NOW | RTLD_GLOBAL);
	assert_non_null(lib);
	for (size_t l = 0; l < LEVELS; l++) {
		for (size_t f = 0; f < (l < 2 ? FLAGS : COMMON); f++) {
			compile(cc, levels[l], flags[f], &b, state);
			plan(&b);
			for (size_t i = 0; i < WRAPPERS; i++, checked++)
				check_wrapper(&b, i);
			watch_calls(&b);
			for (size_t i = 0; i < FUNCS; i++)
				sites += b.sites[i][ENTRY].offset != 0;
		}
	}
	dlclose(lib);
	assert_int_equal(checked, WRAPPERS * (2 * FLAGS + (LEVELS - 2) * COMMON));
	assert_true(sites > 100); /* the planner does not just give up */
	print_message("# %s: %u sites behind the entry\n", cc, sites);
}

static void gcc_functions(void **state)
{
	compiled_functions(state, "gcc");
}

static void clang_functions(void **state)
{
	compiled_functions(state, "clang");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gcc_functions, tmpdir_setup, tmpdir_teardown),
		cmocka_unit_test_setup_teardown(clang_functions, tmpdir_setup, tmpdir_teardown),
	};

	return RUN(tests);
}

#else

static void other_machine(void **state)
{
	(void)state; /* test_site_arm64 compiles for that machine, on any machine */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(other_machine)};

	return RUN(tests);
}

#endif
