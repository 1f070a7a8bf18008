// SPDX-License-Identifier: GPL-2.0-only
/* acltap stat: the statistics table, of a capture or of what runs now. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/filters.h"
#include "cmd/finish.h"
#include "cmd/giveup.h"
#include "cmd/live.h"
#include "cmd/tableout.h"
#include "core/stats.h"
#include "store/replay.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "view/hist.h"
#include "view/table.h"

struct run {
	struct targets targets;
	struct filters filters;
	struct tableout to;
	bool hist, ranks;
	int sort, by, format;
	uint64_t top;
	const char *capture; /* NULL: live */
	struct stats *stats;
	struct filter filter;
};

#define O(field) offsetof(struct run, field)

static const struct opt_word sorts[] = {
	{"total", STATS_TOTAL},	  {"instances", STATS_INSTANCES},
	{"avg", STATS_AVG},	  {"med", STATS_MED},
	{"min", STATS_MIN},	  {"max", STATS_MAX},
	{"stddev", STATS_STDDEV}, {"p95", STATS_P95},
	{"p99", STATS_P99},	  {"self", STATS_SELF},
	{"name", STATS_NAME},	  {NULL, 0},
};

static const struct opt_word groups[] = {
	{"name", STATS_BY_NAME}, {"thread", STATS_BY_THREAD},	  {"process", STATS_BY_PROCESS},
	{"rank", STATS_BY_RANK}, {"category", STATS_BY_CATEGORY}, {NULL, 0},
};

static const struct opt options[] = {
	{"output", 'o', OPT_STRING, O(to.path), "FILE",
	 "- is standard output (default; of -- CMD: stderr)", NULL, NULL},
	{"force", 'f', OPT_FLAG, O(to.overwrite), NULL, "overwrite an existing file", NULL, NULL},
	{"format", 0, OPT_WORD, O(format), "FORMAT", "table (default), csv or json",
	 tableout_formats, NULL},
	{"sort", 0, OPT_WORD, O(sort), "KEY", "total (default), avg, p99, name and so on", sorts,
	 NULL},
	{"by", 0, OPT_WORD, O(by), "WHAT", "name (default), thread, process, rank, category",
	 groups, NULL},
	{"top", 0, OPT_U64, O(top), "N", "only the first N rows", NULL, NULL},
	{"ranks", 0, OPT_FLAG, O(ranks), NULL, "columns: which ranks took least and most", NULL,
	 NULL},
	{"hist", 0, OPT_FLAG, O(hist), NULL, "a histogram for each row as well", NULL, NULL},
	FILTERS_OPTIONS(struct run),
	TARGETS_OPTIONS(struct run),
};

/* ---- Output -------------------------------------------------------------------------------- */

static const struct column columns[] = {
	{"Time (%)", CELL_TENTHS},
	{"Total Time (ns)", CELL_COUNT},
	{"Instances", CELL_COUNT},
	{"Avg (ns)", CELL_TENTHS},
	{"Med (ns)", CELL_TENTHS},
	{"Min (ns)", CELL_COUNT},
	{"Max (ns)", CELL_COUNT},
	{"StdDev (ns)", CELL_TENTHS},
	{"Style", CELL_TEXT},
	{"Range", CELL_TEXT},
	{"P95 (ns)", CELL_COUNT},
	{"P99 (ns)", CELL_COUNT},
	{"Self (ns)", CELL_COUNT},
	{"Unfinished", CELL_COUNT},
	{"Uncertain", CELL_COUNT},
	/* Only with --ranks: */
	{"Ranks", CELL_COUNT},
	{"Min Total Rank", CELL_ID},
	{"Min Total (ns)", CELL_ANY},
	{"Max Total Rank", CELL_ID},
	{"Max Total (ns)", CELL_ANY},
	{"Min Avg Rank", CELL_ID},
	{"Min Avg (ns)", CELL_TENTHS},
	{"Max Avg Rank", CELL_ID},
	{"Max Avg (ns)", CELL_TENTHS},
};

#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define RANK_COLUMNS 9

static union cell id_of(const struct rank_spread *p, uint32_t rank)
{
	return (union cell){.d = p->ranks ? rank : NAN};
}

static void fill_ranks(union cell *c, const struct rank_spread *p)
{
	const union cell row[RANK_COLUMNS] = {
		{.u = p->ranks},
		id_of(p, p->min_total_rank),
		{.u = p->ranks ? p->min_total_ns : CELL_NOTHING},
		id_of(p, p->max_total_rank),
		{.u = p->ranks ? p->max_total_ns : CELL_NOTHING},
		id_of(p, p->min_avg_rank),
		{.d = p->ranks ? p->min_avg_ns : NAN},
		id_of(p, p->max_avg_rank),
		{.d = p->ranks ? p->max_avg_ns : NAN},
	};

	memcpy(c, row, sizeof(row));
}

