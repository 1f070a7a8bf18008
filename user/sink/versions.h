/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was known of processes and categories when a span was told. A PID can be of several programs
 * one after the other, and a category can be renamed: each version has a number, from 1, which goes
 * with the span when its row is written later. What was not known at first holds from the first on:
 * only what contradicts is a new version, and only when a span needs the one before.
 *
 * Memory is kept for each version. Of category names no more than VERSIONS_NAMES and VERSIONS_BYTES
 * are kept in a trace; those beyond are as if they had not been told.
 */
#ifndef ACLTAP_SINK_VERSIONS_H
#define ACLTAP_SINK_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model.h"
#include "sink/ids.h"

#define VERSIONS_PROCESSES ((1u << 24) - 1)
#define VERSIONS_NAMES (1u << 18)
#define VERSIONS_BYTES (32u << 20)

struct version {
	char *name, *host; /* NULL = unknown */
	uint64_t exe;	   /* hash, 0 = unknown */
	uint32_t pid, ppid, nspid, host_pid, source;
	int32_t rank, local_rank; /* -1 = none */
	uint32_t image;		  /* as told, 0 = unknown */
	uint32_t program;	  /* whose categories */
	uint32_t before;	  /* number of the version before it, 0 = none */
	bool used;		  /* a span has its number */
};

/* Zeroed at start but for versions_init(). */
struct versions {
	struct ids pids, categories;
	struct version *processes; /* number 1 is the first */
	size_t n_processes, cap;
	struct intern *numbers; /* of names of categories; NULL = none yet */
	char **names;		/* number 1 is the first */
	size_t n_names, names_cap;
	uint32_t programs; /* so many */
};

void versions_init(struct versions *f);
void versions_free(struct versions *f);

/*
 * As in struct consumer; told becomes what is known in all. 0 or -ENOMEM. The texts of told are
 * valid until the next call.
 */
int versions_process(struct versions *f, struct process *told);
int versions_category(struct versions *f, const struct label *l);

/* The numbers of what holds now for a span, as one; small when there are few. */
uint64_t versions_of(struct versions *f, const struct span *sp);
/* What they stand for; NULL = unknown. Names are valid as long as f. */
const struct version *versions_owner(const struct versions *f, uint64_t of);
/* The number of the owner alone, 0 = unknown. */
uint32_t versions_number(uint64_t of);
const char *versions_category_name(const struct versions *f, uint64_t of);

#define VERSIONS_NAMES_MAX 512
/*
 * Where a process has one name for all its spans: the names of all that ran in it and had some, in
 * order, and the last one. "" = unknown; too many: the last ones.
 */
const char *versions_names(const struct versions *f, uint32_t pid, char buf[VERSIONS_NAMES_MAX]);

/* The process with those names as its name, which is valid as long as buf. */
struct process versions_all(const struct versions *f, const struct process *p,
			    char buf[VERSIONS_NAMES_MAX]);

/* What was known of a process last. */
const struct version *versions_last(const struct versions *f, uint32_t pid);

#endif
