// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: what an instruction changes. Only general-purpose instructions that compilers put into
 * a prologue; encodings as in the processor manuals.
 */
#include "discover/site_x86.h"

#include <string.h>

/* What an instruction on the list does with its operands. */
enum action {
	ACT_BAD,   /* not on the list */
	ACT_RM,	   /* writes the register or memory of ModRM */
	ACT_REG,   /* writes the register of ModRM.reg, reads ModRM.rm */
	ACT_READ,  /* writes flags only */
	ACT_LEA,   /* writes ModRM.reg, no access */
	ACT_ACC,   /* writes rax, immediate operand */
	ACT_FLAGS, /* rax and an immediate, writes flags only */
	ACT_LOAD,  /* writes the register in the opcode, immediate operand */
	ACT_PUSH,
	ACT_POP,
	ACT_LEAVE,
	ACT_NOP, /* nothing, ModRM or not */
};

struct x86 {
	uint8_t rex;
	bool opsize; /* prefix 0x66 */
	bool seg;    /* fs or gs: the address is not on the stack */
	uint16_t op; /* 0x100 | second byte for the 0x0f map */
	uint8_t act; /* enum action */
	bool modrm;
	uint8_t mod, reg, rm; /* reg and rm with their REX bits */
	uint8_t base, index;  /* of the memory operand */
	int32_t disp;
	int64_t imm;
	bool byte; /* 8-bit operands */
	uint8_t len;
};

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

static enum action action_map0(uint8_t op)
{
	if (op < 0x40) { /* the eight arithmetic operations in their six forms */
		static const uint8_t forms[] = {ACT_RM,	 ACT_RM,  ACT_REG, ACT_REG,
						ACT_ACC, ACT_ACC, ACT_BAD, ACT_BAD};
		enum action a = forms[op & 7];

		if (op < 0x38 || a == ACT_BAD)
			return a;
		return a == ACT_ACC ? ACT_FLAGS : ACT_READ; /* cmp */
	}
	if (op >= 0x50 && op < 0x60)
		return op < 0x58 ? ACT_PUSH : ACT_POP;
	if (op >= 0xb0 && op < 0xc0)
		return ACT_LOAD;
	switch (op) {
	case 0x63: /* movslq */
	case 0x8a:
	case 0x8b:
		return ACT_REG;
	case 0x80: /* arithmetic with an immediate; cmp is told apart later */
	case 0x81:
	case 0x83:
	case 0x88:
	case 0x89:
	case 0xc0: /* shifts */
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
		return ACT_RM;
	case 0x84:
	case 0x85:
		return ACT_READ;
	case 0x8d:
		return ACT_LEA;
	case 0x90:
		return ACT_NOP;
	case 0xa8:
	case 0xa9:
		return ACT_FLAGS;
	case 0xc9:
		return ACT_LEAVE;
	default:
		return ACT_BAD;
	}
}

static enum action action_map1(uint8_t op)
{
	if (op >= 0x40 && op < 0x50) /* cmov */
		return ACT_REG;
	if (op >= 0x90 && op < 0xa0) /* setcc */
		return ACT_RM;
	switch (op) {
	case 0x1f:
		return ACT_NOP;
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
		return ACT_REG;
	default:
		return ACT_BAD;
	}
}

static bool is_byte_op(uint16_t op)
{
	if (op & 0x100)
		return (op & 0xf0) == 0x90;
	if (op < 0x40)
		return !(op & 1);
	return (op >= 0xb0 && op < 0xb8) || op == 0x80 || op == 0x84 || op == 0x88 || op == 0x8a ||
	       op == 0xa8 || op == 0xc0 || op == 0xc6 || op == 0xd0;
}

static unsigned int imm_bytes(const struct x86 *x)
{
	uint16_t op = x->op;

	if (x->act == ACT_LOAD && (x->rex & 8) && !x->byte)
		return 8;
	if (op == 0x80 || op == 0x83 || op == 0xc0 || op == 0xc1 || op == 0xc6)
		return 1;
	if (op == 0x81 || op == 0xc7 || x->act == ACT_ACC || x->act == ACT_FLAGS ||
	    x->act == ACT_LOAD)
		return x->byte ? 1 : x->opsize ? 2 : 4;
	return 0;
}

