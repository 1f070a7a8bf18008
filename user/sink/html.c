// SPDX-License-Identifier: GPL-2.0-only
/*
 * A page to look at: one file that needs no other and no network. The page itself is in report/;
 * here its data is written, as elements that the page's script reads:
 *
 *   names     JSON list of texts; spans have numbers of it. Written while spans come.
 *   facts     JSON: what was traced, statistics, and what is no event
 *   spans     the timeline, in base64 (html_spans.h)
 *   details   of spans that have more than a name and times
 *
 * Spans come by end, as the statistics need them (a child before what it is in). Memory is bounded
 * by the limits of statistics, timeline, names and facts; what is beyond one is counted and told.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stats.h"
#include "sink/html_facts.h"
#include "sink/html_page.h"
#include "sink/html_spans.h"
#include "sink/html_text.h"
#include "sink/intern.h"
#include "sink/out.h"
#include "sink/repair.h"
#include "sink/sink.h"
#include "util/cleanup.h"

#define NAMES_MAX 262144
#define NAMES_BYTES (32u << 20)

struct html {
	struct sink sink;
	struct out *out;
	struct stats *stats;
	struct consumer to_stats;
	struct html_spans *spans;
	struct html_facts facts;
	struct intern *names;
	struct repair repair;
	uint64_t kinds[4], statuses[5];
	uint64_t unnamed;   /* on the timeline without their name */
	uint64_t no_thread; /* not on the timeline: too many threads */
	uint32_t n_names;   /* number of the last one; 0 is that of all that have none */
};

/* ---- Names --------------------------------------------------------------------------------- */

/* Texts are valid already. */
static int number_of(struct html *h, const char *s, size_t n, uint32_t *number)
{
	int err;

	*number = (uint32_t)intern_find(h->names, s, n);
	if (*number)
		return 0;
	err = intern_add(h->names, s, n, h->n_names + 1);
	if (err == -ENOSPC)
		return 0;
	if (err)
		return err;
	*number = ++h->n_names;
	out_str(h->out, ",\n");
	return html_string(h->out, &h->repair, s, n);
}

static int refs_of(struct html *h, const struct span *sp, struct html_refs *refs)
{
	const char *s = sink_span_domain(sp);
	const char *category = versions_category_name(h->sink.versions, h->sink.of);
	size_t n = s ? strlen(s) : 0;
	int err = 0;

	refs->domain = refs->category = 0;
	if (s)
		err = repair_text(&h->repair, &s, &n);
	if (s && !err)
		err = number_of(h, s, n, &refs->domain);
	if (category && *category && !err) {
		n = strlen(category);
		err = repair_text(&h->repair, &category, &n);
		err = err ?: number_of(h, category, n, &refs->category);
	}
	err = err ?: repair_name(&h->repair, sp, &s, &n);
	err = err ?: number_of(h, s, n, &refs->name);
	h->unnamed += !err && !refs->name;
	return err ?: html_facts_thread_of(&h->facts, sp->pid, sp->start_tid, &refs->thread);
}

/* ---- Collecting ---------------------------------------------------------------------------- */

static int html_span(struct sink *s, const struct span *sp)
{
	struct html *h = (struct html *)s;
	struct html_refs refs;
	int err = h->to_stats.span(h->to_stats.ctx, sp);

	if (err)
		return err;
	s->rows++;
	h->kinds[sp->kind & 3]++;
	if (sp->status <= SPAN_UNCERTAIN)
		h->statuses[sp->status]++;
	if (!html_spans_wants(h->spans, sp))
		return 0;
	err = refs_of(h, sp, &refs);
	if (err)
		return err;
	if (refs.thread == HTML_NO_THREAD) {
		h->no_thread++;
		return 0;
	}
	err = html_spans_add(h->spans, sp, &refs);
	return err ?: out_error(h->out);
}

static int html_hidden(struct sink *s, const struct span *sp)
{
	struct html *h = (struct html *)s;

	return h->to_stats.hidden(h->to_stats.ctx, sp);
}

static int html_process(struct sink *s, const struct process *p)
{
	char names[VERSIONS_NAMES_MAX];
	const struct process all = versions_all(s->versions, p, names);

	return html_facts_process(&((struct html *)s)->facts, &all);
}

