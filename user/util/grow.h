/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables that grow: v has room for cap entries, and n of them are used; all zero at first. */
#ifndef ACLTAP_UTIL_GROW_H
#define ACLTAP_UTIL_GROW_H

#include <errno.h>
#include <stdlib.h>

/*
 * Makes room for one more, at first for so many. Changes v and cap. Returns 0, or -ENOMEM and all
 * is as it was.
 */
#define grow_table(v, n, cap, first)                                                               \
	({                                                                                         \
		if ((n) == (cap)) {                                                                \
			size_t more_ = (cap) ? 2 * (size_t)(cap) : (first);                        \
			__typeof__(v) table_ = reallocarray((v), more_, sizeof(*(v)));             \
                                                                                                   \
			if (table_) {                                                              \
				(v) = table_;                                                      \
				(cap) = (__typeof__(cap))more_;                                    \
			}                                                                          \
		}                                                                                  \
		(n) == (cap) ? -ENOMEM : 0;                                                        \
	})

#endif
