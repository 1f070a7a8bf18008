// SPDX-License-Identifier: GPL-2.0-only
/* Completion for zsh: a function for each command, and zsh.sh, which calls them. */
#include <string.h>

#include "doc/doc.h"

/* Inside single quotes, and what the explanation of an option or a command must not contain. */
static void quoted(const char *s, const char *special, FILE *f)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", f);
		else if (strchr(special, *s))
			fprintf(f, "\\%c", *s);
		else
			fputc(*s, f);
	}
}

static void spellings(const struct opt *o, FILE *f)
{
	/* With a value "-oX" and "-o X", "--output=X" and "--output X" are the same. */
	const char *letter_end = o->arg ? "+" : "", *name_end = o->arg ? "=" : "";

	if (option_repeats(o))
		fputs("'*'", f);
	else if (o->letter && o->name)
		fprintf(f, "'(-%c --%s)'", o->letter, o->name);
	if (o->letter && o->name)
		fprintf(f, "{-%c%s,--%s%s}", o->letter, letter_end, o->name, name_end);
	else if (o->letter)
		fprintf(f, "-%c%s", o->letter, letter_end);
	else
		fprintf(f, "--%s%s", o->name, name_end);
}

static void option(const struct opt *o, FILE *f)
{
	static const char *const actions[] = {[VALUE_FILE] = "_files",
					      [VALUE_PIDS] = "_sequence _pids",
					      [VALUE_USER] = "_users",
					      [VALUE_OTHER] = " "};
	enum value_kind kind = value_kind(o);

	if (o->type == OPT_HEADING)
		return;
	fputs(" \\\n\t\t", f);
	spellings(o, f);
	fputs("'[", f);
	quoted(o->help, "[]\\", f);
	fputc(']', f);
	if (kind != VALUE_NONE) {
		fputc(':', f);
		quoted(o->arg, ":\\", f);
		fputc(':', f);
	}
	if (kind == VALUE_WORD) {
		fputc('(', f);
		for (const struct opt_word *w = o->words; w->word; w++)
			fprintf(f, "%s%s", w == o->words ? "" : " ", w->word);
		fputc(')', f);
	} else if (kind != VALUE_NONE) {
		fputs(actions[kind], f);
	}
	fputc('\'', f);
}

static void command(const struct command *c, FILE *f)
{
	fprintf(f, "_acltap_%s()\n{\n", c->name);
	if (command_runs_another(c))
		fputs("\t_acltap_after_dashes && return\n", f);
	fputs("\t_arguments -s -S", f);
	for (const struct opt *o = c->opts; o < c->opts + c->n_opts; o++)
		option(o, f);
	fputs(" \\\n\t\t'(- *)'{-h,--help}'[this text]'", f);
	if (command_takes_files(c))
		fputs(" \\\n\t\t'*:file:_files'", f);
	else if (command_runs_another(c))
		fputs(" \\\n\t\t'*:command:(--)'", f);
	fputs("\n}\n\n", f);
}

static void commands(FILE *f)
{
	const struct command *c;

	fputs("_acltap_commands=(\n", f);
	for (size_t i = 0; (c = cmd_get(i)); i++) {
		fprintf(f, "\t'%s:", c->name);
		quoted(c->summary, ":\\", f);
		fputs("'\n", f);
	}
	fputs("\t'help:show the options of a command'\n)\n\n", f);
}

void zsh_completion(FILE *f)
{
	const struct command *c;

	fputs("#compdef acltap\n"
	      "# SPDX-License-Identifier: GPL-2.0-only\n"
	      "# Completion of acltap for zsh. Generated from the tables of options.\n\n"
	      "local -a _acltap_commands\n",
	      f);
	commands(f);
	for (size_t i = 0; (c = cmd_get(i)); i++)
		command(c, f);
}
