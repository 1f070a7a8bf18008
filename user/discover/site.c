// SPDX-License-Identifier: GPL-2.0-only
#include "discover/site.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "discover/disasm.h"
#include "discover/site_code.h"
#include "util/cleanup.h"

/* Nanoseconds per hit on a virtual machine; the ratio is what matters. */
enum { COST_CHEAP = 700, COST_CHEAP_RETURN = 1200, COST_STEP = 11000, COST_STEP_RETURN = 12000 };

/* Instructions that lead to a call that does not return, at most. */
#define NORETURN_STEPS 16

struct insn {
	uint16_t off;
	uint8_t len;
	uint8_t kind;	/* enum flow_kind */
	bool passed;	/* a conditional branch of the path, which was followed beyond it */
	int64_t target; /* relative to the function; FLOW_*_SLOT: of the slot */
};

struct func {
	const struct site_request *rq;
	const struct site_arch *arch;
	struct insn *insns;
	size_t n;
	size_t n_unknown;  /* jumps out of the function to an unnamed place */
	const char *fault; /* why there is no site but the entry; text */
	uint32_t fault_at;
};

bool site_can_plan(void)
{
	return disasm_available();
}

static bool fault(struct func *f, uint32_t at, const char *text)
{
	f->fault = text;
	f->fault_at = at;
	return false;
}

static const char *name_at(const struct func *f, int64_t target)
{
	return f->rq->target_name ? f->rq->target_name(f->rq->ctx, f->rq->vaddr + (uint64_t)target)
				  : NULL;
}

static bool inside(const struct func *f, int64_t target)
{
	return target >= 0 && target < (int64_t)f->rq->size;
}

/* The instruction that begins at this offset, or NULL. */
static struct insn *insn_at(const struct func *f, int64_t off)
{
	size_t lo = 0, hi = f->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->insns[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->n && f->insns[lo].off == off ? &f->insns[lo] : NULL;
}

/* ---- Reading the function --------------------------------------------------------------------*/

static bool add_insn(struct func *f, uint32_t off, size_t len)
{
	struct insn *in = &f->insns[f->n];
	struct flow flow;

	if (!f->arch->flow(f->rq->code + off, len, &flow))
		return fault(f, off, "an instruction that is not understood");
	*in = (struct insn){.off = (uint16_t)off, .len = (uint8_t)len, .kind = flow.kind};
	in->target = flow.target + off;
	f->n++;
	return true;
}

static bool decode_all(struct func *f)
{
	_free_ uint8_t *len = malloc(f->rq->size);
	uint32_t off = 0, bad = 0;

	if (!len)
		return fault(f, 0, "out of memory");

	int n = disasm_lengths(f->rq->machine, f->rq->code, f->rq->size, len, &bad);

	if (n == -EILSEQ)
		return fault(f, bad, "an undecodable byte");
	if (n < 0)
		return fault(f, 0, n == -ENOMEM ? "out of memory" : "built without Capstone");
	for (int i = 0; i < n; off += len[i++])
		if (!add_insn(f, off, len[i]))
			return false;
	return true;
}

static bool check_jump(struct func *f, const struct insn *in)
{
	if (inside(f, in->target)) {
		if (!insn_at(f, in->target))
			return fault(f, in->off, "a jump into the middle of an instruction");
		return true;
	}
	if (in->kind == FLOW_COND)
		return fault(f, in->off, "a conditional jump that leaves the function");
	if (!name_at(f, in->target))
		f->n_unknown++;
	return true;
}

/* Refuses a function with a way that cannot be followed. */
static bool check_flow(struct func *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct insn *in = &f->insns[i];

		switch (in->kind) {
		case FLOW_COND:
		case FLOW_JUMP:
			if (!check_jump(f, in))
				return false;
			break;
		case FLOW_JUMP_SLOT:
			if (name_at(f, in->target))
				break; /* a tail call like one through the PLT */
			if (i + 1 < f->n)
				return fault(f, in->off, "an indirect jump");
			f->n_unknown++;
			break;
		case FLOW_JUMP_REG:
			return fault(f, in->off, "an indirect jump");
		case FLOW_CALL: /* recursion is a call like any other */
			if (in->target != 0 && inside(f, in->target))
				return fault(f, in->off, "a call into the function itself");
			break;
		default:
			break;
		}
	}
	return true;
}

/* ---- The path --------------------------------------------------------------------------------*/

struct best {
	const struct insn *good, *fair; /* fair: a site that is taken only if there is no other */
};

