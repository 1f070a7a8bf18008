// SPDX-License-Identifier: GPL-2.0-only
/* AArch64 instructions as a probe sees them; encodings as in the architecture manual. */
#include "discover/site_code.h"

enum { FP = 29, LR = 30, SP_ZR = 31 };

#define NOP 0xd503201fu

static const uint8_t args_arm64[] = {0, 1, 2, 3, 4, 5, 6, 7};

static uint32_t word(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static bool is(uint32_t w, uint32_t mask, uint32_t bits)
{
	return (w & mask) == bits;
}

/* The signed field of n bits at lo. */
static int64_t field(uint32_t w, unsigned int lo, unsigned int n)
{
	return (int32_t)(w << (32 - lo - n)) >> (32 - n);
}

static bool flow_arm64(const uint8_t *p, size_t len, struct flow *f)
{
	uint32_t w = len == 4 ? word(p) : 0;

	f->kind = FLOW_NEXT;
	f->target = 0;
	if (len != 4)
		return false;
	if (is(w, 0x7c000000, 0x14000000)) { /* b, bl */
		f->kind = w >> 31 ? FLOW_CALL : FLOW_JUMP;
		f->target = field(w, 0, 26) * 4;
	} else if (is(w, 0xff000010, 0x54000000) || is(w, 0x7e000000, 0x34000000)) {
		f->kind = FLOW_COND; /* b.cond, cbz, cbnz */
		f->target = field(w, 5, 19) * 4;
	} else if (is(w, 0x7e000000, 0x36000000)) { /* tbz, tbnz */
		f->kind = FLOW_COND;
		f->target = field(w, 5, 14) * 4;
	} else if (is(w, 0xfffffc1f, 0xd61f0000)) {
		f->kind = FLOW_JUMP_REG;
	} else if (is(w, 0xfffffc1f, 0xd63f0000)) {
		f->kind = FLOW_CALL_REG;
	} else if (is(w, 0xfffffc1f, 0xd65f0000)) {
		f->kind = FLOW_RETURN;
	} else if (is(w, 0xfe000000, 0xd6000000) || is(w, 0xfe000000, 0x54000000)) {
		return false; /* newer branches */
	}
	return true;
}

static enum site_class classify_arm64(const uint8_t *p, size_t len, uint32_t kernel)
{
	uint32_t w = len == 4 ? word(p) : 0;
	struct flow f;

	if (!flow_arm64(p, len, &f))
		return CLASS_STEPPED;
	if (f.kind == FLOW_JUMP || f.kind == FLOW_COND || is(w, 0x1f000000, 0x10000000))
		return CLASS_GOOD; /* ..., adr, adrp */
	if (f.kind != FLOW_NEXT)
		return CLASS_CALL;
	if (w == NOP)
		return kernel >= SITE_KERNEL(6, 13) ? CLASS_GOOD : CLASS_STEPPED;
	if (is(w, 0x3b000000, 0x18000000) || is(w, 0x3f000000, 0x08000000) ||
	    is(w, 0xff000000, 0xd4000000))
		return CLASS_REFUSED; /* literal loads, exclusives, exceptions */
	return CLASS_STEPPED;
}

/* ---- What it changes -------------------------------------------------------------------------*/

static void write_reg(struct track *t, uint32_t reg)
{
	if (reg == SP_ZR)
		return;
	t->written |= 1u << reg;
	if (reg == FP)
		t->fp_known = false;
	if (reg == LR)
		t->lr_ok = false;
}

/* add and sub with an immediate: the only way in which the stack pointer moves by itself */
static bool step_add_imm(uint32_t w, struct track *t)
{
	uint32_t rd = w & 31, rn = w >> 5 & 31;
	bool wide = w >> 31, sub = w >> 30 & 1, flags = w >> 29 & 1;
	int64_t imm = (int64_t)(w >> 10 & 0xfff) << (w >> 22 & 1 ? 12 : 0);
	bool from_fp = rn == FP && t->fp_known;

	if (sub)
		imm = -imm;
	if (rd == SP_ZR && !flags) {
		if (!wide || (rn != SP_ZR && !from_fp) || !t->sp_known)
			return false;
		return site_move_sp(t, from_fp ? t->fp + imm - t->sp : imm);
	}
	if (rn == SP_ZR && rd == FP && wide && !flags) {
		t->fp = t->sp + imm;
		t->fp_known = t->sp_known;
		t->written |= 1u << FP;
		return true;
	}
	write_reg(t, rd);
	return true;
}

/* Register to register operations, none of which can name the stack pointer. */
static bool is_register_op(uint32_t w)
{
	return is(w, 0x1f000000, 0x0a000000) || /* and, orr (mov), eor, ... shifted register */
	       is(w, 0x1f200000, 0x0b000000) || /* add, sub, shifted register */
	       is(w, 0x1f800000, 0x12800000) || /* movn, movz, movk */
	       is(w, 0x1f800000, 0x13000000) || /* bit fields */
	       is(w, 0x1f000000, 0x10000000) || /* adr, adrp */
	       is(w, 0xfff00000, 0xd5300000);	/* mrs */
}

static void store_reg(struct track *t, uint32_t reg, int64_t ea, unsigned int bytes)
{
	if (reg == LR && bytes == 8 && t->lr_ok) {
		t->slot_ok = !t->lr_saved; /* a second copy is not followed */
		t->lr_saved = true;
		t->slot = ea;
	} else if (t->lr_saved && ea < t->slot + 8 && ea + (int64_t)bytes > t->slot) {
		t->slot_ok = false;
	}
}

static void load_reg(struct track *t, uint32_t reg, int64_t ea, bool known)
{
	write_reg(t, reg);
	if (reg == LR)
		t->lr_ok = known && t->slot_ok && t->lr_saved && ea == t->slot;
}

struct access {
	uint32_t reg[2];
	unsigned int regs, bytes; /* bytes of each */
	uint32_t base;
	int64_t disp; /* of the access */
	int64_t move; /* write-back: added to the base */
	bool load;
};

static bool step_access(const struct access *a, struct track *t)
{
	bool on_sp = a->base == SP_ZR && t->sp_known;
	bool on_fp = a->base == FP && t->fp_known;
	bool known = on_sp || on_fp;
	int64_t ea = (on_sp ? t->sp : t->fp) + a->disp;

	if (a->base == SP_ZR && !on_sp)
		return false;
	if (a->move && !on_sp)
		return false;
	if (!a->load && (!known || !site_in_frame(ea, a->bytes * a->regs)))
		return false;
	if (a->move && !site_move_sp(t, a->move))
		return false;
	t->stored |= !a->load;
	for (unsigned int i = 0; i < a->regs; i++, ea += a->bytes) {
		if (a->load)
			load_reg(t, a->reg[i], ea, known && a->bytes == 8);
		else
			store_reg(t, a->reg[i], ea, a->bytes);
	}
	return true;
}

/* stp and ldp of 64-bit registers */
static bool decode_pair(uint32_t w, struct access *a)
{
	int64_t imm = field(w, 15, 7) * 8;
	uint32_t mode = w >> 23 & 3; /* 1 post-index, 2 offset, 3 pre-index */

	if (!is(w, 0xfe000000, 0xa8000000) || mode == 0)
		return false;
	*a = (struct access){.reg = {w & 31, w >> 10 & 31},
			     .regs = 2,
			     .bytes = 8,
			     .base = w >> 5 & 31,
			     .load = w >> 22 & 1};
	a->disp = mode == 1 ? 0 : imm;
	a->move = mode == 2 ? 0 : imm;
	return true;
}

/* str and ldr of general registers with an immediate offset */
static bool decode_single(uint32_t w, struct access *a)
{
	unsigned int size = w >> 30, opc = w >> 22 & 3;
	uint32_t mode = w >> 10 & 3; /* 0 unscaled, 1 post-index, 3 pre-index */

	if (opc > 1) /* sign-extending loads, prefetch */
		return false;
	*a = (struct access){.reg = {w & 31},
			     .regs = 1,
			     .bytes = 1u << size,
			     .base = w >> 5 & 31,
			     .load = opc == 1};
	if (is(w, 0x3f000000, 0x39000000)) {
		a->disp = (int64_t)(w >> 10 & 0xfff) << size;
		return true;
	}
	if (!is(w, 0x3f200000, 0x38000000) || mode == 2)
		return false;
	a->disp = mode == 1 ? 0 : field(w, 12, 9);
	a->move = mode == 0 ? 0 : field(w, 12, 9);
	return true;
}

static bool step_hint(uint32_t w, struct track *t)
{
	switch (w) {
	case 0xd503233f: /* paciasp */
	case 0xd503237f: /* pacibsp */
		t->leaked = true;
		return true;
	case 0xd50323bf: /* autiasp */
	case 0xd50323ff: /* autibsp */
		write_reg(t, LR);
		return true;
	case NOP:
	case 0xd503241f: /* bti, bti c, bti j, bti jc */
	case 0xd503245f:
	case 0xd503249f:
	case 0xd50324df:
		return true;
	default:
		return false;
	}
}

static bool step_arm64(const uint8_t *p, size_t len, struct track *t)
{
	uint32_t w = len == 4 ? word(p) : 0;
	struct access a;

	if (len != 4)
		return false;
	if (is(w, 0xfffff01f, 0xd503201f))
		return step_hint(w, t);
	if (is(w, 0x1f800000, 0x11000000))
		return step_add_imm(w, t);
	if (is_register_op(w)) {
		write_reg(t, w & 31);
		return true;
	}
	return (decode_pair(w, &a) || decode_single(w, &a)) && step_access(&a, t);
}

const struct site_arch site_arm64 = {
	.max_args = sizeof(args_arm64),
	.arg_reg = args_arm64,
	.flow = flow_arm64,
	.classify = classify_arm64,
	.step = step_arm64,
};