/* ModRM, SIB and displacement from p[at]; returns the place behind them, 0 = truncated. */
static size_t decode_modrm(const uint8_t *p, size_t len, size_t at, struct x86 *x)
{
	unsigned int disp = 0;

	if (at >= len)
		return 0;
	x->mod = p[at] >> 6;
	x->reg = (p[at] >> 3 & 7) | (x->rex & 4) << 1;
	x->rm = (p[at] & 7) | (x->rex & 1) << 3;
	x->base = x->index = NONE;

	bool sib = x->mod != 3 && (p[at] & 7) == 4;
	uint8_t low = p[at++] & 7;

	if (x->mod == 3)
		return at;
	x->base = x->rm;
	if (sib) {
		if (at >= len)
			return 0;
		x->index = (p[at] >> 3 & 7) | (x->rex & 2) << 2;
		if (x->index == RSP)
			x->index = NONE;
		low = p[at++] & 7;
		x->base = low | (x->rex & 1) << 3;
	}
	if (x->mod == 0 && low == 5) {
		x->base = sib ? NONE : RIP;
		disp = 4;
	} else if (x->mod != 0) {
		disp = x->mod == 1 ? 1 : 4;
	}
	if (at + disp > len)
		return 0;
	if (disp)
		x->disp = x86_number(p + at, disp);
	return at + disp;
}

static bool decode_prefixes(const uint8_t *p, size_t len, size_t *at, struct x86 *x)
{
	for (; *at < len && x86_is_prefix(p[*at]); (*at)++) {
		if (p[*at] == 0x66)
			x->opsize = true;
		else if (p[*at] == 0x64 || p[*at] == 0x65)
			x->seg = true;
		else
			return false;
	}
	if (*at < len && (p[*at] & 0xf0) == 0x40)
		x->rex = p[(*at)++];
	return *at < len;
}

/* Operations that share an opcode are told apart by ModRM.reg. */
static void refine(struct x86 *x)
{
	uint8_t sub = x->reg & 7;

	if ((x->op == 0x80 || x->op == 0x81 || x->op == 0x83) && sub == 7)
		x->act = ACT_READ; /* cmp */
	if ((x->op == 0xc6 || x->op == 0xc7) && sub != 0)
		x->act = ACT_BAD;
	if (x->act == ACT_LEA && x->mod == 3)
		x->act = ACT_BAD;
	if (x->op == 0x11f && sub != 0)
		x->act = ACT_BAD;
}

static bool decode(const uint8_t *p, size_t len, struct x86 *x)
{
	size_t at = 0;

	*x = (struct x86){.base = NONE, .index = NONE};
	if (!decode_prefixes(p, len, &at, x))
		return false;
	x->op = p[at++];
	if (x->op == 0x0f) {
		if (at >= len)
			return false;
		x->op = 0x100 | p[at++];
	}
	x->act = x->op & 0x100 ? action_map1(x->op & 0xff) : action_map0((uint8_t)x->op);
	x->byte = is_byte_op(x->op);
	if (x->op == 0x90 && (x->rex & 1)) /* xchg %rax,%r8 */
		return false;
	x->modrm = x->act == ACT_RM || x->act == ACT_REG || x->act == ACT_READ ||
		   x->act == ACT_LEA || x->op == 0x11f;
	if (x->modrm) {
		at = decode_modrm(p, len, at, x);
		if (!at)
			return false;
		refine(x);
	}

	unsigned int imm = imm_bytes(x);

	if (x->act == ACT_BAD || at + imm != len)
		return false;
	if (imm && imm <= 4)
		x->imm = x86_number(p + at, imm);
	return true;
}

/* A register takes a value that is not followed. */
static void write_reg(struct track *t, const struct x86 *x, uint8_t reg)
{
	t->written |= 1u << reg;
	if (x->byte && !x->rex && reg >= 4) /* ah, ch, dh, bh */
		t->written |= 1u << (reg & 3);
	if (reg == RSP)
		t->sp_known = false;
	if (reg == RBP)
		t->fp_known = false;
}

/* The memory operand as an offset from the stack pointer at entry; false = not a stack address. */
static bool stack_address(const struct x86 *x, const struct track *t, int64_t *ea)
{
	if (x->seg || x->index != NONE)
		return false;
	if (x->base == RSP && t->sp_known)
		*ea = t->sp + x->disp;
	else if (x->base == RBP && t->fp_known)
		*ea = t->fp + x->disp;
	else
		return false;
	return true;
}

