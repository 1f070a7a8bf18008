// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/opt.h"

struct config {
	bool quiet, all, follow;
	const char *user;
	struct opt_strings outputs;
	struct opt_pids pids;
	uint64_t count, ring, duration;
	int site;
	int even;
};

static int set_even(void *config, const char *value, char why[OPT_TEXT])
{
	int n = atoi(value);

	if (n % 2) {
		snprintf(why, OPT_TEXT, "%d is odd", n);
		return -EINVAL;
	}
	if (n < 0)
		return -ERANGE;
	((struct config *)config)->even = n;
	return 0;
}

static const struct opt_word sites[] = {{"auto", 10}, {"entry", 20}, {NULL, 0}};

#define AT(field) offsetof(struct config, field)

static const struct opt table[] = {
	{NULL, 0, OPT_HEADING, 0, NULL, "Outputs:", NULL, NULL},
	{"quiet", 'q', OPT_FLAG, AT(quiet), NULL, "say less", NULL, NULL},
	{"all", 'a', OPT_FLAG, AT(all), NULL, "everything", NULL, NULL},
	{"follow", 0, OPT_FLAG, AT(follow), NULL, "children", NULL, NULL},
	{NULL, 'u', OPT_STRING, AT(user), "USER", "run as USER", NULL, NULL},
	{"output", 'o', OPT_STRINGS, AT(outputs), "PATH",
	 "write to PATH; the suffix chooses the format and a text that is this long is wrapped",
	 NULL, NULL},
	{"pid", 'p', OPT_PIDS, AT(pids), "PID[,PID...]", "attach", NULL, NULL},
	{"count", 'c', OPT_U64, AT(count), "N", "a count", NULL, NULL},
	{"ring-size", 0, OPT_SIZE, AT(ring), "SIZE", "ring (default 16M)", NULL, NULL},
	{"duration", 'd', OPT_DURATION, AT(duration), "TIME", "stop after TIME", NULL, NULL},
	{"probe-site", 0, OPT_WORD, AT(site), "WORD", "where", sites, NULL},
	{"even", 0, OPT_CUSTOM, 0, "N", "even numbers", NULL, set_even},
};

#define N_TABLE (sizeof(table) / sizeof(table[0]))
#define MAX_ARGS 16

static struct config cfg;
static struct opt_result res;
static char *argv_buf[MAX_ARGS + 2];

/* Splits line at blanks, "''" being an empty argument, and parses it. */
static int parse(enum opt_mode mode, const char *line)
{
	static char text[512];
	char *rest = text, *word;
	int argc = 1;

	opt_strings_free(&cfg.outputs);
	opt_pids_free(&cfg.pids);
	memset(&cfg, 0, sizeof(cfg));
	snprintf(text, sizeof(text), "%s", line);
	argv_buf[0] = (char *)"record";
	while (*line && (word = strsep(&rest, " "))) {
		assert_true(argc <= MAX_ARGS);
		argv_buf[argc++] = strcmp(word, "''") ? word : word + 2;
	}
	argv_buf[argc] = NULL;
	return opt_parse(table, N_TABLE, mode, argc, argv_buf, &cfg, &res);
}

static void assert_args(const char *joined)
{
	char text[256] = "";

	for (int i = 0; i < res.n_args; i++) {
		strcat(text, i ? " " : "");
		strcat(text, res.args[i]);
	}
	assert_string_equal(text, joined);
	assert_null(res.args[res.n_args]);
}

static void values_in_every_spelling(void **state)
{
	static const char *const lines[] = {"-o x.csv",	      "-ox.csv",    "--output x.csv",
					    "--output=x.csv", "-qao x.csv", "-qox.csv"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_ok(parse(OPT_MIXED, lines[i]));
		assert_int_equal(cfg.outputs.n, 1);
		assert_string_equal(cfg.outputs.v[0], "x.csv");
		assert_int_equal(res.n_args, 0);
	}
	assert_true(cfg.quiet);
	assert_false(cfg.all);
}

static void every_type_lands_in_its_field(void **state)
{
	(void)state;
	assert_ok(parse(OPT_MIXED,
			"-qa --follow -u me -o a -o b --count=7 --ring-size 16M -d 500ms "
			"--probe-site=entry --even 4"));
	assert_true(cfg.quiet && cfg.all && cfg.follow);
	assert_string_equal(cfg.user, "me");
	assert_int_equal(cfg.outputs.n, 2);
	assert_string_equal(cfg.outputs.v[0], "a");
	assert_string_equal(cfg.outputs.v[1], "b");
	assert_int_equal(cfg.count, 7);
	assert_int_equal(cfg.ring, 16 << 20);
	assert_int_equal(cfg.duration, 500000000);
	assert_int_equal(cfg.site, 20);
	assert_int_equal(cfg.even, 4);
	assert_ok(parse(OPT_MIXED, "-u a -u b"));
	assert_string_equal(cfg.user, "b");
}

static void pids_are_lists_without_repeats(void **state)
{
	(void)state;
	assert_ok(parse(OPT_MIXED, "-p 3,1,3 -p1,22"));
	assert_int_equal(cfg.pids.n, 3);
	assert_int_equal(cfg.pids.v[0], 3);
	assert_int_equal(cfg.pids.v[1], 1);
	assert_int_equal(cfg.pids.v[2], 22);
	assert_err(parse(OPT_MIXED, "-p 1,,2"), EINVAL);
	assert_err(parse(OPT_MIXED, "-p 1,x"), EINVAL);
	assert_string_equal(res.error, "option '-p' wants process ids like 123,456, not '1,x'");
	assert_err(parse(OPT_MIXED, "-p 0"), EINVAL);
}

