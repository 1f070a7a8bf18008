/* SPDX-License-Identifier: GPL-2.0-only */
/* Where instructions begin, and their text. Capstone, or nothing when built without it or when its
 * shared library is not there: it is brought in by the first call of any of these.
 */
#ifndef ACLTAP_DISCOVER_DISASM_H
#define ACLTAP_DISCOVER_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool disasm_available(void);

/*
 * Decodes all of code. len[i] becomes the length of instruction i; it has room for size entries.
 * Returns the number of instructions, or: -EILSEQ with the offset of the byte that begins no
 * instruction in *bad; -ENOMEM; -ENOTSUP without Capstone or for a foreign machine.
 */
int disasm_lengths(uint16_t machine, const uint8_t *code, size_t size, uint8_t *len, uint32_t *bad);

/*
 * The first instruction of code. Returns its length and, when text is not NULL, writes it there
 * with a NUL: printable ASCII, cut to room bytes. Returns 0 and leaves an empty text when it
 * cannot be told.
 */
size_t disasm_one(uint16_t machine, const uint8_t *code, size_t size, uint64_t vaddr, char *text,
		  size_t room);

#endif
