// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/entry.h"
#include "discover/plan.h"
#include "discover/site.h"
#include "harness/fakeelf.h"
#include "probe_config.h"
#include "util/str.h"

/* A library that has every function of the table, 16 bytes apart. */
struct lib {
	struct fakeelf_sym syms[ELF_MAX_FUNCS];
	struct fakeelf_image img;
	struct elf_scan scan;
	struct plan plan;
	int fd;
};

static uint64_t offset_of(unsigned int func)
{
	return FAKEELF_TEXT_OFFSET + 16 * func;
}

static void lib_describe(struct lib *l)
{
	memset(l, 0, sizeof(*l));
	for (unsigned int i = 0; i < entry_count(); i++)
		l->syms[i] = (struct fakeelf_sym)FAKE_FUNC(entry_name(i), 16 * i);
}

static void lib_build(struct lib *l)
{
	const struct fakeelf f = {.syms = l->syms, .n_syms = entry_count()};

	fakeelf_build(&f, &l->img);
}

static void lib_plan(struct lib *l, const struct plan_opts *opts)
{
	l->fd = fakeelf_fd(l->img.bytes, l->img.len);
	assert_ok(elfsym_scan(l->fd, &l->scan));
	plan_make(opts, &l->scan, l->fd, &l->plan);
	close(l->fd);
	free(l->img.bytes);
}

static void make(struct lib *l, const struct plan_opts *opts)
{
	lib_describe(l);
	lib_build(l);
	lib_plan(l, opts);
}

static unsigned int number(const char *symbol)
{
	return entry_by_symbol(symbol)->func;
}

static const struct probe *find(const struct probe *p, size_t n, unsigned int func)
{
	const struct probe *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (p[i].func != func)
			continue;
		assert_null(found); /* once */
		found = &p[i];
	}
	return found;
}

/* "er", "e-", "-r" or "--" of a function. */
static const char *kinds(const struct lib *l, unsigned int func)
{
	static const char *const text[] = {"--", "e-", "-r", "er"};
	const struct probe *e = find(l->plan.entry, l->plan.n_entry, func);
	const struct probe *r = find(l->plan.leave, l->plan.n_leave, func);

	assert_int_equal(!!e, l->plan.why[func].entry.used);
	assert_int_equal(!!r, l->plan.why[func].leave.used);
	for (const struct probe *p = e; p; p = p == r ? NULL : r) {
		const struct sym *sym = &l->scan.funcs[func];
		enum op op = entry_get(func)->op;
		bool copies = op == OP_PUSH || op == OP_POP || op == OP_START || op == OP_STOP;
		uint64_t addr = copies ? sym->vaddr + (p->offset - sym->offset) : 0;

		assert_true(COOKIE_SAME(p->cookie) == COOKIE_SAME(entry_get(func)->cookie));
		assert_int_equal(COOKIE_ADDR(p->cookie), addr);
	}
	return text[(e ? 1 : 0) + (r ? 2 : 0)];
}

/* What the documentation of column use in entrypoints.def says. */
static const char *wanted(const struct plan_opts *o, enum entry_use use)
{
	switch (use) {
	case USE_ALWAYS:
		return o->returns ? "er" : "e-";
	case USE_BOTH:
		return "er";
	case USE_STAMP:
		return o->lifecycle ? "er" : "-r";
	case USE_LIFECYCLE:
		return o->lifecycle ? "e-" : "--";
	case USE_ALL:
		return o->all ? "e-" : "--";
	}
	return "?";
}

static void options_decide(void **state)
{
	static struct lib l;

	(void)state;
	for (int i = 0; i < 8; i++) {
		const struct plan_opts o = {.all = i & 1, .lifecycle = i & 2, .returns = i & 4};

		make(&l, &o);
		assert_int_equal(l.scan.n_found, entry_count());
		for (unsigned int f = 0; f < entry_count(); f++)
			assert_string_equal(kinds(&l, f), wanted(&o, entry_get(f)->use));
	}
	/* The names behind the numbers, once by hand. */
	make(&l, &(struct plan_opts){0});
	assert_string_equal(kinds(&l, number("aclprofRangeStart")), "er");
	assert_string_equal(kinds(&l, number("aclprofCreateStamp")), "-r");
	assert_string_equal(kinds(&l, number("aclprofDestroyStamp")), "--");
	assert_string_equal(kinds(&l, number("aclprofPush")), "e-");
	assert_string_equal(kinds(&l, number("aclprofRangePushEx")), "--");
}

