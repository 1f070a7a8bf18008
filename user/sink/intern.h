/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded map from texts to numbers: each name of a trace is written once and then referred to.
 * Texts are any bytes, copied. Memory stays below about max_bytes + 40 * max_texts bytes.
 */
#ifndef ACLTAP_SINK_INTERN_H
#define ACLTAP_SINK_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern;

int intern_new(size_t max_texts, size_t max_bytes, struct intern **out);
uint64_t intern_find(const struct intern *m, const char *s, size_t n); /* 0 when absent */
/* Adds a text that is absent, with a number that is not 0. -ENOSPC: the map is full; -ENOMEM. */
int intern_add(struct intern *m, const char *s, size_t n, uint64_t number);
void intern_clear(struct intern *m); /* keeps its memory for what comes next */
void intern_free(struct intern *m);  /* NULL is fine */

#endif
