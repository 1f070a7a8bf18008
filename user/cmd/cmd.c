// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/giveup.h"
#include "util/log.h"

static const struct command *const commands[] = {
	&cmd_record, &cmd_export, &cmd_stat, &cmd_trace,
	&cmd_diff,   &cmd_merge,  &cmd_list, &cmd_check,
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

const struct command *cmd_get(size_t i)
{
	return i < N_COMMANDS ? commands[i] : NULL;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static void print_usage(FILE *f)
{
	fputs("usage: acltap COMMAND [options]\n\n"
	      "Traces the user annotations (marks and ranges) of programs for Ascend NPUs from\n"
	      "outside: the programs are neither changed nor restarted.\n\n",
	      f);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(f, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\nacltap COMMAND --help shows a command's options, acltap --version the version.\n",
	      f);
}

/* Each line of text, with before in front of the first and between in front of the others. */
static void print_lines(FILE *f, const char *text, const char *before, const char *between)
{
	do {
		size_t len = strcspn(text, "\n");

		fprintf(f, "%s%s%.*s\n", before, len ? " " : "", (int)len, text);
		before = between;
		text += len;
		text += *text == '\n';
	} while (*text);
}

static void print_help(const struct command *cmd, FILE *f)
{
	char before[48], between[48];

	snprintf(before, sizeof(before), "usage: acltap %s", cmd->name);
	snprintf(between, sizeof(between), "       acltap %s", cmd->name);
	print_lines(f, cmd->usage, before, between);
	fprintf(f, "\n%s\n\n", cmd->summary);
	opt_help(cmd->opts, cmd->n_opts, f);
	fprintf(f, "%-26s%s\n", "  -h, --help", "this text");
	print_lines(f, cmd->example, "\nexample:", "        ");
}

static void hint_help(const struct command *cmd)
{
	if (cmd)
		log_hint("see 'acltap %s --help'", cmd->name);
	else
		log_hint("see 'acltap --help'");
}

int cmd_usage_error(const struct command *cmd, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_fail(-EINVAL, "%s", text);
	hint_help(cmd);
	return EXIT_USAGE;
}

int cmd_parse(const struct command *cmd, int argc, char **argv, void *config,
	      struct opt_result *res)
{
	int err = opt_parse(cmd->opts, cmd->n_opts, cmd->mode, argc, argv, config, res);

	if (err == -EINVAL) {
		log_fail(err, "%s", res->error);
		if (*res->hint)
			log_hint("%s", res->hint);
		else
			hint_help(cmd);
		return EXIT_USAGE;
	}
	if (err) {
		log_err(err, "cannot read the options");
		return EXIT_FAILED;
	}
	if (res->help) {
		print_help(cmd, stdout);
		return EXIT_OK;
	}
	return -1;
}

static int help_on(const char *name)
{
	const struct command *cmd = name ? find_command(name) : NULL;

	if (name && !cmd)
		return cmd_usage_error(NULL, "'%s' is not a command", name);
	if (cmd)
		print_help(cmd, stdout);
	else
		print_usage(stdout);
	return EXIT_OK;
}

static int dispatch(int argc, char **argv)
{
	const struct command *cmd;

	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help_on(NULL);
	if (!strcmp(argv[1], "help"))
		return help_on(argv[2]);
	if (!strcmp(argv[1], "--version")) {
		puts("acltap " ACLTAP_VERSION);
		return EXIT_OK;
	}
	cmd = find_command(argv[1]);
	if (!cmd && argv[1][0] == '-')
		return cmd_usage_error(NULL, "unknown option '%s'", argv[1]);
	if (!cmd)
		return cmd_usage_error(NULL, "'%s' is not a command", argv[1]);
	return cmd->run(argc - 1, argv + 1);
}

int cmd_main(int argc, char **argv)
{
	giveup_never(SIGPIPE);
	giveup_never(SIGXFSZ);
	int status = dispatch(argc, argv);
	/* A full disk shows itself only here. errno of an earlier failed write is lost. */
	int failed = ferror(stdout) ? EIO : 0;

	if (fflush(stdout) && !failed)
		failed = errno;
	if (failed) {
		log_err(-failed, "cannot write to standard output");
		return status == EXIT_OK ? EXIT_FAILED : status;
	}
	return status;
}
