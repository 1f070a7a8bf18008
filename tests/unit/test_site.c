// SPDX-License-Identifier: GPL-2.0-only
/* The planner's decision for hand-written functions, byte by byte. */
#include "harness/test.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "discover/site.h"

#define K(a, b) ((uint32_t)(a) << 16 | (uint32_t)(b) << 8)
#define VADDR 0x1000
/* Where the calls and jumps of the functions below go. */
#define FAIL_AT 0x9000
#define IMPL_AT 0x9010

#define ENDBR 0xf3, 0x0f, 0x1e, 0xfa
#define LE32(v) (uint8_t)(v), (uint8_t)((v) >> 8), (uint8_t)((v) >> 16), (uint8_t)((v) >> 24)
/* A branch of 4 displacement bytes that ends at offset end, to the address to. */
#define REL(end, to) LE32((to) - (VADDR + (end)))
#define W(w) LE32((uint32_t)(w))

struct c {
	const char *name;
	uint32_t kernel; /* 0: 6.1 */
	enum site_purpose purpose;
	unsigned int args;
	uint32_t want; /* offset */
	bool emulated;
	const char *why; /* part of the reason */
	uint8_t code[64];
	uint8_t size;
};

#define CODE(...) .code = {__VA_ARGS__}, .size = sizeof((uint8_t[]){__VA_ARGS__})

static const char *name_of(void *ctx, uint64_t vaddr)
{
	(void)ctx;
	if (vaddr == FAIL_AT)
		return "__stack_chk_fail";
	return vaddr == IMPL_AT ? "ProfAclMark" : NULL;
}

static void check(const struct c *c, uint16_t machine)
{
	struct site_request rq = {.code = c->code,
				  .size = c->size,
				  .vaddr = VADDR,
				  .machine = machine,
				  .kernel = c->kernel ? c->kernel : K(6, 1),
				  .purpose = c->purpose,
				  .args = c->args,
				  .target_name = name_of};
	struct site s;

	site_plan(&rq, &s);
	if (s.offset != c->want || s.emulated != c->emulated || !strstr(s.why, c->why))
		fail_msg("%s: +%u %s '%s' (%s)", c->name, s.offset,
			 s.emulated ? "emulated" : "stepped", s.insn, s.why);
}

static void check_all(const struct c *cases, size_t n, uint16_t machine)
{
	if (!site_can_plan())
		skip();
	for (size_t i = 0; i < n; i++)
		check(&cases[i], machine);
}

/* The form of -fstack-protector-all; what = jump over the call, or to it. */
#define PROTECTED                                                                                  \
	CODE(0x48, 0x83, 0xec, 0x18,			  /* 00 sub $0x18,%rsp */                  \
	     0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0, /* 04 mov %fs:0x28,%rax */               \
	     0x48, 0x89, 0x44, 0x24, 0x08,		  /* 0d mov %rax,8(%rsp) */                \
	     0x31, 0xc0,				  /* 12 xor %eax,%eax */                   \
	     0x48, 0x8b, 0x44, 0x24, 0x08,		  /* 14 mov 8(%rsp),%rax */                \
	     0x64, 0x48, 0x2b, 0x04, 0x25, 0x28, 0, 0, 0, /* 19 sub %fs:0x28,%rax */               \
	     0x74, 0x05,				  /* 22 je 29 */                           \
	     0xe8, REL(0x29, FAIL_AT),			  /* 24 call */                            \
	     0x48, 0x83, 0xc4, 0x18,			  /* 29 add $0x18,%rsp */                  \
	     0xe9, REL(0x32, IMPL_AT))			  /* 2d jmp */

static void x86_forms_of_the_real_library(void **state)
{
	static const struct c cases[] = {
		{"jmp", .args = 3, .emulated = true, .why = "entry: emulated",
		 CODE(0xe9, REL(5, IMPL_AT))},
		{"jmp, return", .purpose = SITE_RETURN, .emulated = true, .why = "entry: emulated",
		 CODE(0xe9, REL(5, IMPL_AT))},
		{"endbr jmp", .args = 3, .want = 4, .emulated = true, .why = "arguments",
		 CODE(ENDBR, 0xe9, REL(9, IMPL_AT))},
		{"endbr jmp, return", .purpose = SITE_RETURN, .want = 4, .emulated = true,
		 .why = "return address", CODE(ENDBR, 0xe9, REL(9, IMPL_AT))},
		{"protected", .args = 3, .want = 0x22, .emulated = true, .why = "arguments",
		 PROTECTED},
		{"protected, return", .purpose = SITE_RETURN, .want = 0x2d, .emulated = true,
		 .why = "return address", PROTECTED},
	};

	(void)state;
	check_all(cases, sizeof(cases) / sizeof(cases[0]), EM_X86_64);
}

