/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A map from 64-bit keys to entries of a fixed size, in order of insertion. Entries start zeroed
 * and may move when another is added: hold their number, not their address. Pure; zeroed at start
 * except for the size.
 */
#ifndef ACLTAP_SINK_IDS_H
#define ACLTAP_SINK_IDS_H

#include <stddef.h>
#include <stdint.h>

struct ids {
	size_t entry_size; /* set by the owner before use; >= 8: begins with the key */
	size_t count;
	char *entries;
	uint32_t *slots; /* entry number + 1, 0 = free */
	size_t cap;	 /* entries allocated; slots are twice as many */
	uint64_t mul;	 /* see util/hash.h */
};

#define IDS_OF(type) ((struct ids){.entry_size = sizeof(type)})
#define IDS_KEY(pid, id) ((uint64_t)(pid) << 32 | (uint32_t)(id))

void *ids_find(const struct ids *m, uint64_t key); /* NULL when absent */
void *ids_get(struct ids *m, uint64_t key);	   /* added when absent; NULL: no memory */
void *ids_at(const struct ids *m, size_t i);	   /* i < count */
void ids_free(struct ids *m);

#endif
