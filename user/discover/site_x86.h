/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the two halves of the x86-64 side of site_code.h. */
#ifndef ACLTAP_DISCOVER_SITE_X86_H
#define ACLTAP_DISCOVER_SITE_X86_H

#include "discover/site_code.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, NONE = 16, RIP = 17 };

static inline bool x86_is_prefix(uint8_t b)
{
	switch (b) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

/* The little-endian signed number of 1, 2 or 4 bytes. */
static inline int32_t x86_number(const uint8_t *p, size_t bytes)
{
	uint32_t v = 0;

	for (size_t i = 0; i < bytes; i++)
		v |= (uint32_t)p[i] << (8 * i);
	if (bytes == 1)
		return (int8_t)v;
	return bytes == 2 ? (int16_t)v : (int32_t)v;
}

/* site_arch.step: site_x86_step.c */
bool x86_step(const uint8_t *p, size_t len, struct track *t);

#endif
