// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/entry.h"
#include "sink/sink.h"
#include "sink/summary_in.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/unit.h"

#define TOP 5
#define NAME_SHOWN 60

static void print_count(FILE *f, uint64_t n, const char *one, const char *many)
{
	char buf[UNIT_MAX];

	fprintf(f, "%s %s", unit_fmt_count(buf, n), n == 1 ? one : many);
}

static void print_events(const struct summary_totals *t, FILE *f)
{
	static const char *const kinds[4][2] = {
		[SPAN_MARKER] = {"mark", "marks"},
		[SPAN_PUSH_POP] = {"push/pop", "push/pop"},
		[SPAN_START_END] = {"start/end", "start/end"},
		[SPAN_MARKER_EX] = {"mark_ex", "mark_ex"},
	};
	const char *sep = ": ";

	print_count(f, t->events, "event", "events");
	for (int i = 0; i < 4; i++) {
		if (!t->kinds[i])
			continue;
		fputs(sep, f);
		print_count(f, t->kinds[i], kinds[i][0], kinds[i][1]);
		sep = ", ";
	}
	fputs("; ", f);
	if (t->lost)
		print_count(f, t->lost, "call lost", "calls lost");
	else
		fputs(t->lost_returns || t->lost_processes || t->lost_starts ? "no call lost"
									     : "nothing lost",
		      f);
	fputc('\n', f);
}

static void print_statuses(const struct summary_totals *t, FILE *f)
{
	const char *sep = "  not complete: ";

	for (int i = SPAN_UNFINISHED; i <= SPAN_UNCERTAIN; i++) {
		const char *word = span_status_name(i);

		if (!t->statuses[i])
			continue;
		fputs(sep, f);
		print_count(f, t->statuses[i], word, word);
		sep = ", ";
	}
	if (*sep == ',')
		fputc('\n', f);
}

/* "  3 orphans (ends without a begin): 2 aclprofPop, 1 aclprofRangeStop" */
static void print_by_func(const struct summary *s, FILE *f, enum tally_kind kind, const char *one,
			  const char *many)
{
	uint64_t total = 0;
	const char *sep = ": ";

	for (size_t i = 0; i < s->by_func.count; i++) {
		const struct count *c = ids_at(&s->by_func, i);

		if (c->key >> 8 == (uint64_t)kind)
			total += c->n;
	}
	if (!total)
		return;
	fputs("  ", f);
	print_count(f, total, one, many);
	for (size_t i = 0; i < s->by_func.count && kind != TALLY_LATE && kind != TALLY_BAD; i++) {
		const struct count *c = ids_at(&s->by_func, i);
		const char *name = entry_name(c->key & 0xff);

		if (c->key >> 8 != (uint64_t)kind)
			continue;
		fputs(sep, f);
		print_count(f, c->n, name, name);
		sep = ", ";
	}
	fputc('\n', f);
}

