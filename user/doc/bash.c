// SPDX-License-Identifier: GPL-2.0-only
/* Completion for bash: tables as case lines, and bash.sh, which looks into them. */
#include <string.h>

#include "doc/doc.h"

/* The spellings of an option, with before in front of each. */
static void spellings(const struct opt *o, const char *before, const char *between, FILE *f)
{
	if (o->letter)
		fprintf(f, "%s-%c%s", before, o->letter, o->name ? between : "");
	if (o->name)
		fprintf(f, "%s--%s", before, o->name);
}

static void commands(FILE *f)
{
	const struct command *c;

	fputs("_acltap_commands=\"", f);
	for (size_t i = 0; (c = cmd_get(i)); i++)
		fprintf(f, "%s%s", i ? " " : "", c->name);
	fputs("\"\n\n", f);
}

/* Sets opts; and args: what arguments are ("files", "command", both or nothing). */
static void options(FILE *f)
{
	const struct command *c;

	fputs("_acltap_options()\n{\n\tcase $1 in\n", f);
	for (size_t i = 0; (c = cmd_get(i)); i++) {
		fprintf(f, "\t%s)\n\t\topts=\"", c->name);
		for (const struct opt *o = c->opts; o < c->opts + c->n_opts; o++) {
			if (o->type == OPT_HEADING)
				continue;
			spellings(o, "", " ", f);
			fputc(' ', f);
		}
		fprintf(f, "-h --help\"\n\t\targs=\"%s%s\" ;;\n",
			command_takes_files(c) ? "files " : "",
			command_runs_another(c) ? "command" : "");
	}
	fputs("\tesac\n}\n\n", f);
}

static void value(const struct command *c, const struct opt *o, FILE *f)
{
	static const char *const kinds[] = {[VALUE_FILE] = "file",
					    [VALUE_PIDS] = "pids",
					    [VALUE_USER] = "user",
					    [VALUE_OTHER] = "other"};
	enum value_kind kind = value_kind(o);
	char before[64];

	if (o->type == OPT_HEADING || kind == VALUE_NONE)
		return;
	snprintf(before, sizeof(before), "%s:", c->name);
	fputc('\t', f);
	spellings(o, before, "|", f);
	fputs(") kind=", f);
	if (kind == VALUE_WORD) {
		fputs("\"word", f);
		for (const struct opt_word *w = o->words; w->word; w++)
			fprintf(f, " %s", w->word);
		fputs("\" ;;\n", f);
	} else {
		fprintf(f, "%s ;;\n", kinds[kind]);
	}
}

/* Sets kind: what the value of an option is; empty when it takes none. */
static void values(FILE *f)
{
	const struct command *c;

	fputs("_acltap_value()\n{\n\tcase $1 in\n", f);
	for (size_t i = 0; (c = cmd_get(i)); i++)
		for (const struct opt *o = c->opts; o < c->opts + c->n_opts; o++)
			value(c, o, f);
	fputs("\t*) kind= ;;\n\tesac\n}\n\n", f);
}

void bash_completion(FILE *f)
{
	fputs("# SPDX-License-Identifier: GPL-2.0-only\n"
	      "# Completion of acltap for bash. Generated from the tables of options.\n"
	      "# shellcheck shell=bash disable=SC2034\n\n",
	      f);
	commands(f);
	options(f);
	values(f);
}
