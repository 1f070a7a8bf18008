/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chooses the instruction of a function that carries the probe: the cheapest one that is provably
 * equivalent to the entry, else the entry. Pure: bytes in, decision out. The bytes are the
 * target's and hostile. See site_code.h for how the proof is made.
 */
#ifndef ACLTAP_DISCOVER_SITE_H
#define ACLTAP_DISCOVER_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer functions are not looked into: the entry. */
#define SITE_MAX_CODE 4096

enum site_purpose {
	SITE_ENTRY,  /* sees the call: once per call, with its arguments in their registers */
	SITE_RETURN, /* a return probe: the return address must be where it was at the entry */
};

struct site_request {
	const uint8_t *code; /* size bytes, borrowed; NULL = unreadable */
	size_t size;	     /* of the function, from its symbol */
	uint64_t vaddr;	     /* of the function, in its file */
	uint16_t machine;    /* EM_X86_64 or EM_AARCH64, else the entry */
	uint32_t kernel;     /* KERNEL_VERSION(a, b, c) of the probing kernel, 0 = unknown */
	enum site_purpose purpose;
	unsigned int args; /* leading integer arguments that must still be in their registers */
	bool force_entry;  /* --probe-site=entry */
	/*
	 * Names the function behind a PLT stub, or behind a slot of the GOT, at this address of the
	 * file; NULL = unknown. The function pointer may be NULL as well.
	 */
	const char *(*target_name)(void *ctx, uint64_t vaddr);
	void *ctx;
};

struct site {
	uint32_t offset;      /* bytes from the start of the function, 0 = the entry */
	bool emulated;	      /* the kernel emulates it; else it is single-stepped */
	bool refused;	      /* the kernel refuses a probe here (errno 524 or EINVAL) */
	unsigned int cost_ns; /* of one hit in a virtual machine, rough */
	char insn[48];	      /* its text, "" without Capstone; printable ASCII */
	char why[96];	      /* why here, or why the entry */
};

/* Cannot fail: the worst outcome is the entry. */
void site_plan(const struct site_request *rq, struct site *out);

/* False when built without Capstone: every site is an entry then. */
bool site_can_plan(void);

#endif
