/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands that trace have in common: the options that say what to trace and how, and the
 * way from them to a session. A command embeds struct targets and puts TARGETS_OPTIONS into its
 * table of options.
 */
#ifndef ACLTAP_CMD_TARGETS_H
#define ACLTAP_CMD_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/cmd.h"
#include "live/session.h"
#include "util/opt.h"
#include "util/privs.h"

struct targets {
	/* Options. */
	struct opt_strings libs;
	struct opt_pids pids;
	struct opt_strings names;
	bool everyone;
	const char *user_name; /* of the user to run the command as, NULL = none */
	uint64_t duration_ns, delay_ns, ring_size;
	bool no_follow, no_stop, wait, strict, quiet, verbose, lifecycle, returns;
	int probe_site;
	/* From targets_prepare() and targets_open() on. */
	char **argv; /* the command to run, NULL = none */
	char *exe;
	struct session *session;
	struct privs_user user;
	bool override; /* outputs can only be created with CAP_DAC_OVERRIDE; set by the command */
};

extern const struct opt_word targets_probe_sites[];

#define TARGETS_ROW(config, name, letter, type, field, arg, help, words)                           \
	{                                                                                          \
		name, letter, type, offsetof(config, targets) + offsetof(struct targets, field),   \
			arg, help, words, NULL                                                     \
	}

/* The rows of the table, for a config with a member `targets`. */
#define TARGETS_OPTIONS(config)                                                                    \
	TARGETS_ROW(config, "pid", 'p', OPT_PIDS, pids, "PID", "attach to running processes",      \
		    NULL),                                                                         \
		TARGETS_ROW(config, "name", 'n', OPT_STRINGS, names, "GLOB",                       \
			    "those with that name, now and later (repeatable)", NULL),             \
		TARGETS_ROW(config, "everyone", 'a', OPT_FLAG, everyone, NULL,                     \
			    "all that use the API, now and later", NULL),                          \
		TARGETS_ROW(config, "user", 'u', OPT_STRING, user_name, "USER",                    \
			    "run the command as USER, who gets the outputs", NULL),                \
		TARGETS_ROW(config, "duration", 'd', OPT_DURATION, duration_ns, "TIME",            \
			    "end tracing after that (default: at the end)", NULL),                 \
		TARGETS_ROW(config, "delay", 0, OPT_DURATION, delay_ns, "TIME",                    \
			    "begin after that (default 0)", NULL),                                 \
		TARGETS_ROW(config, "no-follow", 0, OPT_FLAG, no_follow, NULL, "not the children", \
			    NULL),                                                                 \
		TARGETS_ROW(config, "wait", 0, OPT_FLAG, wait, NULL,                               \
			    "until the command's children ended as well", NULL),                   \
		TARGETS_ROW(config, "lib", 0, OPT_STRINGS, libs, "FILE",                           \
			    "a further library or static binary to look in", NULL),                \
		TARGETS_ROW(config, "ring-size", 0, OPT_SIZE, ring_size, "SIZE",                   \
			    "buffer in the kernel (default 16M)", NULL),                           \
		TARGETS_ROW(config, "no-stop", 0, OPT_FLAG, no_stop, NULL,                         \
			    "never stop a process to look at its libraries", NULL),                \
		TARGETS_ROW(config, "probe-site", 0, OPT_WORD, probe_site, "WHERE",                \
			    "auto (default) or entry", targets_probe_sites),                       \
		TARGETS_ROW(config, "lifecycle", 0, OPT_FLAG, lifecycle, NULL,                     \
			    "probe create and destroy too", NULL),                                 \
		TARGETS_ROW(config, "returns", 0, OPT_FLAG, returns, NULL,                         \
			    "probe return values too", NULL),                                      \
		CMD_STRICT_OPTION(config, targets.strict),                                         \
		CMD_QUIET_OPTION(config, targets.quiet),                                           \
		TARGETS_ROW(config, "verbose", 'v', OPT_FLAG, verbose, NULL, "say more", NULL)

/* Is any of -p, -n and -a given? */
bool targets_named(const struct targets *t);

/* The defaults; before the options are parsed. */
void targets_init(struct targets *t);

/*
 * After parsing: argv is the command to run or NULL. Checks the options, sets the level of
 * messages, finds the user and the command; from here on files are created as the user of -u or
 * sudo. Returns -1 to go on, or the exit status after telling the user.
 */
int targets_prepare(struct targets *t, const struct command *cmd, char **argv);

/* acltap's own failure, in the status that the mode asks for. */
int targets_failed(const struct targets *t);

/* Opens the session; of cfg only what becomes of the records is looked at, and plan.all. */
int targets_open(struct targets *t, const struct session_config *cfg);

/*
 * Traces until the end. Returns 0 or -errno; when it was the command that could not be run (told),
 * *cmd_status is the exit status, else 0.
 */
int targets_run(struct targets *t, int *cmd_status);

/* What the user should hear when nothing at all was seen. */
void targets_explain_silence(const struct targets *t);

void targets_free(struct targets *t);

#endif