static void arguments_keep_their_order(void **state)
{
	(void)state;
	assert_ok(parse(OPT_MIXED, "one -q two -o x three - -- -q --nope"));
	assert_args("one two three - -q --nope");
	assert_true(cfg.quiet && res.dashes);
	assert_int_equal(res.n_before, 4); /* "-" is one */
	assert_ok(parse(OPT_MIXED, "-q -- one"));
	assert_int_equal(res.n_before, 0);
	assert_ok(parse(OPT_MIXED, ""));
	assert_args("");
	assert_false(res.dashes);
}

static void a_command_follows_after_dashes(void **state)
{
	(void)state;
	assert_ok(parse(OPT_COMMAND, "-q -- python3 -q -- x"));
	assert_args("python3 -q -- x");
	assert_true(res.dashes);
	assert_ok(parse(OPT_COMMAND, "-q --"));
	assert_args("");
	assert_true(res.dashes);
	assert_ok(parse(OPT_COMMAND, "-p 5"));
	assert_args("");
	assert_false(res.dashes);
	assert_err(parse(OPT_COMMAND, "-q python3 x.py"), EINVAL);
	assert_string_equal(res.error, "unexpected argument 'python3'");
	assert_string_equal(res.hint, "put -- before the command to run: -- python3");
}

static void mistakes_are_named(void **state)
{
	static const char *const rows[][2] = {
		{"--nope", "unknown option '--nope'"},
		{"--nope=3", "unknown option '--nope'"},
		{"--quie", "unknown option '--quie'"},
		{"--Outputs:", "unknown option '--Outputs:'"},
		{"-qz", "unknown option '-z'"},
		{"--quiet=1", "option '--quiet' takes no value"},
		{"--output", "option '--output' needs a value: PATH"},
		{"--output=", "option '--output' needs a value: PATH"},
		{"-o", "option '-o' needs a value: PATH"},
		{"-o ''", "option '-o' needs a value: PATH"},
		{"-o -- true", "option '-o' needs a value: PATH"},
		{"--count 3K", "option '--count' wants a whole number, not '3K'"},
		{"--count -1", "option '--count' wants a whole number, not '-1'"},
		{"--ring-size 16MB", "option '--ring-size' wants a size like 64K, 16M or 1G, "
				     "not '16MB'"},
		{"-d soon", "option '-d' wants a time like 500ms, 5s or 2m, not 'soon'"},
		{"-d 999999d", "option '-d': '999999d' is too large"},
		{"--probe-site x", "option '--probe-site' wants auto or entry, not 'x'"},
		{"--even 3", "option '--even': 3 is odd"},
		{"--even -4", "option '--even': bad value '-4'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_err(parse(OPT_COMMAND, rows[i][0]), EINVAL);
		assert_string_equal(res.error, rows[i][1]);
		assert_string_equal(res.hint, "");
	}
}

static void help_wins_over_what_follows(void **state)
{
	(void)state;
	assert_ok(parse(OPT_COMMAND, "-q --help --nope"));
	assert_true(res.help);
	assert_ok(parse(OPT_COMMAND, "-qh"));
	assert_true(res.help);
	assert_ok(parse(OPT_COMMAND, "-- ls --help"));
	assert_false(res.help);
}

static void help_has_every_row_and_fits(void **state)
{
	char *text = NULL;
	size_t sz = 0;
	FILE *f = open_memstream(&text, &sz);

	(void)state;
	assert_non_null(f);
	opt_help(table, N_TABLE, f);
	assert_ok(fclose(f));
	assert_non_null(strstr(text, "Outputs:\n"));
	assert_non_null(strstr(text, "  -q, --quiet             say less\n"));
	assert_non_null(strstr(text, "  -u USER                 run as USER\n"));
	assert_non_null(strstr(text, "      --ring-size SIZE    ring (default 16M)\n"));
	assert_non_null(strstr(text, "  -p, --pid PID[,PID...]  attach\n"));
	assert_non_null(strstr(text, "format and a\n                          text that is this"));
	for (char *line = text, *nl; (nl = strchr(line, '\n')); line = nl + 1)
		assert_true(nl - line <= 80);
	free(text);
}

static void no_arguments_at_all(void **state)
{
	char *none[] = {NULL};

	(void)state;
	memset(&cfg, 0, sizeof(cfg));
	assert_ok(opt_parse(table, N_TABLE, OPT_MIXED, 0, none, &cfg, &res));
	assert_int_equal(res.n_args, 0);
	assert_null(res.args[0]);
}

static int release(void **state)
{
	(void)state;
	opt_strings_free(&cfg.outputs);
	opt_pids_free(&cfg.pids);
	return 0;
}

static void what_was_given_is_told(void **state)
{
	(void)state;
	assert_ok(parse(OPT_MIXED, "x -q --count 0 --even=2"));
	assert_int_equal(res.given, 1u << 1 | 1u << 7 | 1u << 11);
	assert_ok(parse(OPT_MIXED, "x -- -q"));
	assert_int_equal(res.given, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_given_is_told),
		cmocka_unit_test(values_in_every_spelling),
		cmocka_unit_test(every_type_lands_in_its_field),
		cmocka_unit_test(pids_are_lists_without_repeats),
		cmocka_unit_test(arguments_keep_their_order),
		cmocka_unit_test(a_command_follows_after_dashes),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(help_wins_over_what_follows),
		cmocka_unit_test(help_has_every_row_and_fits),
		cmocka_unit_test(no_arguments_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
