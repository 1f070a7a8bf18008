/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiles C texts during a test. Commands that fail end the test. */
#ifndef ACLTAP_TEST_COMPILE_H
#define ACLTAP_TEST_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function of a compiled file. */
struct comp_func {
	const char *name;
	uint64_t vaddr, size, offset; /* offset in the file; size 0 = not found */
};

bool have_command(const char *name);
void run_command(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Output of a command, to be freed. */
char *command_output(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Looks the names up in the symbol table; a relocatable file has vaddr == offset in .text. */
void find_funcs(const char *path, struct comp_func *f, size_t n);

#endif
