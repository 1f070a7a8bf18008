// SPDX-License-Identifier: GPL-2.0-only
#include "util/opt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/unit.h"

struct parser {
	const struct opt *opts;
	size_t n;
	int argc, at; /* argv[at] is the next one to look at */
	char **argv;
	void *config;
	struct opt_result *res;
};

/* An option as the user wrote it, for messages: "--ring-size" or "-o". */
struct given {
	const struct opt *opt;
	char text[64];
};

static int __attribute__((format(printf, 2, 3))) fail(struct opt_result *res, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(res->error, sizeof(res->error), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static bool takes_value(const struct opt *o)
{
	return o->type == OPT_CUSTOM ? o->arg != NULL : o->type != OPT_FLAG;
}

static int add_string(struct opt_strings *s, const char *value)
{
	const char **v = realloc(s->v, (s->n + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	s->v = v;
	s->v[s->n++] = value;
	return 0;
}

static int add_pid(struct opt_pids *p, pid_t pid)
{
	pid_t *v;

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i] == pid)
			return 0;
	v = realloc(p->v, (p->n + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	p->v = v;
	p->v[p->n++] = pid;
	return 0;
}

static int set_pids(struct parser *p, const struct given *g, struct opt_pids *pids,
		    const char *value)
{
	_free_ char *list = strdup(value);
	char *rest = list, *one;

	if (!list)
		return -ENOMEM;
	while ((one = strsep(&rest, ","))) {
		pid_t pid;
		int err = unit_pid(one, &pid);

		if (err)
			return fail(p->res, "option '%s' wants process ids like 123,456, not '%s'",
				    g->text, value);
		err = add_pid(pids, pid);
		if (err)
			return err;
	}
	return 0;
}

static int set_number(struct parser *p, const struct given *g, uint64_t *to, const char *value)
{
	static const struct {
		int (*parse)(const char *s, uint64_t *v);
		const char *wants;
	} kinds[] = {
		[OPT_U64] = {unit_u64, "a whole number"},
		[OPT_SIZE] = {unit_size, "a size like 64K, 16M or 1G"},
		[OPT_DURATION] = {unit_duration, "a time like 500ms, 5s or 2m"},
	};
	int err = kinds[g->opt->type].parse(value, to);

	if (err == -ERANGE)
		return fail(p->res, "option '%s': '%s' is too large", g->text, value);
	if (err)
		return fail(p->res, "option '%s' wants %s, not '%s'", g->text,
			    kinds[g->opt->type].wants, value);
	return 0;
}

static int set_word(struct parser *p, const struct given *g, int *to, const char *value)
{
	char list[128] = "";
	size_t at = 0;

	for (const struct opt_word *w = g->opt->words; w->word; w++) {
		int n;

		if (!strcmp(w->word, value)) {
			*to = w->value;
			return 0;
		}
		n = snprintf(list + at, sizeof(list) - at, "%s%s",
			     !at ? "" : (w[1].word ? ", " : " or "), w->word);
		if (n > 0 && (size_t)n < sizeof(list) - at)
			at += (size_t)n;
	}
	return fail(p->res, "option '%s' wants %s, not '%s'", g->text, list, value);
}

static int set_custom(struct parser *p, const struct given *g, const char *value)
{
	char why[OPT_TEXT] = "";
	int err = g->opt->set(p->config, value, why);

	if (!err || err == -ENOMEM)
		return err;
	if (*why)
		return fail(p->res, "option '%s': %s", g->text, why);
	return fail(p->res, "option '%s': bad value '%s'", g->text, value ? value : "");
}

static int set_value(struct parser *p, const struct given *g, const char *value)
{
	void *to = (char *)p->config + g->opt->offset;
	size_t row = (size_t)(g->opt - p->opts);

	if (row < 64)
		p->res->given |= 1ull << row;
	switch (g->opt->type) {
	case OPT_FLAG:
		*(bool *)to = true;
		return 0;
	case OPT_STRING:
		*(const char **)to = value;
		return 0;
	case OPT_STRINGS:
		return add_string(to, value);
	case OPT_PIDS:
		return set_pids(p, g, to, value);
	case OPT_U64:
	case OPT_SIZE:
	case OPT_DURATION:
		return set_number(p, g, to, value);
	case OPT_WORD:
		return set_word(p, g, to, value);
	case OPT_CUSTOM:
		return set_custom(p, g, value);
	case OPT_HEADING:
		break;
	}
	return fail(p->res, "unknown option '%s'", g->text);
}

/* attached is what follows in the same argument ("--opt=HERE", "-oHERE"), or NULL. */
static int apply(struct parser *p, const struct given *g, const char *attached)
{
	const char *value = attached;

	if (!takes_value(g->opt)) {
		if (attached)
			return fail(p->res, "option '%s' takes no value", g->text);
		return set_value(p, g, NULL);
	}
	if (!value && p->at < p->argc && strcmp(p->argv[p->at], "--"))
		value = p->argv[p->at++];
	if (!value || !*value)
		return fail(p->res, "option '%s' needs a value: %s", g->text, g->opt->arg);
	return set_value(p, g, value);
}

static int parse_long(struct parser *p, const char *arg)
{
	const char *name = arg + 2, *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name);
	struct given g = {NULL, ""};

	if (!strcmp(name, "help")) {
		p->res->help = true;
		return 0;
	}
	for (size_t i = 0; i < p->n && !g.opt; i++) {
		const char *known = p->opts[i].name;

		if (p->opts[i].type != OPT_HEADING && known && strlen(known) == len &&
		    !memcmp(known, name, len))
			g.opt = &p->opts[i];
	}
	if (!g.opt)
		return fail(p->res, "unknown option '--%.*s'", (int)(len < 200 ? len : 200), name);
	snprintf(g.text, sizeof(g.text), "--%s", g.opt->name);
	return apply(p, &g, eq ? eq + 1 : NULL);
}

/* "-abc": letters without a value may be joined; the rest after one with a value is the value. */
static int parse_letters(struct parser *p, const char *arg)
{
	for (const char *c = arg + 1; *c && !p->res->help;) {
		struct given g = {NULL, {'-', *c, '\0'}};
		bool last;
		int err;

		for (size_t i = 0; i < p->n && !g.opt; i++)
			if (p->opts[i].type != OPT_HEADING && p->opts[i].letter == *c)
				g.opt = &p->opts[i];
		if (!g.opt && *c == 'h') {
			p->res->help = true;
			return 0;
		}
		if (!g.opt)
			return fail(p->res, "unknown option '%s'", g.text);
		c++;
		last = takes_value(g.opt);
		err = apply(p, &g, last && *c ? c : NULL);
		if (err || last)
			return err;
	}
	return 0;
}

/* An argument that is no option: moved to the front, over options that are done with. */
static int take_arg(struct parser *p, enum opt_mode mode, char *arg)
{
	if (mode == OPT_COMMAND) {
		snprintf(p->res->hint, sizeof(p->res->hint),
			 "put -- before the command to run: -- %.80s", arg);
		return fail(p->res, "unexpected argument '%.100s'", arg);
	}
	p->argv[1 + p->res->n_args++] = arg;
	p->res->n_before = p->res->n_args;
	return 0;
}

static void take_rest(struct parser *p, enum opt_mode mode)
{
	p->res->dashes = true;
	if (mode == OPT_COMMAND) {
		p->res->args = p->argv + p->at;
		p->res->n_args = p->argc - p->at;
		return;
	}
	while (p->at < p->argc)
		p->argv[1 + p->res->n_args++] = p->argv[p->at++];
}

int opt_parse(const struct opt *opts, size_t n, enum opt_mode mode, int argc, char **argv,
	      void *config, struct opt_result *res)
{
	struct parser p = {.opts = opts,
			   .n = n,
			   .argc = argc,
			   .at = 1,
			   .argv = argv,
			   .config = config,
			   .res = res};
	int err = 0;

	memset(res, 0, sizeof(*res));
	res->args = argv + (argc > 0);
	while (!err && !res->help && !res->dashes && p.at < argc) {
		char *arg = argv[p.at++];

		if (arg[0] != '-' || !arg[1])
			err = take_arg(&p, mode, arg);
		else if (arg[1] != '-')
			err = parse_letters(&p, arg);
		else if (arg[2])
			err = parse_long(&p, arg);
		else
			take_rest(&p, mode);
	}
	if (err || res->help)
		return err;
	res->args[res->n_args] = NULL;
	return 0;
}

#define HELP_WIDTH 79
#define HELP_COLUMN 26

/* Writes text wrapped at words, from column HELP_COLUMN on. */
static void help_text(const char *text, FILE *f)
{
	size_t at = HELP_COLUMN;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (at > HELP_COLUMN && at + 1 + word > HELP_WIDTH) {
			fprintf(f, "\n%*s", HELP_COLUMN, "");
			at = HELP_COLUMN;
		} else if (at > HELP_COLUMN) {
			fputc(' ', f);
			at++;
		}
		fwrite(text, 1, word, f);
		at += word;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

void opt_help(const struct opt *opts, size_t n, FILE *f)
{
	for (const struct opt *o = opts; o < opts + n; o++) {
		char left[64];
		const char *value = takes_value(o) && o->arg ? o->arg : "";
		int len;

		if (o->type == OPT_HEADING) {
			fprintf(f, "%s\n", o->help);
			continue;
		}
		if (o->letter && o->name)
			len = snprintf(left, sizeof(left), "  -%c, --%s%s%s", o->letter, o->name,
				       *value ? " " : "", value);
		else if (o->letter)
			len = snprintf(left, sizeof(left), "  -%c%s%s", o->letter,
				       *value ? " " : "", value);
		else
			len = snprintf(left, sizeof(left), "      --%s%s%s", o->name,
				       *value ? " " : "", value);
		if (len < HELP_COLUMN - 1)
			fprintf(f, "%-*s", HELP_COLUMN, left);
		else
			fprintf(f, "%s\n%*s", left, HELP_COLUMN, "");
		help_text(o->help, f);
	}
}

void opt_strings_free(struct opt_strings *s)
{
	free(s->v);
	*s = (struct opt_strings){NULL, 0};
}

void opt_pids_free(struct opt_pids *p)
{
	free(p->v);
	*p = (struct opt_pids){NULL, 0};
}