static void fill_row(union cell *c, const struct stats_row *r)
{
	const char *style = stats_style_name(r->style);
	const union cell row[N_COLUMNS - RANK_COLUMNS] = {
		{.d = r->percent},
		{.u = r->total_ns},
		{.u = r->instances},
		{.d = r->avg_ns},
		{.d = r->med_ns},
		{.u = r->min_ns},
		{.u = r->max_ns},
		{.d = r->stddev_ns},
		{.s = style, .n = strlen(style)},
		{.s = r->label, .n = r->label_len},
		{.u = r->p95_ns},
		{.u = r->p99_ns},
		{.u = r->self_ns},
		{.u = r->unfinished},
		{.u = r->uncertain},
	};

	memcpy(c, row, sizeof(row));
}

static size_t shown_rows(const struct run *r)
{
	size_t n = stats_count(r->stats);

	return r->top < n ? (size_t)r->top : n;
}

static int write_table(struct run *r)
{
	const size_t n = r->ranks ? N_COLUMNS : N_COLUMNS - RANK_COLUMNS;
	struct table t = {.columns = columns, .n_columns = n, .n_rows = shown_rows(r)};
	_free_ union cell *cells = calloc(t.n_rows * n + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	for (size_t i = 0; i < t.n_rows; i++) {
		fill_row(cells + i * n, stats_get(r->stats, i));
		if (r->ranks)
			fill_ranks(cells + i * n + N_COLUMNS - RANK_COLUMNS,
				   &stats_get(r->stats, i)->ranks);
	}
	t.cells = cells;
	return table_write(&t, (enum table_format)r->format, r->to.out);
}

static int write_histograms(struct run *r)
{
	char name[4 * TABLE_TEXT_MAX];
	uint64_t bins[64];

	for (size_t i = 0; i < shown_rows(r); i++) {
		const struct stats_row *row = stats_get(r->stats, i);

		if (!row->instances)
			continue;
		table_text(row->label, row->label_len, name);
		out_char(r->to.out, '\n');
		out_str(r->to.out, name);
		out_str(r->to.out, " (");
		out_str(r->to.out, stats_style_name(row->style));
		out_str(r->to.out, ")\n");
		values_histogram(&row->values, bins);
		hist_write(bins, r->to.out);
	}
	return out_error(r->to.out);
}

static int write_results(struct run *r)
{
	int err;

	stats_sort(r->stats, (enum stats_key)r->sort);
	err = write_table(r);
	if (!err && r->hist)
		err = write_histograms(r);
	return tableout_close(&r->to, err);
}

/* What the table itself cannot say. */
static void print_warnings(const struct run *r, const struct summary *s)
{
	summary_print_warnings(s, stderr);
	tableout_tell_limits(r->stats);
}

/* Of what the filter keeps back the statistics hear too, see hidden in struct consumer. */
static struct consumer counting(struct run *r)
{
	const struct consumer stats = stats_consumer(r->stats);

	return filter_consumer(&r->filter, &stats);
}

/* ---- The two ways -------------------------------------------------------------------------- */

static int stat_capture(struct run *r)
{
	const struct consumer next = counting(r);
	struct progress reading = progress_new("reading");
	enum capread_end ended = CAPREAD_COMPLETE;
	_free_ char *source = finish_capture_of(r->capture);
	struct summary *s = NULL;
	int err = source ? summary_new(&s) : -ENOMEM;
	int status = EXIT_OK;

	err = err ?: replay_capture(source, &next, s, &ended, progress_show, &reading);
	log_status(" ");
	if (err)
		finish_tell_unreadable(err, r->capture);
	err = err ?: write_results(r);
	if (!err) {
		status = finish_tell_truncated(source, ended);
		print_warnings(r, s);
	}
	if (!err && !status && r->targets.strict && summary_is_strict_failure(s))
		status = EXIT_INCOMPLETE;
	summary_free(s);
	return err ? EXIT_FAILED : status;
}

static int stat_live(struct run *r)
{
	const struct consumer next = counting(r);
	struct live l = {0};
	int status = 0, err = live_open(&l, &r->targets, &next, false);

	if (err) {
		status = targets_failed(&r->targets);
	} else {
		err = live_run(&l, &r->targets, &status);
		if (l.err)
			log_err(l.err, "cannot go on");
	}
	if (!status) {
		if (!err) {
			targets_explain_silence(&r->targets);
			err = write_results(r);
		}
		if (!err)
			print_warnings(r, l.summary);
		status = live_status(&l, &r->targets, err);
	}
	giveup_done(status);
	targets_free(&r->targets);
	live_free(&l);
	return status;
}

/* ---- Options ------------------------------------------------------------------------------- */

/* Of those of TARGETS_OPTIONS, the ones that mean something for a capture too. */
static bool is_for_captures(const struct opt *o)
{
	return o->offset == O(targets.pids) || o->offset == O(targets.strict) ||
	       o->offset == O(targets.quiet) || o->offset == O(targets.verbose);
}

/* An option that was given and says how to trace; NULL = none. */
static const struct opt *option_of_tracing(const struct opt_result *args)
{
	_Static_assert(sizeof(options) / sizeof(options[0]) <= 64, "opt_result has a bit for each");
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		const struct opt *o = &options[i];

		if (args->given >> i & 1 && o->offset - O(targets) < sizeof(struct targets) &&
		    !is_for_captures(o))
			return o;
	}
	return NULL;
}