static size_t place(const struct lib *l, const char *symbol)
{
	for (size_t i = 0; i < l->plan.n_entry; i++)
		if (l->plan.entry[i].func == number(symbol))
			return i;
	fail();
	return 0;
}

/* Probes come one after the other while the program runs: see plan_make(). */
static void ends_are_probed_before_begins(void **state)
{
	static struct lib l;

	(void)state;
	make(&l, &(struct plan_opts){0});
	assert_true(place(&l, "aclprofPop") < place(&l, "aclprofPush"));
	assert_true(place(&l, "aclprofRangeStop") < place(&l, "aclprofRangeStart"));
	assert_true(place(&l, "aclprofSetStampTraceMessage") < place(&l, "aclprofMark"));
	assert_true(place(&l, "aclprofSetStampTraceMessage") < place(&l, "aclprofPush"));
}

static void offsets_are_those_of_the_file(void **state)
{
	static struct lib l;
	unsigned int f = number("aclprofPush");

	(void)state;
	make(&l, &(struct plan_opts){.force_entry = true});
	for (size_t i = 0; i < l.plan.n_entry; i++)
		assert_true(l.plan.entry[i].offset == offset_of(l.plan.entry[i].func));
	for (size_t i = 0; i < l.plan.n_leave; i++)
		assert_true(l.plan.leave[i].offset == offset_of(l.plan.leave[i].func));
	assert_int_equal(l.plan.why[f].entry.from_entry, 0);
	assert_true(l.plan.why[f].entry.cost_ns > 0);
}

#ifdef __x86_64__
static void sites_move_the_probe(void **state)
{
	static const uint8_t code[16] = {0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0, 1, 0, 0};
	static struct lib l;
	unsigned int f = number("aclprofRangeStart");
	int moved = site_can_plan() ? 4 : 0;

	(void)state;
	for (int force = 0; force < 2; force++) {
		const struct plan_opts o = {.force_entry = force, .kernel = 0x060100};
		uint64_t want = offset_of(f) + (force ? 0 : moved);

		lib_describe(&l);
		l.syms[f].size = 9;
		lib_build(&l);
		memcpy(l.img.bytes + offset_of(f), code, sizeof(code));
		lib_plan(&l, &o);
		assert_true(find(l.plan.entry, l.plan.n_entry, f)->offset == want);
		assert_true(find(l.plan.leave, l.plan.n_leave, f)->offset == want);
		assert_int_equal(l.plan.why[f].entry.from_entry, force ? 0 : moved);
	}
}

/* What the probe reads must not be overwritten before the site. */
static void arguments_that_are_read_stay(void **state)
{
	static const uint8_t code[16] = {0xf3, 0x0f, 0x1e, 0xfa, /* endbr64 */
					 0x31, 0xd2,		 /* xor edx, edx */
					 0xe9, 0,    1,	   0,	 0};
	static struct lib l;
	unsigned int two = number("aclprofMark"), three = number("aclprofSetStampTraceMessage");

	(void)state;
	lib_describe(&l);
	l.syms[two].size = l.syms[three].size = 11;
	lib_build(&l);
	memcpy(l.img.bytes + offset_of(two), code, sizeof(code));
	memcpy(l.img.bytes + offset_of(three), code, sizeof(code));
	lib_plan(&l, &(struct plan_opts){.kernel = 0x060100});
	assert_int_equal(l.plan.why[two].entry.from_entry, site_can_plan() ? 6 : 0);
	assert_int_equal(l.plan.why[three].entry.from_entry, 0);
}
#endif

