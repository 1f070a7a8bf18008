// SPDX-License-Identifier: GPL-2.0-only
/* acltap diff: two captures by name, and a gate for what got slower. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/filters.h"
#include "cmd/finish.h"
#include "cmd/tableout.h"
#include "core/compare.h"
#include "sink/summary.h"
#include "store/replay.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/unit.h"
#include "view/table.h"

/* Names that fail the gate and are told one by one. */
#define TOLD_MAX 10

struct side {
	const char *arg;
	char *source;
	struct filter filter;
	struct stats *stats;
	struct summary *summary;
	enum capread_end ended;
};

struct run {
	struct filters filters;
	struct opt_pids pids;
	struct tableout to;
	bool strict, quiet, gate;
	uint64_t fail_over; /* thousandths of a percent; only with gate */
	int sort, by, format, on_avg;
	uint64_t top, min_instances;
	struct side a, b;
	struct compare *compare;
};

#define O(field) offsetof(struct run, field)

static const struct opt_word sorts[] = {
	{"change", COMPARE_BY_CHANGE},
	{"total", COMPARE_BY_TOTAL},
	{"instances", COMPARE_BY_INSTANCES},
	{"avg", COMPARE_BY_AVG},
	{"med", COMPARE_BY_MED},
	{"p", COMPARE_BY_P},
	{"name", COMPARE_BY_NAME},
	{NULL, 0},
};

/* PIDs and TIDs of two runs have nothing to do with each other. */
static const struct opt_word groups[] = {
	{"name", STATS_BY_NAME}, {"category", STATS_BY_CATEGORY}, {NULL, 0}};

static const struct opt_word gates[] = {{"med", false}, {"avg", true}, {NULL, 0}};

static int set_fail_over(void *config, const char *value, char why[OPT_TEXT])
{
	struct run *r = config;
	int err = unit_percent(value, &r->fail_over);

	r->gate = true;
	if (err)
		snprintf(why, OPT_TEXT, "it wants a part like 10%% or 2.5%%, not '%.80s'", value);
	return err;
}

static const struct opt options[] = {
	{"output", 'o', OPT_STRING, O(to.path), "FILE", "- is standard output (default)", NULL,
	 NULL},
	{"force", 'f', OPT_FLAG, O(to.overwrite), NULL, "overwrite an existing file", NULL, NULL},
	{"format", 0, OPT_WORD, O(format), "FORMAT", "table (default), csv or json",
	 tableout_formats, NULL},
	{"sort", 0, OPT_WORD, O(sort), "KEY",
	 "change (default: likely ones first, by the time they make), total, instances, avg, med, "
	 "p or name",
	 sorts, NULL},
	{"by", 0, OPT_WORD, O(by), "WHAT", "name (default) or category", groups, NULL},
	{"top", 0, OPT_U64, O(top), "N", "only the first N rows", NULL, NULL},
	{"fail-over", 0, OPT_CUSTOM, 0, "P%",
	 "exit 1 when a median grew by more than P % and that is likely: p, of a rank test and "
	 "corrected for the number of names, is below 0.01",
	 NULL, set_fail_over},
	{"fail-on", 0, OPT_WORD, O(on_avg), "WHAT",
	 "med (default) or avg: the mean sees slow exceptions, and chance ones", gates, NULL},
	{"min-instances", 0, OPT_U64, O(min_instances), "N",
	 "test what has at least N in A and in B (default 10)", NULL, NULL},
	FILTERS_OPTIONS(struct run),
	{"pid", 'p', OPT_PIDS, O(pids), "PID", "only these processes", NULL, NULL},
	CMD_STRICT_OPTION(struct run, strict),
	CMD_QUIET_OPTION(struct run, quiet),
};

/* ---- Reading ------------------------------------------------------------------------------- */

