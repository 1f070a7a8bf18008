// SPDX-License-Identifier: GPL-2.0-only
/* Manual pages: roff with the man macros. Fonts by escapes, so that no text ends up as an argument.
 */
#include <ctype.h>
#include <string.h>

#include "doc/doc.h"

/* Text as it is: nothing in it is a request or an escape, and dashes can be copied. */
static void text_n(FILE *f, const char *s, size_t n)
{
	static const struct {
		char c;
		const char *roff;
	} special[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
		       {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};

	if (n && (*s == '.' || *s == '\''))
		fputs("\\&", f);
	for (const char *end = s + n; s < end; s++) {
		const char *roff = NULL;

		for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
			if (*s == special[i].c)
				roff = special[i].roff;
		if (roff)
			fputs(roff, f);
		else
			fputc(*s, f);
	}
}

static void text(FILE *f, const char *s)
{
	text_n(f, s, strlen(s));
}

/* What stands in a table has no full stop. */
static void sentence(FILE *f, const char *s)
{
	text(f, s);
	fputs(".\n", f);
}

static void name_of(FILE *f, const struct command *c, char between)
{
	if (c)
		fprintf(f, "acltap%s%s", between == '-' ? "\\-" : " ", c->name);
	else
		fputs("acltap", f);
}

static void head(const struct command *c, const char *date, FILE *f)
{
	fputs(".\\\" SPDX-License-Identifier: GPL-2.0-only\n"
	      ".\\\" Generated from the tables of options; see user/doc.\n.TH \"ACLTAP",
	      f);
	for (const char *p = c ? c->name : ""; *p; p++)
		fprintf(f, "%s%c", p == c->name ? "\\-" : "", toupper((unsigned char)*p));
	fprintf(f, "\" 1 \"%s\" \"acltap " ACLTAP_VERSION "\" \"User Commands\"\n.SH NAME\n", date);
	name_of(f, c, '-');
	fputs(" \\- ", f);
	text(f, c ? c->summary : "trace annotations of programs for Ascend NPUs from outside");
	fputs("\n.SH SYNOPSIS\n", f);
}

/* Words in capitals are what the user fills in, other words and options are typed as they are. */
static void usage_line(FILE *f, const char *s, size_t n)
{
	while (n) {
		size_t len = 1;
		const char *font = "R";

		if (isalnum((unsigned char)*s) || *s == '-') {
			while (len < n && (isalnum((unsigned char)s[len]) || s[len] == '-'))
				len++;
			font = isupper((unsigned char)*s) ? "I" : "B";
			if (len == 7 && !memcmp(s, "options", 7))
				font = "I";
		}
		fprintf(f, "\\f%s", font);
		text_n(f, s, len);
		s += len;
		n -= len;
	}
	fputs("\\fR\n", f);
}

static void synopsis(const struct command *c, FILE *f)
{
	const char *s = c ? c->usage : "COMMAND [options]\nhelp [COMMAND]\n--version";

	do {
		size_t n = strcspn(s, "\n");

		fputs("\\fB", f);
		name_of(f, c, ' ');
		fputs("\\fR ", f);
		usage_line(f, s, n);
		s += n;
		if (*s)
			fputs(".br\n", f);
		s += *s == '\n';
	} while (*s);
}

/* The values of an option, unless its help names them all. */
static void words(const struct opt_word *first, const char *help, FILE *f)
{
	const struct opt_word *w = first;

	while (w && w->word && strstr(help, w->word))
		w++;
	if (!w || !w->word)
		return;
	fputs("The values:", f);
	for (w = first; w->word; w++) {
		fputs(" \\fB", f);
		text(f, w->word);
		fprintf(f, "\\fR%s", w[1].word ? "," : ".\n");
	}
}

static void option(const struct opt *o, FILE *f)
{
	if (o->type == OPT_HEADING) {
		fputs(".SS ", f);
		text(f, o->help);
		fputc('\n', f);
		return;
	}
	fputs(".TP\n", f);
	if (o->letter)
		fprintf(f, "\\fB\\-%c\\fR%s", o->letter, o->name ? ", " : "");
	if (o->name) {
		fputs("\\fB\\-\\-", f);
		text(f, o->name);
		fputs("\\fR", f);
	}
	if (o->arg) {
		fputs(" \\fI", f);
		text(f, o->arg);
		fputs("\\fR", f);
	}
	fputc('\n', f);
	sentence(f, o->help);
	words(o->words, o->help, f);
	if (option_repeats(o) && !strstr(o->help, "repeatable"))
		fputs("Can be given several times.\n", f);
}

static void options(const struct command *c, FILE *f)
{
	static const struct opt help = {
		"help", 'h', OPT_FLAG, 0, NULL, "print a short form of this page", NULL, NULL};

	fputs(".SH OPTIONS\n", f);
	for (size_t i = 0; i < c->n_opts; i++)
		option(&c->opts[i], f);
	option(&help, f);
}

static void commands(FILE *f)
{
	const struct command *c;

	fputs(".SH COMMANDS\n", f);
	for (size_t i = 0; (c = cmd_get(i)); i++) {
		fprintf(f, ".TP\n\\fBacltap\\-%s\\fR(1)\n", c->name);
		sentence(f, c->summary);
	}
}

static void status(FILE *f, const char *value, const char *meaning)
{
	fprintf(f, ".TP\n\\fB%s\\fR\n%s\n", value, meaning);
}

/* The same for all commands, see enum exit_status; what a command adds it says in its prose. */
static void exit_statuses(const struct command *c, FILE *f)
{
	bool runs = command_runs_another(c);

	fputs(".SH EXIT STATUS\n", f);
	status(f, "0", "Done.");
	status(f, "1", "It failed; standard error says why.");
	status(f, "2", "Wrong usage.");
	if (command_has(c, "strict"))
		status(f, "3",
		       "With \\fB\\-\\-strict\\fR: something was lost, is uncertain or could not "
		       "be read.");
	if (!runs)
		return;
	fputs(".PP\nWith \\fB\\-\\- \\fICMD\\fR the status is that of \\fICMD\\fR, 128 + "
	      "\\fIN\\fR when signal \\fIN\\fR\nkilled it, or\n",
	      f);
	status(f, "125", "acltap itself failed; the status of \\fICMD\\fR is in the message.");
	status(f, "126", "\\fICMD\\fR cannot be run.");
	status(f, "127", "\\fICMD\\fR was not found.");
}

static void examples(const struct command *c, FILE *f)
{
	const char *s = c->example;

	fputs(".SH EXAMPLES\n.nf\n", f);
	do {
		size_t n = strcspn(s, "\n");

		text_n(f, s, n);
		fputc('\n', f);
		s += n;
		s += *s == '\n';
	} while (*s);
	fputs(".fi\n", f);
}

static void see_also(const struct command *self, FILE *f)
{
	const struct command *c;

	fprintf(f, ".SH SEE ALSO\n%s", self ? "\\fBacltap\\fR(1)" : "");
	for (size_t i = 0; (c = cmd_get(i)); i++)
		if (c != self)
			fprintf(f, "%s\\fBacltap\\-%s\\fR(1)", i || self ? ",\n" : "", c->name);
	fputc('\n', f);
}

/* What is written by hand: its current line begins the next section. */
struct prose {
	FILE *file;
	char line[1024];
	bool more, has_statuses;
};

/* Copies up to the next section, but no comments. Returns the number of lines. */
static size_t copy_section(struct prose *p, FILE *f)
{
	size_t n = 0;

	p->more = false;
	while (p->file && fgets(p->line, sizeof(p->line), p->file)) {
		if (!strncmp(p->line, ".SH ", 4)) {
			p->has_statuses |= strstr(p->line, "EXIT STATUS") != NULL;
			p->more = true;
			break;
		}
		if (!strncmp(p->line, ".\\\"", 3))
			continue;
		fputs(p->line, f);
		n++;
	}
	return n;
}

void man_page(const struct command *c, FILE *file, const char *date, FILE *f)
{
	struct prose p = {.file = file};

	head(c, date, f);
	synopsis(c, f);
	fputs(".SH DESCRIPTION\n", f);
	if (!copy_section(&p, f) && c)
		sentence(f, c->summary);
	if (c)
		options(c, f);
	else
		commands(f);
	while (p.more) {
		fputs(p.line, f);
		copy_section(&p, f);
	}
	if (c && !p.has_statuses)
		exit_statuses(c, f);
	if (c)
		examples(c, f);
	see_also(c, f);
}