/* Runs straight into a call of __stack_chk_fail that lies below limit. */
static bool never_returns(const struct func *f, int64_t off, int64_t limit)
{
	const struct insn *in = insn_at(f, off);

	for (int i = 0; in && i < NORETURN_STEPS && in < f->insns + f->n; i++, in++) {
		if (in->kind == FLOW_CALL || in->kind == FLOW_CALL_SLOT) {
			const char *name = in->off < limit ? name_at(f, in->target) : NULL;

			return name && !strcmp(name, "__stack_chk_fail");
		}
		if (in->kind != FLOW_NEXT)
			return false;
	}
	return false;
}

/*
 * Where the path goes on behind a conditional branch, or NULL. The branch is passed when it jumps
 * over the call that does not return: only then may its target lie on the path.
 */
static struct insn *pass_branch(const struct func *f, struct insn *in)
{
	struct insn *next = in + 1 < f->insns + f->n ? in + 1 : NULL;

	if (f->arch->classify(f->rq->code + in->off, in->len, f->rq->kernel) != CLASS_GOOD)
		return NULL; /* loop and jrcxz do more than to jump */
	if (in->target <= in->off || !next)
		return NULL;
	if (never_returns(f, next->off, in->target)) {
		in->passed = true;
		return insn_at(f, in->target);
	}
	return never_returns(f, in->target, (int64_t)f->rq->size) ? next : NULL;
}

/* No way leads back to the site or around to the path before it. */
static bool once(const struct func *f, const struct insn *site)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct insn *in = &f->insns[i];

		if ((in->kind == FLOW_COND || in->kind == FLOW_JUMP) && !in->passed &&
		    inside(f, in->target) && in->target <= site->off)
			return false;
	}
	return true;
}

static bool args_intact(const struct func *f, const struct track *t)
{
	for (unsigned int i = 0; i < f->rq->args; i++)
		if (t->written >> f->arch->arg_reg[i] & 1)
			return false;
	return true;
}

static bool leaves(const struct func *f, const struct insn *in)
{
	return in->kind == FLOW_JUMP_SLOT || (in->kind == FLOW_JUMP && !inside(f, in->target));
}

/* The return address is where a return probe will replace it, and nowhere else. */
static bool return_intact(const struct func *f, const struct insn *in, const struct track *t)
{
	if (!t->sp_known || t->sp != 0 || t->leaked)
		return false;
	if (f->arch->return_on_stack)
		return true;
	return t->lr_ok && (!t->lr_saved || leaves(f, in)) && in->kind != FLOW_RETURN;
}

static enum site_class class_of(const struct func *f, const struct insn *in, const struct track *t)
{
	enum site_class c = f->arch->classify(f->rq->code + in->off, in->len, f->rq->kernel);

	if (c == CLASS_NOP5 && t->stored)
		return CLASS_STEPPED;
	/* User space got hardware shadow stacks with 6.6 (x86) and 6.13 (arm64). */
	if (c == CLASS_CALL && (!f->rq->kernel || f->rq->kernel >= SITE_KERNEL(6, 6)))
		return CLASS_STEPPED;
	return c;
}

/* Notes the instruction when it is a site. Returns false when the path need not be followed. */
static bool consider(struct func *f, const struct insn *in, const struct track *t, struct best *b)
{
	enum site_class c = class_of(f, in, t);

	if (!args_intact(f, t))
		return fault(f, in->off, "no cheap instruction before an argument is overwritten");
	if (c != CLASS_GOOD && c != CLASS_NOP5 && c != CLASS_CALL)
		return true;
	if (f->rq->purpose == SITE_RETURN && !return_intact(f, in, t))
		return true;
	if (!once(f, in))
		return fault(f, in->off, "a jump back to or around every cheap instruction");
	if (c == CLASS_GOOD)
		b->good = in;
	else if (!b->fair)
		b->fair = in;
	return !b->good;
}

/* The next instruction of the path, or NULL at its end. */
static struct insn *advance(struct func *f, struct insn *in, struct track *t)
{
	struct insn *next = in + 1 < f->insns + f->n ? in + 1 : NULL;

	if (in->kind == FLOW_COND) {
		next = pass_branch(f, in);
		if (!next)
			fault(f, in->off, "a branch before any cheap instruction that fits");
		return next;
	}
	if (in->kind != FLOW_NEXT) {
		fault(f, in->off, "no cheap instruction that fits");
		return NULL;
	}
	if (!f->arch->step(f->rq->code + in->off, in->len, t)) {
		fault(f, in->off, "an instruction whose effect is not followed");
		return NULL;
	}
	if (!next)
		fault(f, in->off, "no cheap instruction that fits");
	return next;
}

/* The last instruction of the path that begins at in; the unnamed jump there is harmless. */
static const struct insn *path_end(struct func *f, struct insn *in)
{
	struct insn *end = in, *next = in;

	while (next) {
		end = next;
		if (end->kind == FLOW_COND)
			next = pass_branch(f, end);
		else if (end->kind == FLOW_NEXT && end + 1 < f->insns + f->n)
			next = end + 1;
		else
			next = NULL;
	}
	return end;
}