static int read_side(const struct run *r, struct side *s)
{
	const struct stats_config cfg = {
		.by = (enum stats_by)r->by,
		.max_sample = COMPARE_SAMPLE,
	};
	struct progress reading = progress_new("reading");
	struct consumer stats, next;
	int err = stats_new(&cfg, &s->stats);

	s->filter.cfg = filters_config(&r->filters, &r->pids);
	s->source = finish_capture_of(s->arg);
	err = err ?: s->source ? summary_new(&s->summary) : -ENOMEM;
	if (!err) {
		stats = stats_consumer(s->stats);
		next = filter_consumer(&s->filter, &stats);
		err = replay_capture(s->source, &next, s->summary, &s->ended, progress_show,
				     &reading);
		log_status(" ");
	}
	if (err)
		finish_tell_unreadable(err, s->arg);
	return err;
}

static void free_side(struct side *s)
{
	free(s->source);
	stats_free(s->stats);
	summary_free(s->summary);
}

/* The summary does not say of which of the two it speaks. Returns the exit status that follows. */
static int print_warnings(const struct side *s)
{
	int status = finish_tell_truncated(s->source, s->ended);
	_free_ char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	bool whole = f;

	tableout_tell_limits(s->stats);
	if (f) {
		summary_print_warnings(s->summary, f);
		whole = !fclose(f);
	}
	if (whole && !n)
		return status;
	log_warn("in '%s':", s->source);
	if (whole)
		fputs(text, stderr);
	else
		summary_print_warnings(s->summary, stderr);
	return status;
}

/* ---- The table ----------------------------------------------------------------------------- */

static const struct column columns[] = {
	{"Change", CELL_TEXT},	      {"Med (%)", CELL_CHANGE},
	{"Avg (%)", CELL_CHANGE},     {"P", CELL_P},
	{"Med A (ns)", CELL_TENTHS},  {"Med B (ns)", CELL_TENTHS},
	{"Avg A (ns)", CELL_TENTHS},  {"Avg B (ns)", CELL_TENTHS},
	{"Instances A", CELL_COUNT},  {"Instances B", CELL_COUNT},
	{"Total A (ns)", CELL_COUNT}, {"Total B (ns)", CELL_COUNT},
	{"Style", CELL_TEXT},	      {"Range", CELL_TEXT},
};

#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void fill_row(union cell *c, const struct compare_row *r)
{
	static const struct stats_row none;
	const struct stats_row *a = r->a ? r->a : &none, *b = r->b ? r->b : &none;
	const char *change = compare_verdict_name(r->verdict);
	const char *style = stats_style_name(compare_either(r)->style);
	const union cell row[N_COLUMNS] = {
		{.s = change, .n = strlen(change)},
		{.d = r->med_change},
		{.d = r->avg_change},
		{.d = r->p},
		{.d = a->instances ? a->med_ns : NAN},
		{.d = b->instances ? b->med_ns : NAN},
		{.d = a->instances ? a->avg_ns : NAN},
		{.d = b->instances ? b->avg_ns : NAN},
		{.u = a->instances},
		{.u = b->instances},
		{.u = a->total_ns},
		{.u = b->total_ns},
		{.s = style, .n = strlen(style)},
		{.s = compare_either(r)->label, .n = compare_either(r)->label_len},
	};

	memcpy(c, row, sizeof(row));
}

