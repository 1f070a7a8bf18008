// SPDX-License-Identifier: GPL-2.0-only
#include "discover/disasm.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>

bool disasm_available(void)
{
	return true;
}

static bool open_machine(uint16_t machine, csh *h)
{
	if (machine == EM_X86_64)
		return cs_open(CS_ARCH_X86, CS_MODE_64, h) == CS_ERR_OK;
	if (machine == EM_AARCH64)
		return cs_open(CS_ARCH_ARM64, CS_MODE_ARM, h) == CS_ERR_OK;
	return false;
}

int disasm_lengths(uint16_t machine, const uint8_t *code, size_t size, uint8_t *len, uint32_t *bad)
{
	size_t left = size;
	uint64_t addr = 0;
	int n = 0;
	csh h;

	if (!open_machine(machine, &h))
		return -ENOTSUP;

	cs_insn *ci = cs_malloc(h);

	if (!ci)
		n = -ENOMEM;
	while (n >= 0 && left) {
		if (cs_disasm_iter(h, &code, &left, &addr, ci)) {
			len[n++] = (uint8_t)ci->size;
		} else {
			*bad = (uint32_t)(size - left);
			n = -EILSEQ;
		}
	}
	if (ci)
		cs_free(ci, 1);
	cs_close(&h);
	return n;
}

size_t disasm_one(uint16_t machine, const uint8_t *code, size_t size, uint64_t vaddr, char *text,
		  size_t room)
{
	cs_insn *ci = NULL;
	size_t len = 0;
	csh h;

	if (text && room)
		text[0] = '\0';
	if (!open_machine(machine, &h))
		return 0;
	if (cs_disasm(h, code, size < 16 ? size : 16, vaddr, 1, &ci) == 1) {
		len = ci->size;
		if (text)
			snprintf(text, room, "%s%s%s", ci->mnemonic, ci->op_str[0] ? " " : "",
				 ci->op_str);
		cs_free(ci, 1);
	}
	cs_close(&h);
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