/* -1 to go on, with either a capture or targets. */
static int choose_source(struct run *r, const struct opt_result *args)
{
	const struct targets *t = &r->targets;
	const struct opt *tracing = option_of_tracing(args);

	if (r->hist && r->format != TABLE_TEXT)
		return cmd_usage_error(&cmd_stat, "--hist is for --format table only");
	if (!r->top)
		return cmd_usage_error(&cmd_stat, "--top must be at least 1");
	if (args->dashes && args->n_before)
		return cmd_usage_error(&cmd_stat, "a capture and a command exclude each other");
	if (!args->n_args && !targets_named(t))
		return cmd_usage_error(&cmd_stat, "name a capture, or what to trace: -p PID, "
						  "-n GLOB, -a or -- CMD");
	if (args->dashes || !args->n_args)
		return targets_prepare(&r->targets, &cmd_stat, args->n_args ? args->args : NULL);
	if (args->n_args > 1)
		return cmd_usage_error(&cmd_stat, "one capture at a time, not '%s' too",
				       args->args[1]);
	if (tracing)
		return cmd_usage_error(&cmd_stat, "--%s is for tracing, but '%s' is a capture",
				       tracing->name, args->args[0]);
	log_set_level(t->quiet ? LOG_QUIET : t->verbose ? LOG_VERBOSE : LOG_NORMAL);
	r->capture = args->args[0];
	return -1;
}

static int run_stat(int argc, char **argv)
{
	struct run r = {.filters = FILTERS_INIT, .top = UINT64_MAX};
	struct stats_config cfg = {0};
	struct opt_result args;
	int status, err;

	targets_init(&r.targets);
	status = cmd_parse(&cmd_stat, argc, argv, &r, &args);
	if (status < 0)
		status = filters_check(&r.filters, &cmd_stat);
	if (status < 0)
		status = choose_source(&r, &args);
	if (status < 0) {
		/* Of a capture -p chooses what is counted. */
		cfg.by = (enum stats_by)r.by;
		cfg.ranks = r.ranks;
		r.filter.cfg = filters_config(&r.filters, r.capture ? &r.targets.pids : NULL);
		if (!r.capture)
			giveup_watch(targets_failed(&r.targets));
		/* The command has standard output to itself. */
		r.to.stream = r.targets.argv ? STDERR_FILENO : STDOUT_FILENO;
		err = stats_new(&cfg, &r.stats);
		if (err)
			log_err(err, "cannot count");
		if (err || tableout_open(&r.to))
			status = targets_failed(&r.targets);
	}
	if (status < 0)
		status = r.capture ? stat_capture(&r) : stat_live(&r);
	tableout_discard(&r.to);
	stats_free(r.stats);
	targets_free(&r.targets);
	filters_free(&r.filters);
	return status;
}

const struct command cmd_stat = {
	.name = "stat",
	.summary = "durations by name: count, total, median, percentiles and more",
	.usage = "[options] [-p PID[,PID...]] CAPTURE|DIR\n"
		 "[options] -p PID[,PID...]|-n GLOB|-a|-- CMD [ARG...]",
	.example = "acltap stat --sort p99 PROF_20260101120000_4242\nacltap stat -d 10s -p 4242",
	.opts = options,
	.n_opts = sizeof(options) / sizeof(options[0]),
	.mode = OPT_MIXED,
	.run = run_stat,
};