/*
 * A jump out of the function to an unknown place could be to a part of it that was moved away, and
 * that comes back. Not so when every call takes it.
 */
static bool check_unknown(struct func *f)
{
	const struct insn *end = path_end(f, f->insns);
	size_t known = leaves(f, end) && !name_at(f, end->target);

	for (size_t i = 0; i < f->n; i++)
		f->insns[i].passed = false;
	if (f->n_unknown <= known)
		return true;
	return fault(f, 0, "a jump that leaves the function for an unknown place");
}

static const struct insn *find_site(struct func *f)
{
	struct track t = {.sp_known = true, .lr_ok = true};
	struct insn *in = f->insns;
	struct best b = {0};

	if (!decode_all(f) || !check_flow(f) || !check_unknown(f))
		return NULL;
	/* The entry itself was no candidate: it is what the site replaces. */
	for (in = advance(f, in, &t); in && consider(f, in, &t, &b);)
		in = advance(f, in, &t);
	return b.good ? b.good : b.fair;
}

/* ---- The decision ----------------------------------------------------------------------------*/

static const struct site_arch *arch_of(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return &site_x86;
	case EM_AARCH64:
		return &site_arm64;
	default:
		return NULL;
	}
}

static void explain(struct site *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void explain(struct site *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out->why, sizeof(out->why), fmt, ap);
	va_end(ap);
}

/* Why not even to look; NULL = look. */
static const char *no_search(const struct site_request *rq, const struct site_arch *arch)
{
	if (!arch)
		return "a machine that is not known";
	if (!rq->code)
		return "the code cannot be read";
	if (!rq->size)
		return "the function's size is not known";
	if (rq->force_entry)
		return "asked for";
	if (rq->size > SITE_MAX_CODE)
		return "the function is over 4 KiB";
	return rq->args > arch->max_args ? "an argument is on the stack" : NULL;
}

static unsigned int cost(const struct site_request *rq, bool emulated)
{
	if (rq->purpose == SITE_RETURN)
		return emulated ? COST_CHEAP_RETURN : COST_STEP_RETURN;
	return emulated ? COST_CHEAP : COST_STEP;
}

static enum site_class entry_class(const struct site_request *rq, const struct site_arch *arch)
{
	size_t len = rq->code && rq->size
			     ? disasm_one(rq->machine, rq->code, rq->size, rq->vaddr, NULL, 0)
			     : 0;

	return len ? arch->classify(rq->code, len, rq->kernel) : CLASS_STEPPED;
}

static void plan_entry(const struct site_request *rq, const char *why, uint32_t at,
		       struct site *out)
{
	const char *what = out->refused ? "the kernel refuses a probe here; " : "";

	out->emulated = false;
	if (at)
		explain(out, "entry: %s%s at +0x%x", what, why, at);
	else
		explain(out, "entry: %s%s", what, why);
	out->cost_ns = cost(rq, false);
}

static void plan_search(const struct site_request *rq, const struct site_arch *arch,
			struct site *out)
{
	_free_ struct insn *insns = calloc(rq->size, sizeof(*insns));
	struct func f = {.rq = rq, .arch = arch, .insns = insns};
	const struct insn *best;

	if (!insns) {
		plan_entry(rq, "out of memory", 0, out);
		return;
	}
	best = find_site(&f);
	if (!best) {
		plan_entry(rq, f.fault, f.fault_at, out);
		return;
	}
	out->offset = best->off;
	out->emulated = true;
	out->refused = false;
	out->cost_ns = cost(rq, true);
	if (rq->purpose == SITE_RETURN)
		explain(out, "emulated, once per call, return address as at the entry");
	else
		explain(out, "emulated, once per call, arguments still in registers");
}

void site_plan(const struct site_request *rq, struct site *out)
{
	const struct site_arch *arch = arch_of(rq->machine);
	const char *why = no_search(rq, arch);
	enum site_class c = arch ? entry_class(rq, arch) : CLASS_STEPPED;

	*out = (struct site){.refused = c == CLASS_REFUSED};
	if (c == CLASS_GOOD || c == CLASS_NOP5 || c == CLASS_CALL) {
		out->emulated = true;
		out->cost_ns = cost(rq, true);
		explain(out, "entry: emulated%s%s", why ? "; " : "", why ? why : "");
	} else if (why) {
		plan_entry(rq, why, 0, out);
	} else {
		plan_search(rq, arch, out);
	}
	if (arch && rq->code && out->offset < rq->size)
		disasm_one(rq->machine, rq->code + out->offset, rq->size - out->offset,
			   rq->vaddr + out->offset, out->insn, sizeof(out->insn));
}
