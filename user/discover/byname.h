/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a file hold names of entry points beside those of its symbols? Code has them that looks
 * functions up with dlsym(): perhaps to pass calls on to the function of the same name in another
 * file, so that each call would be seen twice. No proof, a hint.
 */
#ifndef ACLTAP_DISCOVER_BYNAME_H
#define ACLTAP_DISCOVER_BYNAME_H

#include "discover/elfread.h"

/*
 * symbols: the table of which the names do not count. Looks at the first 64 MiB of what is mapped
 * read-only; what cannot be read holds nothing.
 */
bool byname_holds(const struct elfread *r, const struct elf_table *symbols);

#endif