static void x86_alternatives(void **state)
{
	static const struct c cases[] = {
		{"push at the entry", .args = 3, .emulated = true, .why = "entry",
		 CODE(0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3)},
		{"push behind endbr, return", .purpose = SITE_RETURN, .want = 4, .emulated = true,
		 .why = "return", CODE(ENDBR, 0x53, 0x5b, 0xc3)},
		{"mov reg, then push: too deep for a return", .purpose = SITE_RETURN, .want = 3,
		 .emulated = true, .why = "return", CODE(0x48, 0x89, 0xf8, 0x53, 0x5b, 0xc3)},
		{"sub first: a push is too deep for a return", .purpose = SITE_RETURN, .want = 0,
		 .why = "no cheap",
		 CODE(0x48, 0x83, 0xec, 8, 0x53, 0x5b, 0x48, 0x83, 0xc4, 8, 0xc3)},
		{"push and pop back, tail", .purpose = SITE_RETURN, .want = 9, .emulated = true,
		 .why = "return",
		 CODE(0x48, 0x83, 0xec, 8, 0x53, 0x48, 0x83, 0xc4, 0x10, 0xe9, REL(14, IMPL_AT))},
		{"argument overwritten before the jump", .args = 2, .why = "argument",
		 CODE(ENDBR, 0x31, 0xf6, 0xe9, REL(11, IMPL_AT))},
		{"an argument that is not asked for", .args = 1, .want = 6, .emulated = true,
		 .why = "arguments", CODE(ENDBR, 0x31, 0xf6, 0xe9, REL(11, IMPL_AT))},
		{"dh is a part of rdx", .args = 3, .why = "argument",
		 CODE(ENDBR, 0xb6, 1, 0xe9, REL(11, IMPL_AT))},
		{"ch is a part of rcx", .args = 4, .why = "argument",
		 CODE(ENDBR, 0xb5, 1, 0xe9, REL(11, IMPL_AT))},
		{"store through an argument", .args = 2, .why = "effect",
		 CODE(ENDBR, 0xc6, 0x06, 0, 0xe9, REL(12, IMPL_AT))},
		{"store into the caller's frame", .args = 2, .why = "effect",
		 CODE(ENDBR, 0x48, 0x89, 0x44, 0x24, 8, 0xe9, REL(14, IMPL_AT))},
		{"call before 6.6", .kernel = K(6, 1), .args = 1, .want = 4, .emulated = true,
		 .why = "arguments", CODE(0x48, 0x83, 0xec, 8, 0xe8, REL(9, IMPL_AT), 0xc3)},
		{"call and shadow stacks", .kernel = K(6, 6), .args = 1, .why = "no cheap",
		 CODE(0x48, 0x83, 0xec, 8, 0xe8, REL(9, IMPL_AT), 0xc3)},
		{"nothing behind a call", .kernel = K(6, 6), .why = "no cheap",
		 CODE(0x48, 0x83, 0xec, 8, 0xe8, REL(9, IMPL_AT), 0x90, 0xc3)},
		{"final jump through the GOT", .args = 1, .why = "no cheap",
		 CODE(ENDBR, 0xff, 0x25, 0, 1, 0, 0)},
		{"popped into another register is fine", .args = 1, .want = 4, .emulated = true,
		 .why = "arg", CODE(ENDBR, 0x50, 0x5a, 0xe9, REL(11, IMPL_AT))},
	};

	(void)state;
	check_all(cases, sizeof(cases) / sizeof(cases[0]), EM_X86_64);
}

