// SPDX-License-Identifier: GPL-2.0-only
/*
 * gendoc names                     the commands, one a line
 * gendoc man DATE [COMMAND]        acltap.1 or acltap-COMMAND.1; standard input is the prose
 * gendoc bash | zsh                completion
 *
 * Runs on the machine that builds. Of the commands only the tables are used.
 */
#include <stdio.h>
#include <string.h>

#include "doc/doc.h"

enum value_kind value_kind(const struct opt *o)
{
	static const char *const files[] = {"FILE", "PATH", "DIR", "CAPTURE", NULL};

	if (!o->arg)
		return VALUE_NONE;
	if (o->words)
		return VALUE_WORD;
	if (o->type == OPT_PIDS)
		return strcmp(o->arg, "TID") ? VALUE_PIDS : VALUE_OTHER;
	if (!strcmp(o->arg, "USER"))
		return VALUE_USER;
	for (const char *const *f = files; *f; f++)
		if (!strncmp(o->arg, *f, strlen(*f)))
			return VALUE_FILE;
	return VALUE_OTHER;
}

bool option_repeats(const struct opt *o)
{
	return o->type == OPT_STRINGS || o->type == OPT_PIDS;
}

bool command_runs_another(const struct command *c)
{
	return strstr(c->usage, "-- CMD");
}

bool command_takes_files(const struct command *c)
{
	return c->mode == OPT_MIXED && *c->usage;
}

bool command_has(const struct command *c, const char *option)
{
	for (size_t i = 0; i < c->n_opts; i++)
		if (c->opts[i].type != OPT_HEADING && c->opts[i].name &&
		    !strcmp(c->opts[i].name, option))
			return true;
	return false;
}

static const struct command *find(const char *name)
{
	const struct command *c;

	for (size_t i = 0; (c = cmd_get(i)); i++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int usage(void)
{
	fputs("usage: gendoc names | man DATE [COMMAND] | bash | zsh\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const struct command *c = argc > 3 ? find(argv[3]) : NULL;
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "names"))
		for (size_t i = 0; (c = cmd_get(i)); i++)
			puts(c->name);
	else if (!strcmp(what, "man") && (argc == 3 || (argc == 4 && c)))
		man_page(c, stdin, argv[2], stdout);
	else if (!strcmp(what, "bash"))
		bash_completion(stdout);
	else if (!strcmp(what, "zsh"))
		zsh_completion(stdout);
	else
		return usage();
	if (fflush(stdout) || ferror(stdout)) {
		perror("gendoc");
		return 1;
	}
	return 0;
}
