// SPDX-License-Identifier: GPL-2.0-only
#include "discover/disasm.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <dlfcn.h>

#define TEXT(x) #x
#define LIBRARY_OF(major) "libcapstone.so." TEXT(major)

/*
 * The library's functions. It is brought in when code is looked at: that its tables are fitted to
 * where they lie takes longer than all else before main().
 */
struct capstone {
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_malloc) *alloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm) *disasm;
	__typeof__(cs_disasm_iter) *next;
};

/* It stays in memory, so that the next time is quick. */
static bool find_library(struct capstone *cs)
{
	void *so = dlopen(LIBRARY_OF(CS_API_MAJOR), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!so)
		return false;
	cs->open = (__typeof__(cs->open))dlsym(so, "cs_open");
	cs->close = (__typeof__(cs->close))dlsym(so, "cs_close");
	cs->alloc = (__typeof__(cs->alloc))dlsym(so, "cs_malloc");
	cs->free = (__typeof__(cs->free))dlsym(so, "cs_free");
	cs->disasm = (__typeof__(cs->disasm))dlsym(so, "cs_disasm");
	cs->next = (__typeof__(cs->next))dlsym(so, "cs_disasm_iter");
	dlclose(so);
	return cs->open && cs->close && cs->alloc && cs->free && cs->disasm && cs->next;
}

bool disasm_available(void)
{
	struct capstone cs;

	return find_library(&cs);
}

static bool open_machine(struct capstone *cs, uint16_t machine, csh *h)
{
	if (!find_library(cs))
		return false;
	if (machine == EM_X86_64)
		return cs->open(CS_ARCH_X86, CS_MODE_64, h) == CS_ERR_OK;
	if (machine == EM_AARCH64)
		return cs->open(CS_ARCH_ARM64, CS_MODE_ARM, h) == CS_ERR_OK;
	return false;
}

int disasm_lengths(uint16_t machine, const uint8_t *code, size_t size, uint8_t *len, uint32_t *bad)
{
	struct capstone cs;
	size_t left = size;
	uint64_t addr = 0;
	int n = 0;
	csh h;

	if (!open_machine(&cs, machine, &h))
		return -ENOTSUP;

	cs_insn *ci = cs.alloc(h);

	if (!ci)
		n = -ENOMEM;
	while (n >= 0 && left) {
		if (cs.next(h, &code, &left, &addr, ci)) {
			len[n++] = (uint8_t)ci->size;
		} else {
			*bad = (uint32_t)(size - left);
			n = -EILSEQ;
		}
	}
	if (ci)
		cs.free(ci, 1);
	cs.close(&h);
	return n;
}

size_t disasm_one(uint16_t machine, const uint8_t *code, size_t size, uint64_t vaddr, char *text,
		  size_t room)
{
	struct capstone cs;
	cs_insn *ci = NULL;
	size_t len = 0;
	csh h;

	if (text && room)
		text[0] = '\0';
	if (!open_machine(&cs, machine, &h))
		return 0;
	if (cs.disasm(h, code, size < 16 ? size : 16, vaddr, 1, &ci) == 1) {
		len = ci->size;
		if (text)
			snprintf(text, room, "%s%s%s", ci->mnemonic, ci->op_str[0] ? " " : "",
				 ci->op_str);
		cs.free(ci, 1);
	}
	cs.close(&h);
	return len;
}

#else

bool disasm_available(void)
{
	return false;
}

int disasm_lengths(uint16_t machine, const uint8_t *code, size_t size, uint8_t *len, uint32_t *bad)
{
	(void)machine, (void)code, (void)size, (void)len, (void)bad;
	return -ENOTSUP;
}

size_t disasm_one(uint16_t machine, const uint8_t *code, size_t size, uint64_t vaddr, char *text,
		  size_t room)
{
	(void)machine, (void)code, (void)size, (void)vaddr;
	if (text && room)
		text[0] = '\0';
	return 0;
}

#endif