static int html_thread(struct sink *s, const struct label *l)
{
	return html_facts_thread(&((struct html *)s)->facts, l);
}

static int html_tally(struct sink *s, const struct tally *t)
{
	return html_facts_tally(&((struct html *)s)->facts, t);
}

static int html_source(struct sink *s, const struct trace_source *src)
{
	return html_facts_source(&((struct html *)s)->facts, src);
}

/* ---- Writing ------------------------------------------------------------------------------- */

static void member(struct out *o, const char *name, uint64_t v)
{
	out_char(o, '"');
	out_str(o, name);
	out_str(o, "\":");
	html_u64(o, v);
	out_str(o, ",\n");
}

static void list(struct out *o, const char *name, const uint64_t *v, size_t n)
{
	out_char(o, '"');
	out_str(o, name);
	out_str(o, "\":[");
	for (size_t i = 0; i < n; i++) {
		if (i)
			out_char(o, ',');
		html_u64(o, v[i]);
	}
	out_str(o, "],\n");
}

static int text_member(struct html *h, const char *name, const char *text)
{
	int err;

	out_char(h->out, '"');
	out_str(h->out, name);
	out_str(h->out, "\":");
	err = html_string(h->out, &h->repair, text ? text : "", text ? strlen(text) : 0);
	out_str(h->out, ",\n");
	return err;
}

/* As acltap stat shows it: the page must not round it otherwise. */
static void tenths(struct out *o, double d)
{
	char buf[400];

	snprintf(buf, sizeof(buf), ",%.1f", d);
	out_str(o, buf);
}

static void number(struct out *o, uint64_t v)
{
	out_char(o, ',');
	html_u64(o, v);
}

/* The columns of acltap stat in its order, then the first power of two and its counts. */
static int write_row(struct html *h, const struct stats_row *r)
{
	struct out *o = h->out;
	uint64_t bins[64];
	unsigned int first = 0, end = 64;
	int err;

	values_histogram(&r->values, bins);
	while (end && !bins[end - 1])
		end--;
	while (first < end && !bins[first])
		first++;
	out_char(o, '[');
	err = html_string(o, &h->repair, r->label, r->label_len);
	out_str(o, ",\"");
	out_str(o, stats_style_name(r->style));
	out_char(o, '"');
	tenths(o, r->percent);
	number(o, r->total_ns);
	number(o, r->instances);
	tenths(o, r->avg_ns);
	tenths(o, r->med_ns);
	number(o, r->min_ns);
	number(o, r->max_ns);
	tenths(o, r->stddev_ns);
	number(o, r->p95_ns);
	number(o, r->p99_ns);
	number(o, r->self_ns);
	number(o, r->unfinished);
	number(o, r->uncertain);
	number(o, first);
	out_str(o, ",[");
	for (unsigned int i = first; i < end; i++) {
		if (i > first)
			out_char(o, ',');
		html_u64(o, bins[i]);
	}
	out_str(o, "]]");
	return err;
}

static int write_stats(struct html *h)
{
	int err = 0;

	member(h->out, "coarse_rows", stats_coarse_rows(h->stats));
	member(h->out, "spans_of_others", stats_unnamed_spans(h->stats));
	member(h->out, "self_incomplete", stats_self_incomplete(h->stats));
	out_str(h->out, "\"stats\":[");
	for (size_t i = 0; i < stats_count(h->stats) && !err; i++) {
		out_str(h->out, i ? ",\n" : "\n");
		err = write_row(h, stats_get(h->stats, i));
	}
	out_str(h->out, "]\n");
	return err;
}

static void write_counts(struct html *h)
{
	const struct html_left_out left = html_spans_left_out(h->spans);

	list(h->out, "kinds", h->kinds, 4);
	list(h->out, "statuses", h->statuses, 5);
	member(h->out, "shown", html_spans_count(h->spans));
	member(h->out, "left_out", left.count);
	member(h->out, "left_out_longest_ns", left.longest_ns);
	member(h->out, "left_out_not_complete", left.incomplete);
	member(h->out, "left_out_threads", h->no_thread);
	member(h->out, "unnamed", h->unnamed);
}