static int write_table(const struct run *r)
{
	size_t n = compare_count(r->compare), shown = r->top < n ? (size_t)r->top : n;
	struct table t = {.columns = columns, .n_columns = N_COLUMNS, .n_rows = shown};
	_free_ union cell *cells = calloc(shown * N_COLUMNS + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	for (size_t i = 0; i < shown; i++)
		fill_row(cells + i * N_COLUMNS, compare_get(r->compare, i));
	t.cells = cells;
	return table_write(&t, (enum table_format)r->format, r->to.out);
}

/* ---- The gate ------------------------------------------------------------------------------ */

static void tell_slower(const struct run *r, const struct compare_row *row)
{
	const struct stats_row *a = row->a, *b = row->b;
	double was = r->on_avg ? a->avg_ns : a->med_ns, is = r->on_avg ? b->avg_ns : b->med_ns;
	char from[UNIT_MAX], to[UNIT_MAX];

	log_fail(0, "'%.*s' (%s) is slower by %.1f %%: %s %s, was %s", (int)a->label_len, a->label,
		 stats_style_name(a->style), r->on_avg ? row->avg_change : row->med_change,
		 r->on_avg ? "mean" : "median", unit_fmt_duration(to, (uint64_t)is),
		 unit_fmt_duration(from, (uint64_t)was));
}

/* EXIT_OK or EXIT_FAILED. What cannot fail is no gate: nothing to test is a failure too. */
static int gate(const struct run *r)
{
	double percent = (double)r->fail_over / 1000;
	size_t failed = 0;

	if (!compare_tested(r->compare)) {
		log_fail(0, "--fail-over: nothing to test: no range has %llu instances in both",
			 (unsigned long long)r->min_instances);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < compare_count(r->compare); i++) {
		const struct compare_row *row = compare_get(r->compare, i);

		if (!compare_exceeds(row, percent, r->on_avg))
			continue;
		if (failed++ < TOLD_MAX)
			tell_slower(r, row);
	}
	if (!failed)
		return EXIT_OK;
	log_fail(0, "%zu of %zu names tested %s slower by more than %g %%", failed,
		 compare_tested(r->compare), failed == 1 ? "is" : "are", percent);
	return EXIT_FAILED;
}

/* ---- The command --------------------------------------------------------------------------- */

static int compare(struct run *r)
{
	int err = compare_new(r->a.stats, r->b.stats, r->min_instances, &r->compare);

	if (err)
		return log_err(err, "cannot compare");
	compare_sort(r->compare, (enum compare_key)r->sort);
	return tableout_close(&r->to, write_table(r));
}

static int diff(struct run *r)
{
	int status;

	if (tableout_open(&r->to) || read_side(r, &r->a) || read_side(r, &r->b) || compare(r))
		return EXIT_FAILED;
	status = print_warnings(&r->a);
	status |= print_warnings(&r->b);
	if (r->gate)
		status |= gate(r);
	if (!status && r->strict &&
	    (summary_is_strict_failure(r->a.summary) || summary_is_strict_failure(r->b.summary)))
		status = EXIT_INCOMPLETE;
	return status;
}

static int check_options(const struct run *r, const struct opt_result *args)
{
	if (args->n_args != 2)
		return cmd_usage_error(&cmd_diff, "name two captures, or the directories they are "
						  "in: the one before and the one after");
	if (!r->top)
		return cmd_usage_error(&cmd_diff, "--top must be at least 1");
	if (!r->min_instances)
		return cmd_usage_error(&cmd_diff, "--min-instances must be at least 1");
	if (r->on_avg && !r->gate)
		return cmd_usage_error(&cmd_diff, "--fail-on goes with --fail-over");
	return filters_check(&r->filters, &cmd_diff);
}

static int run_diff(int argc, char **argv)
{
	struct run r = {.filters = FILTERS_INIT,
			.top = UINT64_MAX,
			.min_instances = COMPARE_INSTANCES,
			.to = {.stream = STDOUT_FILENO}};
	struct opt_result args;
	int status = cmd_parse(&cmd_diff, argc, argv, &r, &args);

	if (status < 0)
		status = check_options(&r, &args);
	if (status < 0) {
		log_set_level(r.quiet ? LOG_QUIET : LOG_NORMAL);
		r.a.arg = args.args[0];
		r.b.arg = args.args[1];
		status = diff(&r);
	}
	tableout_discard(&r.to);
	compare_free(r.compare);
	free_side(&r.a);
	free_side(&r.b);
	opt_pids_free(&r.pids);
	filters_free(&r.filters);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "compare two captures by name: what got slower, and is it chance",
	.usage = "[options] A B    (each a capture or its directory)",
	.example = "acltap diff --fail-over 10% before.acltap after.acltap",
	.opts = options,
	.n_opts = sizeof(options) / sizeof(options[0]),
	.mode = OPT_MIXED,
	.run = run_diff,
};