static void x86_nops_depend_on_the_kernel(void **state)
{
#define NOP5 0x0f, 0x1f, 0x44, 0, 0
	static const struct c cases[] = {
		{"nop3 stepped", .kernel = K(6, 17), .want = 7, .emulated = true, .why = "arg",
		 CODE(ENDBR, 0x0f, 0x1f, 0x00, 0xe9, REL(12, IMPL_AT))},
		{"nop3 emulated", .kernel = K(6, 18), .want = 4, .emulated = true, .why = "arg",
		 CODE(ENDBR, 0x0f, 0x1f, 0x00, 0xe9, REL(12, IMPL_AT))},
		{"nop5 avoided", .kernel = K(6, 18), .want = 9, .emulated = true, .why = "arg",
		 CODE(ENDBR, NOP5, 0xe9, REL(14, IMPL_AT))},
		{"nop5, no other", .kernel = K(6, 18), .want = 4, .emulated = true, .why = "arg",
		 CODE(ENDBR, NOP5, 0x31, 0xc0, 0xc3)},
		{"nop5 above a red zone", .kernel = K(6, 18), .want = 0, .why = "no cheap",
		 CODE(ENDBR, 0x48, 0x89, 0x44, 0x24, 0xf8, NOP5, 0x31, 0xc0, 0xc3)},
		{"nop5 before 6.18", .kernel = K(6, 17), .want = 0, .why = "no cheap",
		 CODE(ENDBR, NOP5, 0x31, 0xc0, 0xc3)},
		{"66 nop", .kernel = K(6, 2), .emulated = true, .why = "entry",
		 CODE(0x66, 0x90, 0xc3)},
		{"66 nop refused", .kernel = K(6, 1), .want = 2, .emulated = true, .why = "arg",
		 CODE(0x66, 0x90, 0x90, 0xc3)},
		{"xchg r8 is no nop", .want = 0, .why = "effect",
		 CODE(ENDBR, 0x49, 0x90, 0x90, 0xc3)},
		{"nop with a cs prefix", .kernel = K(6, 18), .want = 0, .why = "effect",
		 CODE(ENDBR, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x90, 0xc3)},
	};

	(void)state;
	check_all(cases, sizeof(cases) / sizeof(cases[0]), EM_X86_64);
}

static void x86_refusals(void **state)
{
	static const struct c cases[] = {
		{"loop to the entry", .why = "jump back", CODE(ENDBR, 0x90, 0x75, 0xf9, 0xc3)},
		{"loop to the site", .why = "jump back", CODE(ENDBR, 0x90, 0x75, 0xfd, 0xc3)},
		{"loop behind the site", .want = 4, .emulated = true, .why = "arg",
		 CODE(ENDBR, 0x90, 0xff, 0xc8, 0x75, 0xfc, 0xc3)},
		{"a far jump back from the end", .why = "jump back",
		 CODE(ENDBR, 0x53, 0x31, 0xc0, 0x74, 0x01, 0xc3, 0xeb, 0xf8)},
		{"branch that skips", .why = "argument",
		 CODE(ENDBR, 0x31, 0xff, 0x74, 1, 0x90, 0xc3), .args = 1},
		{"the branch is the site", .want = 7, .emulated = true, .why = "arg", .args = 1,
		 CODE(ENDBR, 0x48, 0x85, 0xff, 0x74, 1, 0x90, 0xc3)},
		{"a return probe cannot pass a branch", .purpose = SITE_RETURN, .why = "branch",
		 CODE(0x48, 0x83, 0xec, 8, 0x74, 1, 0x90, 0x48, 0x83, 0xc4, 8, 0xe9,
		      REL(16, IMPL_AT))},
		{"a call that is not known to end", .purpose = SITE_RETURN, .why = "branch",
		 CODE(0x48, 0x83, 0xec, 8, 0x74, 5, 0xe8, REL(11, IMPL_AT), 0x48, 0x83, 0xc4, 8,
		      0xe9, REL(20, IMPL_AT))},
		{"conditional jump out", .why = "conditional jump that leaves",
		 CODE(ENDBR, 0x90, 0x0f, 0x84, REL(11, IMPL_AT), 0xc3)},
		{"into an instruction", .why = "middle",
		 CODE(ENDBR, 0x90, 0xeb, 1, 0xb8, 0, 0, 0, 0, 0xc3)},
		{"indirect jump", .why = "indirect jump", CODE(ENDBR, 0x90, 0xff, 0xe0)},
		{"indirect jump in the middle", .why = "indirect jump",
		 CODE(ENDBR, 0x90, 0xff, 0x25, 0, 1, 0, 0, 0xc3)},
		{"jump to a part that was moved away", .why = "unknown place",
		 CODE(ENDBR, 0x53, 0x85, 0xc0, 0x74, 1, 0xc3, 0xe9, REL(16, 0x4000))},
		{"a call into itself", .why = "function itself",
		 CODE(ENDBR, 0x90, 0xe8, 0, 0, 0, 0, 0x58, 0xc3)},
		{"a void REX prefix", .why = "not understood",
		 CODE(ENDBR, 0x90, 0x48, 0x66, 0x90, 0xc3)},
		{"undecodable at the end", .why = "undecodable", CODE(ENDBR, 0x90, 0xc3, 0x06)},
		{"a cut instruction", .why = "undecodable", CODE(ENDBR, 0x90, 0xe9, 1, 2)},
		{"a jmp inside an immediate", .want = 0, .why = "no cheap",
		 CODE(ENDBR, 0xb8, 0xe9, 0xeb, 0x90, 0x55, 0xc3)},
		{"a 16-bit branch", .why = "not understood",
		 CODE(ENDBR, 0x90, 0x66, 0xe9, 0, 0, 0, 0, 0xc3)},
		{"hinted branch is refused by the kernel", .why = "branch",
		 CODE(ENDBR, 0x3e, 0x74, 1, 0x90, 0xc3)},
		{"int3", .why = "refuses", CODE(0xcc, 0xc3)},
		{"lock", .why = "refuses", CODE(0xf0, 0x48, 0x01, 0x07, 0xc3)},
	};

	(void)state;
	check_all(cases, sizeof(cases) / sizeof(cases[0]), EM_X86_64);
}

