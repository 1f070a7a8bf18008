// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a function. Whatever the planner chooses must be an instruction boundary on a
 * straight line from the start, over nothing that jumps, calls or returns other than a conditional
 * branch, and no refused byte may begin it. Capstone, which the planner does not ask about this,
 * must not know of a write to an argument register on that line.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>

#include "discover/disasm.h"
#include "discover/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *name_of(void *ctx, uint64_t vaddr)
{
	(void)ctx;
	/* Half of all places have a name. */
	if (vaddr & 0x10)
		return NULL;
	return vaddr & 0x20 ? "__stack_chk_fail" : "ProfAclMark";
}

static bool ends_line_x86(const uint8_t *p)
{
	switch (*p) {
	case 0xc2:
	case 0xc3:
	case 0xe8:
	case 0xe9:
	case 0xeb:
	case 0xcc:
	case 0xf0:
	case 0xf4:
		return true;
	default:
		return *p == 0xff && (p[1] & 0x38) != 0x30 && (p[1] & 0x30) != 0;
	}
}

static bool ends_line_arm64(const uint8_t *p)
{
	uint32_t w = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

	return (w & 0x7c000000) == 0x14000000 || (w & 0xfe000000) == 0xd6000000 ||
	       (w & 0xff000000) == 0xd4000000;
}

static bool is_branch(uint16_t machine, const uint8_t *p)
{
	if (machine == EM_X86_64)
		return (*p & 0xf0) == 0x70 || (*p == 0x0f && (p[1] & 0xf0) == 0x80);
	return (p[3] & 0x7e) == 0x34 || (p[3] & 0x7e) == 0x36 || p[3] == 0x54;
}

/* The number of the argument that lives in this register or holds a part of it, or -1. */
static int argument_of(uint16_t machine, uint16_t reg)
{
	static const uint16_t x86[][5] = {
		{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
		{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
		{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
		{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
		{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
		{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
	};

	if (machine == EM_AARCH64)
		return reg >= ARM64_REG_X0 && reg <= ARM64_REG_X7   ? reg - ARM64_REG_X0
		       : reg >= ARM64_REG_W0 && reg <= ARM64_REG_W7 ? reg - ARM64_REG_W0
								    : -1;
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 5; k++)
			if (x86[i][k] && x86[i][k] == reg)
				return i;
	return -1;
}

/* Only up to the first branch: where the line goes on behind it is the planner's knowledge. */
static void check_arguments(const struct site_request *rq, const struct site *s)
{
	const uint8_t *p = rq->code;
	size_t left = rq->size;
	uint64_t addr = 0;
	cs_insn *in;
	csh h;

	if (cs_open(rq->machine == EM_X86_64 ? CS_ARCH_X86 : CS_ARCH_ARM64,
		    rq->machine == EM_X86_64 ? CS_MODE_64 : CS_MODE_ARM, &h))
		abort();
	cs_option(h, CS_OPT_DETAIL, CS_OPT_ON);
	in = cs_malloc(h);
	while (addr < s->offset && !is_branch(rq->machine, p) &&
	       cs_disasm_iter(h, &p, &left, &addr, in)) {
		cs_regs rd, wr;
		uint8_t n_rd, n_wr;

		if (cs_regs_access(h, in, rd, &n_rd, wr, &n_wr))
			abort();
		/* Comparisons, of which Capstone 4 says that they write their first operand. */
		if (rq->machine == EM_AARCH64 &&
		    (in->id == ARM64_INS_TST || in->id == ARM64_INS_CMP || in->id == ARM64_INS_CMN))
			continue;
		for (int i = 0; i < n_wr; i++) {
			int a = argument_of(rq->machine, wr[i]);

			if (a >= 0 && a < (int)rq->args)
				abort();
		}
	}
	cs_free(in, 1);
	cs_close(&h);
}

static void check(const struct site_request *rq, const struct site *s, const uint8_t *len, int n)
{
	uint32_t off = 0;
	bool branched = false;

	if (s->offset == 0)
		return;
	if (n <= 0 || rq->force_entry || !s->emulated || s->refused)
		abort();
	for (int i = 0; i < n && off < s->offset; off += len[i++]) {
		bool ends = rq->machine == EM_X86_64 ? ends_line_x86(rq->code + off)
						     : ends_line_arm64(rq->code + off);

		branched |= is_branch(rq->machine, rq->code + off);
		if (ends && !branched)
			abort();
	}
	if (off != s->offset)
		abort();
	check_arguments(rq, s);
	if (rq->machine == EM_X86_64 &&
	    strchr("\xf0\x2e\x36\x3e\x26\xcc\xcd\xf3\xf2", rq->code[off]))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t kernels[] = {0, 0x50f00, 0x60100, 0x60d00, 0x61200};
	struct site_request rq = {.vaddr = 0x1000, .target_name = name_of};
	struct site s;
	uint8_t *len;
	uint32_t bad;
	int n;

	if (size < 2 || size > SITE_MAX_CODE)
		return 0;
	rq.machine = data[0] & 1 ? EM_AARCH64 : EM_X86_64;
	rq.purpose = data[0] & 2 ? SITE_RETURN : SITE_ENTRY;
	rq.force_entry = (data[0] & 0xf0) == 0xf0;
	rq.kernel = kernels[(data[0] >> 2) % 5];
	rq.args = data[1] & 7;
	rq.size = size - 2;
	/* Own copies, so that a read beyond the end is found. */
	uint8_t *code = malloc(rq.size + 1);

	len = malloc(rq.size + 1);
	if (!code || !len)
		abort();
	memcpy(code, data + 2, rq.size);
	code = realloc(code, rq.size ? rq.size : 1);
	rq.code = code;
	n = rq.size ? disasm_lengths(rq.machine, code, rq.size, len, &bad) : 0;
	site_plan(&rq, &s);
	if (!memchr(s.why, 0, sizeof(s.why)) || !memchr(s.insn, 0, sizeof(s.insn)) || !s.why[0] ||
	    !s.cost_ns)
		abort();
	check(&rq, &s, len, n);
	free(code);
	free(len);
	return 0;
}