static void print_counts(const struct summary *s, FILE *f)
{
	static const struct {
		enum tally_kind kind;
		const char *one, *many;
	} lines[] = {
		{TALLY_LOSS, "call lost", "calls lost"},
		{TALLY_LIMIT, "call beyond a limit", "calls beyond a limit"},
		{TALLY_LOST_RETURN, "lost return record", "lost return records"},
		{TALLY_LOST_PROCESS, "process record lost", "process records lost"},
		{TALLY_LOST_START, "end whose begin was lost", "ends whose begin was lost"},
		{TALLY_ORPHAN, "orphan (an end without a begin)", "orphans (ends without a begin)"},
		{TALLY_FAILED, "failed call", "failed calls"},
		{TALLY_UNREADABLE, "unreadable message", "unreadable messages"},
		{TALLY_CUT, "message cut to 255 bytes", "messages cut to 255 bytes"},
		{TALLY_LATE, "record out of order (an error of acltap)",
		 "records out of order (an error of acltap)"},
		{TALLY_BAD, "record not understood", "records not understood"},
		{TALLY_MISMATCH, "call unaccounted for (an error of acltap)",
		 "calls unaccounted for (an error of acltap)"},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		print_by_func(s, f, lines[i].kind, lines[i].one, lines[i].many);
}

static void print_unnamed(const struct summary *s, FILE *f)
{
	if (!s->totals.unnamed)
		return;
	fputs("  ", f);
	print_count(f, s->totals.unnamed, "event", "events");
	fputs(" without a name: no message was set on its stamp while acltap watched\n", f);
}

static int by_total(const void *a, const void *b)
{
	const struct name *x = *(struct name *const *)a, *y = *(struct name *const *)b;
	size_t n = x->len < y->len ? x->len : y->len;
	int order;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	order = memcmp(x->s, y->s, n);
	return order ? order : x->len - y->len;
}

static void print_name(FILE *f, const struct name *n)
{
	char total[UNIT_MAX], count[UNIT_MAX], safe[NAME_SHOWN];

	fprintf(f, "  %12s %12sx  %s\n", unit_fmt_duration(total, n->total_ns),
		unit_fmt_count(count, n->count),
		n->len ? log_safe(n->s, n->len, safe, sizeof(safe)) : "(no name)");
}

static void print_names(const struct summary *s, FILE *f)
{
	size_t n = s->names.count;
	_free_ struct name **all = calloc(n + 1, sizeof(struct name *));
	char count[UNIT_MAX], total[UNIT_MAX];

	if (!n || !all)
		return;
	for (size_t i = 0; i < n; i++)
		all[i] = ids_at(&s->names, i);
	qsort(all, n, sizeof(all[0]), by_total);
	fputs("top names by total time:\n", f);
	for (size_t i = 0; i < n && i < TOP; i++)
		print_name(f, all[i]);
	if (s->others.count)
		fprintf(f, "  (%s more events in %s have names beyond the first %d, not ranked)\n",
			unit_fmt_count(count, s->others.count),
			unit_fmt_duration(total, s->others.total_ns), SUMMARY_NAMES);
}

static void print_null_stamps(const struct summary *s, FILE *f)
{
	for (size_t i = 0; i < s->null_stamps.count; i++) {
		const struct count *c = ids_at(&s->null_stamps, i);
		const struct proc *p = ids_find(&s->procs, c->key);
		char name[NAME_SHOWN] = "";

		if (p && *p->name)
			log_safe(p->name, strlen(p->name), name, sizeof(name));
		print_count(f, c->n, "create_stamp call", "create_stamp calls");
		fprintf(f, " returned NULL: msproftx is off in PID %" PRIu64 "%s%s%s\n", c->key,
			*name ? " (" : "", name, *name ? ")" : "");
		fputs("hint: start it with 'msprof --msproftx=on' or aclprofStart with mask 0x80\n",
		      f);
	}
}

static void print_drift(const struct summary *s, FILE *f)
{
	int64_t drift = summary_drift(&s->meta.first, &s->meta.last);
	uint64_t size = summary_drift_size(drift);
	char buf[UNIT_MAX];

	fputs(str_get(&s->drifts), f);
	if (!s->meta.last.mono_ns || size <= DRIFT_WARNING_NS)
		return;
	fprintf(f,
		"warning: the wall clock moved %s by %s while tracing; all times follow the "
		"clock at the start\n",
		drift < 0 ? "back" : "forward", unit_fmt_duration(buf, size));
}

static void print_incomplete(const struct summary *s, FILE *f)
{
	const struct clock_triple *first = &s->meta.first;
	uint64_t ns = s->reached_ns + (first->real_ns - first->mono_ns);
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;
	char text[64];

	fputs(str_get(&s->ended), f);
	if (!s->incomplete)
		return;
	fprintf(f, "warning: the capture is %s", s->damaged ? "damaged" : "incomplete");
	if (s->reached_ns && localtime_r(&seconds, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		fprintf(f, ": it reaches to %s.%03u", text, (unsigned int)(ns / 1000000 % 1000));
	fputc('\n', f);
}

void summary_print(const struct summary *s, FILE *f)
{
	print_incomplete(s, f);
	if (s->sources)
		print_count(f, s->sources, "capture: ", "captures: ");
	print_events(&s->totals, f);
	print_statuses(&s->totals, f);
	print_counts(s, f);
	print_unnamed(s, f);
	print_names(s, f);
	print_null_stamps(s, f);
	print_drift(s, f);
}

void summary_print_warnings(const struct summary *s, FILE *f)
{
	print_incomplete(s, f);
	print_statuses(&s->totals, f);
	print_counts(s, f);
	print_unnamed(s, f);
	print_null_stamps(s, f);
	print_drift(s, f);
}

static void print_file(const struct sink *s, FILE *f)
{
	char path[4096], buf[LOG_ERROR_MAX];

	log_safe(s->path, strlen(s->path), path, sizeof(path));
	if (s->err) {
		fprintf(f, "cannot write '%s': %s\n", path, log_error_text(s->err, buf));
		return;
	}
	if (!s->done)
		return;
	fprintf(f, "wrote '%s'", path);
	if (s->files > 1)
		fprintf(f, " and %" PRIu64 " more slices", s->files - 1);
	fputs(": ", f);
	print_count(f, s->rows, "row", "rows");
	if (s->left_out) {
		fputs("; ", f);
		print_count(f, s->left_out, "span", "spans");
		fputs(" left out (not complete: .tsv and .ndjson have them)", f);
	}
	fprintf(f, "\n  opens with: %s\n", s->ops->help);
}

void summary_print_files(const struct fanout *fan, FILE *f)
{
	for (size_t i = 0; i < fanout_count(fan); i++)
		print_file(fanout_get(fan, i), f);
}
