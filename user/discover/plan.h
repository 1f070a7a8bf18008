/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What to probe in one file: entry points found x options x probe sites -> probes and, per
 * function, a line that says what and why. Reads the file's code, nothing else.
 */
#ifndef ACLTAP_DISCOVER_PLAN_H
#define ACLTAP_DISCOVER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover/elfsym.h"

struct str;

struct plan_opts {
	bool all;	  /* functions that are only counted as well */
	bool lifecycle;	  /* entries of create_stamp and destroy_stamp as well */
	bool returns;	  /* returns of all functions as well */
	bool no_returns;  /* none at all: the kernel kills programs with them */
	bool force_entry; /* never another site than the entry */
	uint32_t kernel;  /* KERNEL_VERSION(a, b, c) that will probe, 0 = the running one */
};

struct probe {
	uint8_t func;
	uint64_t offset; /* in the file */
	uint64_t cookie; /* see probe_config.h */
};

#define PLAN_MAX ELF_MAX_FUNCS

/* Where a probe is and why there: for people. */
struct plan_site {
	bool used;	      /* there is such a probe */
	uint32_t from_entry;  /* bytes from the function's first instruction */
	unsigned int cost_ns; /* of one hit, rough */
	char insn[48];	      /* the instruction, "?" = not known */
	char why[96];
};

struct plan {
	struct probe entry[PLAN_MAX]; /* to be attached in this order */
	struct probe leave[PLAN_MAX]; /* returns */
	size_t n_entry, n_leave;
	size_t n_forwards; /* functions without a probe, since another file has what they do */
	struct plan_why {  /* by function number */
		struct plan_site entry, leave;
		char why[96]; /* why it has no probe, or what to know about its symbol; "" = nothing
			       */
	} why[PLAN_MAX];
};

/*
 * fd is the file that was scanned. Cannot fail: a function that is not found has no probe, and one
 * whose code cannot be read is probed at its entry.
 */
void plan_make(const struct plan_opts *opts, const struct elf_scan *scan, int fd,
	       struct plan *plan);

/*
 * One line per probe, and per function without one that the file names, with tabs between: path,
 * function, file offset, "entry" or "return" or "none", instruction, cost, reason. Absent
 * functions share one line.
 */
void plan_describe(const struct plan *plan, const struct elf_scan *scan, const char *path,
		   struct str *text);

#endif
