// SPDX-License-Identifier: GPL-2.0-only
#include "discover/byname.h"

#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "util/cleanup.h"

#define CHUNK (64u << 10)
#define LONGEST 64 /* of a name with its NUL */
#define MOST (64ull << 20)

static const char prefix[] = "aclprof";

static bool is_symbol(const struct elf_table *t, uint64_t offset)
{
	return offset >= t->names && offset - t->names < t->names_len;
}

/* The n bytes at that offset of the file; names that begin in the last LONGEST are for the next. */
static bool holds(const char *buf, size_t n, uint64_t offset, const struct elf_table *symbols)
{
	const char *end = buf + n, *p = buf;

	while ((p = memmem(p, (size_t)(end - p), prefix, sizeof(prefix) - 1))) {
		if (memchr(p, 0, (size_t)(end - p)) && entry_by_symbol(p) &&
		    !is_symbol(symbols, offset + (uint64_t)(p - buf)))
			return true;
		p++;
	}
	return false;
}

bool byname_holds(const struct elfread *r, const struct elf_table *symbols)
{
	_free_ char *buf = malloc(CHUNK);
	uint64_t seen = 0;

	for (size_t i = 0; buf && i < r->n_ph; i++) {
		const Elf64_Phdr *ph = &r->ph[i];

		if (ph->p_type != PT_LOAD || ph->p_flags & PF_W)
			continue;
		for (uint64_t at = 0; at < ph->p_filesz && seen < MOST; at += CHUNK - LONGEST) {
			size_t n = ph->p_filesz - at < CHUNK ? ph->p_filesz - at : CHUNK;

			if (elfread_at(r, ph->p_offset + at, buf, n))
				break;
			if (holds(buf, n, ph->p_offset + at, symbols))
				return true;
			seen += n;
		}
	}
	return false;
}
