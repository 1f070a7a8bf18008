// SPDX-License-Identifier: GPL-2.0-only
#include "view/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/entry.h"
#include "util/log.h"
#include "util/unit.h"

#define INDENT_MAX 32
/* Each byte of a name can become four. */
#define SAFE_MAX (4 * SPAN_NAME_MAX)

#define DIM "\033[2m"
#define BOLD "\033[1m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define CYAN "\033[36m"
#define RESET "\033[0m"

static void text(const struct lines *l, const char *color, const char *s)
{
	if (l->color)
		out_str(l->out, color);
	out_str(l->out, s);
	if (l->color)
		out_str(l->out, RESET);
}

static void begin_line(const struct lines *l, uint64_t ns, uint32_t pid, uint32_t tid)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm = {0};
	char when[64], who[32], line[128];

	localtime_r(&seconds, &tm);
	strftime(when, sizeof(when), "%H:%M:%S", &tm);
	if (!pid)
		strcpy(who, "");
	else if (tid == pid)
		snprintf(who, sizeof(who), "%" PRIu32, pid);
	else
		snprintf(who, sizeof(who), "%" PRIu32 "/%" PRIu32, pid, tid);
	snprintf(line, sizeof(line), "%s.%06" PRIu64 " %-15s ", when, ns / 1000 % 1000000, who);
	text(l, DIM, line);
}

static bool is_mark(const struct span *sp)
{
	return sp->kind == SPAN_MARKER || sp->kind == SPAN_MARKER_EX;
}

/* " <6.755 us>", " <unfinished after 1.2 ms>", " <uncertain>" */
static void duration(const struct lines *l, const struct span *sp)
{
	char time[UNIT_MAX] = "", line[128];
	const char *status = sp->status == SPAN_COMPLETE ? "" : span_status_name(sp->status);

	if (is_mark(sp) && sp->status == SPAN_COMPLETE)
		return;
	if (!is_mark(sp) && sp->has_end)
		unit_fmt_duration(time, sp->end_ns - sp->start_ns);
	snprintf(line, sizeof(line), " <%s%s%s>", status, *status && *time ? " after " : "", time);
	text(l, *status ? YELLOW : CYAN, line);
}

static int lines_span(void *ctx, const struct span *sp)
{
	const struct lines *l = ctx;
	char name[SPAN_NAME_MAX], safe[SAFE_MAX], other[32];
	uint32_t depth = sp->depth < INDENT_MAX ? sp->depth : INDENT_MAX;

	begin_line(l, sp->has_end ? sp->end_ns : sp->start_ns, sp->pid, sp->start_tid);
	for (uint32_t i = 0; i < depth; i++)
		out_write(l->out, "  ", 2);
	if (is_mark(sp))
		out_write(l->out, "* ", 2);
	log_safe(name, span_shown_name(sp, name), safe, sizeof(safe));
	text(l, sp->kind == SPAN_PUSH_POP ? BOLD : "", *safe ? safe : "(no name)");
	duration(l, sp);
	if (sp->kind == SPAN_START_END) {
		out_str(l->out, " start/end");
		snprintf(other, sizeof(other), " by %" PRIu32, sp->end_tid);
		if (sp->end_tid != sp->start_tid)
			out_str(l->out, other);
	}
	out_char(l->out, '\n');
	return out_error(l->out);
}

/* What is missing between the lines. Everything else is for the end. */
static int lines_tally(void *ctx, const struct tally *t)
{
	const struct lines *l = ctx;
	char count[UNIT_MAX], line[160];

	if (!tally_is_loss(t->kind))
		return 0;
	begin_line(l, t->to_ns, t->pid, t->pid);
	snprintf(line, sizeof(line), "-- %s %s%s of %s lost", unit_fmt_count(count, t->count),
		 t->kind == TALLY_LOSS		? "call"
		 : t->kind == TALLY_LOST_RETURN ? "return"
						: "process record",
		 t->count == 1 ? "" : "s", entry_name(t->func));
	text(l, RED, line);
	out_char(l->out, '\n');
	return out_error(l->out);
}

struct consumer lines_consumer(struct lines *l)
{
	return (struct consumer){.ctx = l, .span = lines_span, .tally = lines_tally};
}