/* Epoch of a clock reading, by the clocks at the start like all times; 0 = not known. */
static uint64_t last_time(const struct trace_meta *meta)
{
	if (!meta->last.mono_ns)
		return 0;
	return meta->last.mono_ns + (meta->first.real_ns - meta->first.mono_ns);
}

static int write_facts(struct html *h, const struct trace_meta *meta, uint64_t zero, uint64_t last)
{
	struct out *o = h->out;
	int err;

	out_str(o, "<script type=\"application/json\" id=\"facts\">\n{\n");
	err = text_member(h, "host", meta->host);
	err = err ?: text_member(h, "version", meta->version);
	err = err ?: text_member(h, "kernel", meta->kernel);
	err = err ?: text_member(h, "aligned", meta->aligned);
	member(o, "zero_ns", zero);
	member(o, "first_ns", meta->first.real_ns);
	member(o, "last_ns", last);
	out_str(o, meta->complete ? "\"complete\":true,\n" : "\"complete\":false,\n");
	if (!meta->complete && meta->cut)
		err = err ?: text_member(h, "cut", meta->cut);
	if (meta->filtered)
		member(o, "filtered", meta->filtered);
	write_counts(h);
	err = err ?: html_facts_write(&h->facts, zero, o, &h->repair);
	err = err ?: write_stats(h);
	out_str(o, "}\n</script>\n");
	return err;
}

static int write_data(struct html *h, const struct trace_meta *meta)
{
	uint64_t first, last, end = last_time(meta);
	int err = html_spans_layout(h->spans);

	if (err)
		return err;
	html_spans_extent(h->spans, &first, &last);
	html_facts_extent(&h->facts, &first, &last);
	first = first ?: meta->first.real_ns; /* nothing to show: how long it was traced */
	last = last > first ? last : first;
	err = write_facts(h, meta, first, end > last ? end : last);
	out_str(h->out, "<script type=\"text/plain\" id=\"spans\">\n");
	html_spans_write(h->spans, first, h->out);
	out_str(h->out, "</script>\n<script type=\"text/plain\" id=\"details\">\n");
	html_spans_write_details(h->spans, h->out);
	out_str(h->out, "</script>\n");
	return err;
}

/* ---- The sink ------------------------------------------------------------------------------ */

static void html_free(struct sink *s)
{
	struct html *h = (struct html *)s;

	stats_free(h->stats);
	html_spans_free(h->spans);
	html_facts_free(&h->facts);
	intern_free(h->names);
	repair_free(&h->repair);
	out_discard(h->out);
	free(h);
}

static int html_open(const char *path, const struct sink_opts *opts, struct sink **out)
{
	const struct stats_config cfg = {0};
	struct html *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	html_facts_init(&h->facts);
	err = out_file(path, opts->overwrite, &h->out);
	err = err ?: stats_new(&cfg, &h->stats);
	err = err ?: html_spans_new(HTML_SPANS_MAX, &h->spans);
	err = err ?: intern_new(NAMES_MAX, NAMES_BYTES, &h->names);
	if (err) {
		html_free(&h->sink);
		return err;
	}
	h->to_stats = stats_consumer(h->stats);
	*out = &h->sink;
	return 0;
}

static int html_begin(struct sink *s, const struct trace_meta *meta)
{
	struct html *h = (struct html *)s;

	(void)meta;
	out_write(h->out, html_page_head, html_page_head_size);
	out_str(h->out, "<script type=\"application/json\" id=\"names\">\n"
			"[\"(name not kept)\"");
	return out_error(h->out);
}

static int html_end(struct sink *s, const struct trace_meta *meta)
{
	struct html *h = (struct html *)s;
	int err = h->to_stats.end(h->to_stats.ctx, meta);

	out_str(h->out, "]\n</script>\n");
	err = err ?: write_data(h, meta);
	out_write(h->out, html_page_tail, html_page_tail_size);
	return err ?: out_close(take_ptr(h->out));
}

const struct sink_ops sink_html = {
	.name = "html",
	.suffix = ".html",
	.help = "a page with statistics and timeline; any browser",
	.order = SINK_BY_END,
	.open = html_open,
	.begin = html_begin,
	.process = html_process,
	.thread = html_thread,
	.span = html_span,
	.hidden = html_hidden,
	.tally = html_tally,
	.source = html_source,
	.end = html_end,
	.free = html_free,
};