static void arm64_forms(void **state)
{
#define B(at, to) W(0x14000000 | (((to) - (VADDR + (at))) >> 2 & 0x3ffffff))
#define BL(at, to) W(0x94000000 | (((to) - (VADDR + (at))) >> 2 & 0x3ffffff))
#define BTI_C W(0xd503245f)
#define PACIASP W(0xd503233f)
#define AUTIASP W(0xd50323bf)
#define STP_PRE W(0xa9be7bfd)  /* stp x29, x30, [sp, #-32]! */
#define LDP_POST W(0xa8c27bfd) /* ldp x29, x30, [sp], #32 */
#define MOV_X29 W(0x910003fd)
#define ADRP_X8 W(0x90000008)
#define LDR_X8 W(0xf9400108) /* ldr x8, [x8] */
#define STR_X8 W(0xf9000fe8) /* str x8, [sp, #24] */
#define LDR_X9 W(0xf9400fe9) /* ldr x9, [sp, #24] */
#define CMP W(0xeb09011f)    /* cmp x8, x9 */
#define NOP W(0xd503201f)
#define RET W(0xd65f03c0)
#define BNE(words) W(0x54000001 | (words) << 5)
	static const struct c cases[] = {
		{"b", .args = 3, .emulated = true, .why = "entry", CODE(B(0, IMPL_AT))},
		{"bti b", .args = 3, .want = 4, .emulated = true, .why = "arg",
		 CODE(BTI_C, B(4, IMPL_AT))},
		{"bti b, return", .purpose = SITE_RETURN, .want = 4, .emulated = true,
		 .why = "return", CODE(BTI_C, B(4, IMPL_AT))},
		{"paciasp b", .args = 3, .want = 4, .emulated = true, .why = "arg",
		 CODE(PACIASP, B(4, IMPL_AT))},
		{"paciasp b, return", .purpose = SITE_RETURN, .why = "no cheap",
		 CODE(PACIASP, B(4, IMPL_AT))},
		{"signed and checked again, return", .purpose = SITE_RETURN, .why = "no cheap",
		 CODE(PACIASP, STP_PRE, LDP_POST, AUTIASP, B(16, IMPL_AT))},
		{"adrp before the frame", .purpose = SITE_RETURN, .emulated = true, .why = "entry",
		 CODE(ADRP_X8, STP_PRE, LDP_POST, B(12, IMPL_AT))},
		{"stp adrp: the saved link register, return", .purpose = SITE_RETURN, .want = 0x28,
		 .emulated = true, .why = "return",
		 CODE(STP_PRE, MOV_X29, ADRP_X8, LDR_X8, STR_X8, LDR_X9, CMP, BNE(4), NOP, LDP_POST,
		      B(0x28, IMPL_AT), BL(0x2c, FAIL_AT))},
		{"stp adrp", .args = 3, .want = 8, .emulated = true, .why = "arg",
		 CODE(STP_PRE, MOV_X29, ADRP_X8, LDR_X8, STR_X8, LDR_X9, CMP, BNE(4), NOP, LDP_POST,
		      B(0x28, IMPL_AT), BL(0x2c, FAIL_AT))},
		{"link register from another place, return", .purpose = SITE_RETURN,
		 .why = "no cheap", CODE(STP_PRE, W(0xf94003fe), W(0x910083ff), B(12, IMPL_AT))},
		{"saved slot overwritten, return", .purpose = SITE_RETURN, .why = "no cheap",
		 CODE(STP_PRE, W(0xf90007e8), LDP_POST, B(12, IMPL_AT))},
		{"link register to be loaded again, return", .purpose = SITE_RETURN, .want = 0x14,
		 .emulated = true, .why = "return",
		 CODE(STP_PRE, W(0x910083ff), ADRP_X8, W(0xd10083ff), LDP_POST, B(0x14, IMPL_AT))},
		{"nop stepped", .kernel = K(6, 12), .want = 8, .emulated = true, .why = "arg",
		 CODE(BTI_C, NOP, B(8, IMPL_AT))},
		{"nop emulated", .kernel = K(6, 13), .want = 4, .emulated = true, .why = "arg",
		 CODE(BTI_C, NOP, B(8, IMPL_AT))},
		{"mov w0, then b", .args = 1, .why = "argument",
		 CODE(BTI_C, W(0x52800000), B(8, IMPL_AT))},
		{"cbz is the site", .args = 1, .want = 4, .emulated = true, .why = "arg",
		 CODE(BTI_C, W(0xb4000040), B(8, IMPL_AT), RET)},
		{"a loop", .why = "jump back", CODE(BTI_C, W(0xb5000000), RET)},
		{"br", .why = "indirect", CODE(BTI_C, NOP, W(0xd61f0200))},
		{"retaa", .why = "", CODE(BTI_C, NOP, W(0xd65f0bff))},
		{"store through x1", .args = 2, .why = "effect",
		 CODE(BTI_C, W(0x3900003f), B(8, IMPL_AT))},
		{"literal load", .why = "refuses", CODE(W(0x58000040), RET, NOP)},
	};

	(void)state;
	check_all(cases, sizeof(cases) / sizeof(cases[0]), EM_AARCH64);
}

