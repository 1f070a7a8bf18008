/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What site.c asks about single instructions, per machine. Capstone says where instructions begin;
 * what they do is decoded here a second time, from a small list of encodings: an instruction that
 * is not on the list ends the search for a site. Both decoders must agree on the length.
 *
 * The proof for a site at offset S, on the path P of instructions from the entry to S:
 *   once    P has no branch, except conditional ones whose other way ends in __stack_chk_fail;
 *           no other jump in the function targets an address up to S; none leaves it for an
 *           unknown place that could come back
 *   args    nothing in P writes an argument register, or memory outside of its own stack frame
 *   return  stack pointer and return address are those of the entry
 */
#ifndef ACLTAP_DISCOVER_SITE_CODE_H
#define ACLTAP_DISCOVER_SITE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SITE_KERNEL(a, b) ((uint32_t)(a) << 16 | (uint32_t)(b) << 8)

enum flow_kind {
	FLOW_NEXT,	/* goes on behind itself, or traps */
	FLOW_COND,	/* may go to target */
	FLOW_JUMP,	/* goes to target */
	FLOW_JUMP_SLOT, /* x86 jmp *slot(%rip): target = the slot */
	FLOW_JUMP_REG,	/* any other computed jump */
	FLOW_CALL,
	FLOW_CALL_SLOT, /* x86 call *slot(%rip): target = the slot */
	FLOW_CALL_REG,
	FLOW_RETURN,
};

struct flow {
	uint8_t kind;	/* enum flow_kind */
	int64_t target; /* relative to the start of the instruction */
};

enum site_class {
	CLASS_STEPPED, /* single-stepped, no better than the entry */
	CLASS_GOOD,    /* emulated */
	CLASS_NOP5,    /* emulated, or replaced by a call that uses the stack below its pointer */
	CLASS_CALL,    /* emulated, but not followed by hardware shadow stacks */
	CLASS_REFUSED, /* the kernel does not put a probe there */
};

/* What is known between two instructions; offsets are relative to the stack pointer at entry. */
struct track {
	bool sp_known;
	bool fp_known; /* the frame pointer holds a stack address */
	int64_t sp;
	int64_t fp;
	uint32_t written; /* general registers written since the entry, one bit each */
	bool stored;	  /* something was stored other than by a push */
	bool leaked;   /* the return address may be known elsewhere, or the link register signed */
	bool lr_ok;    /* arm64: x30 has its value of the entry */
	bool lr_saved; /* arm64: x30 was stored, and would be re-loaded from there */
	bool slot_ok;  /* arm64: slot holds x30 of the entry */
	int64_t slot;
};

struct site_arch {
	unsigned int max_args;
	const uint8_t *arg_reg; /* register numbers of the arguments */
	bool return_on_stack;	/* return address at the stack pointer, not in a link register */
	/* p has len bytes, len > 0. Returns false when it cannot be told. */
	bool (*flow)(const uint8_t *p, size_t len, struct flow *out);
	enum site_class (*classify)(const uint8_t *p, size_t len, uint32_t kernel);
	/* Carries t over an instruction of kind FLOW_NEXT; false = not on the list, or unsafe. */
	bool (*step)(const uint8_t *p, size_t len, struct track *t);
};

extern const struct site_arch site_x86;
extern const struct site_arch site_arm64;

/* A stack access that stays below the return address, in the function's own frame. */
static inline bool site_in_frame(int64_t ea, unsigned int bytes)
{
	return ea + (int64_t)bytes <= 0;
}

/* Moves the stack pointer; false when it leaves the frame or any sane size. */
static inline bool site_move_sp(struct track *t, int64_t by)
{
	if (!t->sp_known || by > 1 << 24 || by < -(1 << 24))
		return false;
	t->sp += by;
	return t->sp <= 0 && t->sp >= -(1 << 24);
}

#endif