static void refused_and_shared(void **state)
{
	static struct lib l;
	unsigned int mark = number("aclprofMark"), push = number("aclprofPush"),
		     pop = number("aclprofPop"), stop = number("aclprofRangeStop");

	(void)state;
	lib_describe(&l);
	l.syms[push].value = l.syms[mark].value;
	l.syms[pop].type = STT_GNU_IFUNC;
	l.syms[stop].shndx = SHN_UNDEF;
	lib_build(&l);
	lib_plan(&l, &(struct plan_opts){.returns = true});
	/* A call of either would be taken for one of the other. */
	assert_string_equal(kinds(&l, mark), "--");
	assert_string_equal(l.plan.why[mark].why, "shares its code with aclprofPush");
	assert_string_equal(kinds(&l, push), "--");
	assert_string_equal(l.plan.why[push].why, "shares its code with aclprofMark");
	assert_string_equal(kinds(&l, pop), "--");
	assert_string_equal(l.plan.why[pop].why, sym_state_text(SYM_IFUNC));
	assert_string_equal(kinds(&l, stop), "--");
	assert_string_equal(l.plan.why[stop].why, sym_state_text(SYM_UNDEFINED));
}

static void unreadable_code_means_the_entry(void **state)
{
	static struct lib l;
	unsigned int f = number("aclprofPush");

	(void)state;
	lib_describe(&l);
	lib_build(&l);
	l.fd = fakeelf_fd(l.img.bytes, l.img.len);
	assert_ok(elfsym_scan(l.fd, &l.scan));
	close(l.fd);
	plan_make(&(struct plan_opts){0}, &l.scan, -1, &l.plan);
	assert_string_equal(kinds(&l, f), "e-");
	assert_true(find(l.plan.entry, l.plan.n_entry, f)->offset == offset_of(f));
	free(l.img.bytes);
}

static void assert_line(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no '%s' in:\n%s", line, text);
}

static void the_plan_as_text(void **state)
{
	static struct lib l;
	_str_ struct str text = {0};
	size_t lines = 0;
	char line[128];
	unsigned int gone = number("aclprofMarkEx"), stop = number("aclprofRangeStop");

	(void)state;
	lib_describe(&l);
	l.syms[gone].name = "mstxMarkA";
	l.syms[number("aclprofPush")].value = l.syms[number("aclprofMark")].value;
	l.syms[number("aclprofPop")].type = STT_OBJECT;
	lib_build(&l);
	lib_plan(&l, &(struct plan_opts){.force_entry = true});
	plan_describe(&l.plan, &l.scan, "/x y", &text);
	assert_ok(text.err);
	snprintf(line, sizeof(line), "/x y\taclprofRangeStop\t0x%llx\tentry\t",
		 (unsigned long long)offset_of(stop));
	assert_line(text.s, line);
	assert_line(text.s, "\taclprofPush\t");
	assert_line(text.s, "\tnone\t-\t-\tshares its code with aclprofMark\n");
	assert_line(text.s, "\tnone\t-\t-\tnot a function\n");
	assert_line(text.s, "\tnone\t-\t-\tnot asked for\n");
	assert_line(text.s, "/x y\tnot in this version: aclprofMarkEx\n");
	assert_line(text.s, "/x y\tmstx: present, not traced\n");
	for (const char *p = text.s; *p; p++)
		lines += *p == '\n';
	/* range_start has two; one is absent; and the two lines about the file. */
	assert_int_equal(lines, entry_count() + 1 - 1 + 2);
}

static void versions_are_told(void **state)
{
	struct fakeelf_sym syms[] = {FAKE_FUNC("aclprofPush", 0), FAKE_FUNC("aclprofPush", 16)};
	const struct fakeelf f = {.syms = syms, .n_syms = 2, .versions = true};
	_str_ struct str text = {0};
	static struct lib l;

	(void)state;
	syms[0].version = 0x8002;
	fakeelf_build(&f, &l.img);
	lib_plan(&l, &(struct plan_opts){.force_entry = true});
	plan_describe(&l.plan, &l.scan, "f", &text);
	assert_int_equal(l.plan.n_entry, 1);
	assert_int_equal(l.plan.entry[0].offset, FAKEELF_TEXT_OFFSET + 16);
	assert_line(text.s, "; of several versions the default one\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_decide),
		cmocka_unit_test(ends_are_probed_before_begins),
		cmocka_unit_test(offsets_are_those_of_the_file),
#ifdef __x86_64__
		cmocka_unit_test(sites_move_the_probe),
		cmocka_unit_test(arguments_that_are_read_stay),
#endif
		cmocka_unit_test(refused_and_shared),
		cmocka_unit_test(unreadable_code_means_the_entry),
		cmocka_unit_test(the_plan_as_text),
		cmocka_unit_test(versions_are_told),
	};

	return RUN(tests);
}