static void odd_requests_mean_the_entry(void **state)
{
	static const uint8_t code[SITE_MAX_CODE + 1] = {ENDBR, 0xe9, REL(9, IMPL_AT)};
	struct site_request rq = {.code = code, .size = 9, .vaddr = VADDR, .machine = EM_X86_64};
	struct site s;

	(void)state;
	if (!site_can_plan())
		skip();
	site_plan(&rq, &s);
	assert_int_equal(s.offset, 4);
	assert_string_equal(s.insn, "jmp 0x9010");
	assert_in_range(s.cost_ns, 1, 999);

	rq.force_entry = true;
	site_plan(&rq, &s);
	assert_int_equal(s.offset, 0);
	assert_string_equal(s.insn, "endbr64");
	assert_string_equal(s.why, "entry: asked for");
	assert_true(s.cost_ns > 9000);

	rq.force_entry = false;
	rq.args = 7;
	site_plan(&rq, &s);
	assert_string_equal(s.why, "entry: an argument is on the stack");
	rq.args = 0;
	rq.size = 0;
	site_plan(&rq, &s);
	assert_string_equal(s.why, "entry: the function's size is not known");
	rq.size = SITE_MAX_CODE + 1;
	site_plan(&rq, &s);
	assert_string_equal(s.why, "entry: the function is over 4 KiB");
	rq.size = 9;
	rq.machine = EM_RISCV;
	site_plan(&rq, &s);
	assert_string_equal(s.why, "entry: a machine that is not known");
	rq.machine = EM_X86_64;
	rq.code = NULL;
	site_plan(&rq, &s);
	assert_string_equal(s.why, "entry: the code cannot be read");
	assert_int_equal(s.offset, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_forms_of_the_real_library),
		cmocka_unit_test(x86_alternatives),
		cmocka_unit_test(x86_nops_depend_on_the_kernel),
		cmocka_unit_test(x86_refusals),
		cmocka_unit_test(arm64_forms),
		cmocka_unit_test(odd_requests_mean_the_entry),
	};

	return RUN(tests);
}
