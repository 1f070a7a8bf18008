/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands: one table row each, one file each. A command parses its options with cmd_parse(),
 * does its work through the layers below and returns one of the exit statuses here; nothing below
 * this folder prints data or ends the process.
 */
#ifndef ACLTAP_CMD_CMD_H
#define ACLTAP_CMD_CMD_H

#include <stddef.h>

#include "util/opt.h"

/* Rows of the table that several commands have, for a config with that bool. */
#define CMD_STRICT_OPTION(config, field)                                                           \
	{                                                                                          \
		"strict", 0, OPT_FLAG, offsetof(config, field), NULL,                              \
			"exit 3 when anything was lost or unsure", NULL, NULL                      \
	}
#define CMD_QUIET_OPTION(config, field)                                                            \
	{                                                                                          \
		"quiet", 'q', OPT_FLAG, offsetof(config, field), NULL, "errors and warnings only", \
			NULL, NULL                                                                 \
	}

/* No command ends with any other status, except record with that of the program it ran. */
enum exit_status {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_INCOMPLETE = 3,   /* --strict: something was lost, uncertain or unreadable */
	EXIT_LAUNCH = 125,     /* running a program: acltap itself failed */
	EXIT_CANNOT_RUN = 126, /* the program is there but cannot be run */
	EXIT_NOT_FOUND = 127,
};

struct command {
	const char *name;
	const char *summary; /* one line, lower case */
	const char *usage;   /* what follows the name; several forms are separated by \n */
	const char *example; /* complete command lines, separated by \n */
	const struct opt *opts;
	size_t n_opts;
	enum opt_mode mode;
	int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

extern const struct command cmd_record;
extern const struct command cmd_export;
extern const struct command cmd_stat;
extern const struct command cmd_trace;
extern const struct command cmd_diff;
extern const struct command cmd_merge;
extern const struct command cmd_list;
extern const struct command cmd_check;

/* The commands in the order of the help, NULL after the last; for what is made of their tables. */
const struct command *cmd_get(size_t i);

/*
 * Parses argv into config. Returns -1 when the command is to go on, else the exit status it has to
 * return: --help was printed, or a usage error was reported. The config has to be freed either way.
 */
int cmd_parse(const struct command *cmd, int argc, char **argv, void *config,
	      struct opt_result *res);

/* Reports a usage error that the option table cannot see. Returns EXIT_USAGE. */
int cmd_usage_error(const struct command *cmd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* acltap itself: finds the command in argv[1] and runs it. Returns the exit status. */
int cmd_main(int argc, char **argv);

#endif
