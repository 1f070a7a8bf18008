/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses the text of /proc/PID/maps from a buffer. Pure; paths are the target's and hostile. */
#ifndef ACLTAP_DISCOVER_MAPS_H
#define ACLTAP_DISCOVER_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* in the file */
	uint32_t dev_major, dev_minor;
	uint64_t ino; /* 0 = anonymous */
	bool read, write, exec, shared;
	const char *path; /* rest of the line, not terminated; octal escapes as the kernel wrote */
	size_t path_len;  /* a trailing " (deleted)" is kept */
};

/*
 * Parses the next line of [*pos, end) and moves *pos behind it. Returns true and *m; false at the
 * end. A line that cannot be parsed is skipped and counted in *bad (may be NULL).
 */
bool maps_next(const char **pos, const char *end, struct mapping *m, unsigned int *bad);

#endif
