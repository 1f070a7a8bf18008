// SPDX-License-Identifier: GPL-2.0-only
/* The vendor's msprof_tx summary: spans that are complete, one a row, sorted by start. */
#include <errno.h>
#include <string.h>

#include "sink/escape.h"
#include "sink/sink.h"
#include "util/cleanup.h"
#include "util/str.h"

static const char header[] =
	"Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),"
	"End_time(us),message_type,message,domain,Device Start_time(us),Device End_time(us)\n";

struct csv {
	struct sink sink;
	struct sink_opts opts;
	struct out *out;     /* the slice being written */
	struct out **slices; /* the full ones, sealed */
	size_t slice_count;
	uint64_t slice_rows; /* rows in out */
};

static int csv_open(const char *path, const struct sink_opts *opts, struct sink **out)
{
	struct csv *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->opts = *opts;
	err = out_file(path, opts->overwrite, &c->out);
	if (err)
		free(c);
	else
		*out = &c->sink;
	return err;
}

static int csv_begin(struct sink *s, const struct trace_meta *meta)
{
	struct csv *c = (struct csv *)s;

	(void)meta;
	out_str(c->out, header);
	return out_error(c->out);
}

/* The slice being written joins the finished ones; it keeps its temporary name. */
static int add_slice(struct csv *c)
{
	struct out **p = realloc(c->slices, (c->slice_count + 1) * sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	c->slices = p;
	err = out_seal(c->out);
	if (!err)
		c->slices[c->slice_count++] = take_ptr(c->out);
	return err;
}

static int next_slice(struct csv *c)
{
	int err = add_slice(c);

	if (!err)
		err = out_file(c->sink.path, c->opts.overwrite, &c->out);
	if (err)
		return err;
	c->slice_rows = 0;
	out_str(c->out, header);
	return out_error(c->out);
}

static char *put_times(char *p, const struct csv *c, const struct span *sp)
{
	const char *after = c->opts.no_tab ? "," : "\t,";

	p = put_text(put_usec(p, sp->start_ns), after);
	return put_text(put_usec(p, sp->end_ns), after);
}

/* The columns before the message. */
static char *put_front(char *p, const struct csv *c, const struct span *sp, const char *domain)
{
	p = put_u64(put_text(p, "host,"), sp->pid);
	*p++ = ',';
	p = put_u64(p, sink_span_tid(sp));
	*p++ = ',';
	if (domain) {
		p = put_text(put_text(p, "N/A,"), span_kind_name(sp->kind));
		p = put_times(put_text(p, ",N/A,N/A,"), c, sp);
		return put_text(p, "N/A,");
	}
	p = put_u64(p, sp->category);
	*p++ = ',';
	p = put_text(p, span_kind_name(sp->kind));
	*p++ = ',';
	p = put_i64(p, sp->payload.type);
	p = put_times(put_text(p, ",0,"), c, sp);
	return put_text(p, "0,");
}

static int csv_span(struct sink *s, const struct span *sp)
{
	struct csv *c = (struct csv *)s;
	const char *domain = sink_span_domain(sp);
	char *p;
	int err;

	if (sp->status != SPAN_COMPLETE) {
		s->left_out++;
		return 0;
	}
	if (c->opts.slice_rows && c->slice_rows == c->opts.slice_rows) {
		err = next_slice(c);
		if (err)
			return err;
	}
	p = out_room(c->out);
	out_advance(c->out, (size_t)(put_front(p, c, sp, domain) - p));
	out_span_name(c->out, sp, out_csv);
	if (domain) {
		out_char(c->out, ',');
		out_csv(c->out, domain, strlen(domain));
		out_str(c->out, ",N/A,N/A\n");
	} else {
		out_str(c->out, ",N/A,N/A,N/A\n");
	}
	c->slice_rows++;
	s->rows++;
	return out_error(c->out);
}

/*
 * dir/msprof_tx_TIME.csv -> dir/msprof_tx_slice_N_TIME.csv; without an underscore the number goes
 * to the end of the name. NULL: no memory.
 */
static char *slice_path(const char *path, size_t n)
{
	const char *base = strrchr(path, '/');
	const char *cut, *rest;
	_str_ struct str name = {0};

	base = base ? base + 1 : path;
	cut = strrchr(base, '_');
	rest = cut;
	if (!cut) {
		cut = strrchr(base, '.');
		cut = cut && cut != base ? cut : base + strlen(base);
		rest = cut;
	}
	str_add(&name, path, (size_t)(cut - path));
	str_printf(&name, "_slice_%zu%s", n, rest);
	return str_take(&name);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* All slices get their final names, or none does. */
static int publish_slices(struct csv *c)
{
	for (size_t i = 0; i < c->slice_count; i++) {
		_free_ char *path = slice_path(c->sink.path, i);
		int err = path ? out_rename(c->slices[i], base_of(path)) : -ENOMEM;

		if (!err)
			err = out_publish(c->slices[i]);
		if (err)
			return err;
	}
	return 0;
}

static int csv_end(struct sink *s, const struct trace_meta *meta)
{
	struct csv *c = (struct csv *)s;
	char *first;
	int err;

	(void)meta;
	if (!c->slice_count)
		return out_close(take_ptr(c->out));
	first = slice_path(s->path, 0);
	err = first ? add_slice(c) : -ENOMEM;
	if (!err)
		err = publish_slices(c);
	if (err) {
		free(first);
		return err; /* csv_free() takes back what was published */
	}
	for (size_t i = 0; i < c->slice_count; i++)
		out_close(c->slices[i]);
	s->files = c->slice_count;
	c->slice_count = 0;
	free(s->path);
	s->path = first;
	return 0;
}

static void csv_free(struct sink *s)
{
	struct csv *c = (struct csv *)s;

	for (size_t i = 0; i < c->slice_count; i++)
		out_discard(c->slices[i]);
	free(c->slices);
	out_discard(c->out);
	free(c);
}

const struct sink_ops sink_csv = {
	.name = "csv",
	.suffix = ".csv",
	.help = "the vendor's summary table; any spreadsheet, MindStudio Insight",
	.order = SINK_BY_START,
	.open = csv_open,
	.begin = csv_begin,
	.span = csv_span,
	.end = csv_end,
	.free = csv_free,
};
