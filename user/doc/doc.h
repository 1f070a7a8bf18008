/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Manual pages and completion scripts, written from the commands' own tables while building. What
 * is said of an option stands in its row and nowhere else; man/ has what no table knows.
 */
#ifndef ACLTAP_DOC_DOC_H
#define ACLTAP_DOC_DOC_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/cmd.h"

/* What a shell can offer for the value of an option. */
enum value_kind {
	VALUE_NONE, /* the option takes no value */
	VALUE_FILE,
	VALUE_PIDS, /* PID[,PID...] */
	VALUE_USER,
	VALUE_WORD,  /* one of opt->words */
	VALUE_OTHER, /* nothing can be offered */
};

/* By the option's type, and where that leaves it open by how the help calls the value. */
enum value_kind value_kind(const struct opt *o);
bool option_repeats(const struct opt *o);

bool command_runs_another(const struct command *c); /* "-- CMD" is one of its forms */
bool command_takes_files(const struct command *c);
bool command_has(const struct command *c, const char *option); /* long name */

/*
 * One page: of a command, or with NULL of acltap itself. prose, which may be NULL, is roff: up to
 * its first .SH the description, the rest follows after the options. date: as the page shows it.
 * Errors are f's own.
 */
void man_page(const struct command *c, FILE *prose, const char *date, FILE *f);

void bash_completion(FILE *f);
void zsh_completion(FILE *f);

#endif
