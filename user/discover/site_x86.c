// SPDX-License-Identifier: GPL-2.0-only
/* x86-64: where an instruction goes, and what the kernel does with a probe on it. */
#include "discover/site_x86.h"

#include <string.h>

static const uint8_t args_x86[] = {RDI, RSI, RDX, RCX, 8, 9};

/* ---- Where it goes ---------------------------------------------------------------------------*/

static void flow_set(struct flow *f, enum flow_kind kind, int64_t target)
{
	f->kind = kind;
	f->target = target;
}

/* Group 0xff: calls and jumps through a register or memory. */
static bool flow_group5(const uint8_t *p, size_t len, size_t at, struct flow *f)
{
	if (at + 1 >= len)
		return false;

	unsigned int reg = p[at + 1] >> 3 & 7;
	bool slot = (p[at + 1] & 0xc7) == 0x05 && at + 6 == len;
	int64_t target = slot ? (int64_t)len + x86_number(p + at + 2, 4) : 0;

	if (reg == 2)
		flow_set(f, slot ? FLOW_CALL_SLOT : FLOW_CALL_REG, target);
	else if (reg == 4)
		flow_set(f, slot ? FLOW_JUMP_SLOT : FLOW_JUMP_REG, target);
	else if (reg == 3 || reg == 5)
		return false;
	return true;
}

static bool flow_relative(const uint8_t *p, size_t len, size_t at, enum flow_kind kind,
			  unsigned int bytes, struct flow *f)
{
	if (at + bytes != len)
		return false;
	flow_set(f, kind, (int64_t)len + x86_number(p + at, bytes));
	return true;
}

static bool flow_x86(const uint8_t *p, size_t len, struct flow *f)
{
	size_t at = 0;
	bool opsize = false;

	flow_set(f, FLOW_NEXT, 0);
	for (; at < len && x86_is_prefix(p[at]); at++)
		opsize |= p[at] == 0x66;
	if (at < len && (p[at] & 0xf0) == 0x40)
		at++;
	if (at >= len || x86_is_prefix(p[at]) || (p[at] & 0xf0) == 0x40)
		return false; /* a REX prefix that is not the last one is void */

	uint8_t op = p[at];

	if (op == 0x0f && at + 1 < len && (p[at + 1] & 0xf0) == 0x80)
		return !opsize && flow_relative(p, len, at + 2, FLOW_COND, 4, f);
	if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3))
		return !opsize && flow_relative(p, len, at + 1, FLOW_COND, 1, f);
	if (op == 0xc7 && at + 1 < len && p[at + 1] == 0xf8) /* xbegin */
		return false;

	switch (op) {
	case 0xeb:
		return !opsize && flow_relative(p, len, at + 1, FLOW_JUMP, 1, f);
	case 0xe9:
		return !opsize && flow_relative(p, len, at + 1, FLOW_JUMP, 4, f);
	case 0xe8:
		return !opsize && flow_relative(p, len, at + 1, FLOW_CALL, 4, f);
	case 0xff:
		return !opsize ? flow_group5(p, len, at, f)
			       : at + 1 < len && (p[at + 1] >> 3 & 7) != 2 &&
					 (p[at + 1] >> 3 & 7) != 4;
	case 0xc2:
	case 0xc3:
		flow_set(f, FLOW_RETURN, 0);
		return true;
	case 0xca:
	case 0xcb:
	case 0xcf:
		return false; /* far returns */
	default:
		return true;
	}
}

/* ---- What the kernel does with it ------------------------------------------------------------*/

/* The forms that assemblers write and that kernels from 6.18 emulate, by length. */
static bool is_long_nop(const uint8_t *p, size_t len)
{
	static const uint8_t nops[][8] = {
		[3] = {0x0f, 0x1f, 0x00},
		[4] = {0x0f, 0x1f, 0x40, 0x00},
		[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00},
		[6] = {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		[7] = {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
		[8] = {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	};

	return len >= 3 && len < sizeof(nops) / sizeof(nops[0]) && !memcmp(p, nops[len], len);
}

static bool is_refused(const uint8_t *p, size_t len)
{
	size_t at = 0;
	bool opsize = false;

	for (; at < len && x86_is_prefix(p[at]); at++) {
		if (p[at] != 0x64 && p[at] != 0x65 && p[at] != 0x67 && p[at] < 0xf2 &&
		    p[at] != 0x66)
			return true;
		opsize |= p[at] == 0x66;
	}
	if (at < len && (p[at] & 0xf0) == 0x40)
		at++;
	if (at >= len)
		return true;

	uint8_t op = p[at];

	if (op == 0xcc || op == 0xcd || op == 0xf1 || op == 0xf4 || (op & 0xfc) == 0x6c ||
	    (op & 0xf4) == 0xe4)
		return true;
	if (op == 0x8e) /* mov to ss */
		return at + 1 < len && (p[at + 1] >> 3 & 7) == 2;
	return opsize && (op == 0xe8 || op == 0xe9 || op == 0xeb || (op & 0xf0) == 0x70 ||
			  (op == 0x0f && at + 1 < len && (p[at + 1] & 0xf0) == 0x80));
}

static enum site_class classify_x86(const uint8_t *p, size_t len, uint32_t kernel)
{
	if ((len == 5 && p[0] == 0xe9) || (len == 2 && (p[0] == 0xeb || (p[0] & 0xf0) == 0x70)) ||
	    (len == 6 && p[0] == 0x0f && (p[1] & 0xf0) == 0x80))
		return CLASS_GOOD;
	if ((len == 1 && ((p[0] & 0xf8) == 0x50 || p[0] == 0x90)) ||
	    (len == 2 && p[0] == 0x41 && (p[1] & 0xf8) == 0x50))
		return CLASS_GOOD;
	/* Before 6.2 this nop was taken for a branch with a 16-bit prefix and refused. */
	if (len == 2 && p[0] == 0x66 && p[1] == 0x90)
		return kernel >= SITE_KERNEL(6, 2) ? CLASS_GOOD : CLASS_REFUSED;
	if (len == 5 && p[0] == 0xe8)
		return CLASS_CALL;
	if (is_long_nop(p, len) && kernel >= SITE_KERNEL(6, 18))
		return len == 5 ? CLASS_NOP5 : CLASS_GOOD;
	return is_refused(p, len) ? CLASS_REFUSED : CLASS_STEPPED;
}

const struct site_arch site_x86 = {
	.max_args = sizeof(args_x86),
	.arg_reg = args_x86,
	.return_on_stack = true,
	.flow = flow_x86,
	.classify = classify_x86,
	.step = x86_step,
};