static unsigned int operand_bytes(const struct x86 *x)
{
	if (x->byte)
		return 1;
	return x->rex & 8 ? 8 : x->opsize ? 2 : 4;
}

static bool is_stack_reg(uint8_t reg, const struct track *t)
{
	return reg == RSP || (reg == RBP && t->fp_known);
}

/* Reading the return address lets the function compare it later with what a probe put there. */
static void note_read(const struct x86 *x, struct track *t)
{
	int64_t ea;

	if (x->mod == 3) {
		if (is_stack_reg(x->rm, t))
			t->leaked = true;
	} else if (!stack_address(x, t, &ea)) {
		if (x->base == RSP || x->base == RBP || x->index != NONE)
			t->leaked = true;
	} else if (ea < 8 && ea + 8 > 0) {
		t->leaked = true;
	}
}

/* add and sub on the stack pointer, and moves between it and the frame pointer */
static bool step_sp(const struct x86 *x, struct track *t)
{
	bool wide = (x->rex & 8) && !x->opsize;
	uint8_t sub = x->reg & 7;

	if (x->op == 0x89 && x->mod == 3 && wide && x->reg == RSP && x->rm == RBP) {
		t->fp = t->sp;
		t->fp_known = t->sp_known;
		t->written |= 1u << RBP;
		return true;
	}
	if (x->mod != 3 || x->rm != RSP || !wide)
		return false;
	if (x->op == 0x89 && x->reg == RBP && t->fp_known) {
		t->sp = t->fp;
		t->sp_known = true;
		return true;
	}
	if ((x->op == 0x81 || x->op == 0x83) && (sub == 0 || sub == 5))
		return site_move_sp(t, sub == 0 ? x->imm : -x->imm);
	return false;
}

static bool step_rm(const struct x86 *x, struct track *t)
{
	int64_t ea;

	if (step_sp(x, t))
		return true;
	if ((x->op == 0x89 || x->op < 0x40) && is_stack_reg(x->reg, t))
		t->leaked = true;
	if (x->mod == 3) {
		write_reg(t, x, x->rm);
		return true;
	}
	t->stored = true;
	return stack_address(x, t, &ea) && site_in_frame(ea, operand_bytes(x));
}

static bool step_lea(const struct x86 *x, struct track *t)
{
	int64_t ea;
	bool on_stack = stack_address(x, t, &ea);

	if (x->reg == RSP && on_stack && (x->rex & 8) && !x->opsize)
		return site_move_sp(t, ea - t->sp);
	if (x->base == RSP || x->base == RBP || x->index == RBP)
		t->leaked = true;
	write_reg(t, x, x->reg);
	return true;
}

static bool step_stack(const struct x86 *x, struct track *t)
{
	uint8_t reg = (x->op & 7) | (x->rex & 1) << 3;

	if (x->opsize || x->seg)
		return false;
	if (x->act == ACT_PUSH) {
		if (reg == RSP)
			t->leaked = true;
		return site_move_sp(t, -8);
	}
	if (x->act == ACT_LEAVE) {
		if (!t->fp_known)
			return false;
		t->sp = t->fp;
		t->sp_known = true;
		reg = RBP;
	}
	if (!site_move_sp(t, 8)) /* also refuses to pop the return address */
		return false;
	write_reg(t, x, reg);
	return true;
}

bool x86_step(const uint8_t *p, size_t len, struct track *t)
{
	struct x86 x;

	if (len == sizeof(endbr64) && !memcmp(p, endbr64, len))
		return true;
	if (!decode(p, len, &x))
		return false;
	switch (x.act) {
	case ACT_RM:
		return step_rm(&x, t);
	case ACT_REG:
		note_read(&x, t);
		write_reg(t, &x, x.reg);
		return true;
	case ACT_READ:
		note_read(&x, t);
		return true;
	case ACT_LEA:
		return step_lea(&x, t);
	case ACT_ACC:
		write_reg(t, &x, RAX);
		return true;
	case ACT_LOAD:
		write_reg(t, &x, (x.op & 7) | (x.rex & 1) << 3);
		return true;
	case ACT_PUSH:
	case ACT_POP:
	case ACT_LEAVE:
		return step_stack(&x, t);
	default:
		return x.act == ACT_FLAGS || x.act == ACT_NOP;
	}
}
