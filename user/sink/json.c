// SPDX-License-Identifier: GPL-2.0-only
/*
 * The vendor's msprof_tx timeline in the Chrome trace event format, one event a line: complete
 * spans as they end, then what is known of processes and threads, then the flow events of
 * marker_ex. Memory is kept for each process, thread and lane, not for spans.
 */
#include <errno.h>
#include <string.h>

#include "sink/escape.h"
#include "sink/ids.h"
#include "sink/lanes.h"
#include "sink/sink.h"
#include "util/cleanup.h"
#include "util/safepath.h"

/* Connection ids of marker_ex count up from here, in all formats. */
#define FIRST_CONNECTION 4000000001u
/* Rows that are no thread; the kernel's thread ids end at 2^22. */
#define FIRST_LANE_ROW (1u << 30)
#define FLOWS_BUFFERED 4096

#define NONE UINT32_MAX

struct proc {
	uint64_t key;
	char *name;	      /* NULL = not known */
	uint32_t first, last; /* rows, NONE = none: nothing to write */
};

/* A row of the timeline: a thread or one of its lanes. */
struct row {
	uint64_t key;  /* pid, row id */
	uint32_t tid;  /* thread */
	uint32_t lane; /* from 1, 0 = the thread itself */
	uint32_t next; /* of the same process */
	struct lanes lanes;
};

/* Its number makes the id of its row. */
struct lane {
	uint64_t key; /* row number of the thread, lane number */
};

struct flow {
	uint64_t ts_ns;
	uint32_t pid, row;
};

struct json {
	struct sink sink;
	struct out *out;
	bool lanes_wanted;
	struct ids procs, rows, lanes;
	struct flow *flows;    /* FLOWS_BUFFERED, allocated with the first */
	size_t flow_count;     /* in the buffer */
	uint64_t flows_stored; /* in the file */
	int flow_fd;
};

static int json_open(const char *path, const struct sink_opts *opts, struct sink **out)
{
	struct json *j = calloc(1, sizeof(*j));
	int err;

	if (!j)
		return -ENOMEM;
	j->lanes_wanted = opts->lanes;
	j->procs = IDS_OF(struct proc);
	j->rows = IDS_OF(struct row);
	j->lanes = IDS_OF(struct lane);
	j->flow_fd = -1;
	err = out_file(path, opts->overwrite, &j->out);
	if (err)
		free(j);
	else
		*out = &j->sink;
	return err;
}

static int json_begin(struct sink *s, const struct trace_meta *meta)
{
	struct json *j = (struct json *)s;

	(void)meta;
	out_char(j->out, '[');
	return out_error(j->out);
}

static struct proc *get_proc(struct json *j, uint32_t pid)
{
	size_t before = j->procs.count;
	struct proc *p = ids_get(&j->procs, pid);

	if (p && j->procs.count > before)
		p->first = p->last = NONE;
	return p;
}

static int json_process(struct sink *s, const struct process *proc)
{
	struct json *j = (struct json *)s;
	struct proc *p = get_proc(j, proc->pid);
	char shown[SINK_PROCESS_NAME_MAX], *name;

	/* The vendor's is the program alone; but of several hosts that tells nothing apart. */
	if (proc->source)
		sink_process_name(proc, shown);
	name = strdup(proc->source ? shown : proc->name);

	if (!p || !name) {
		free(name);
		return -ENOMEM;
	}
	if (*name || !p->name) {
		free(p->name);
		p->name = take_ptr(name);
	}
	free(name);
	return 0;
}

/* Makes sure that the row is known; a new one joins its process. */
static int get_row(struct json *j, uint32_t pid, uint32_t id, uint32_t tid, uint32_t lane)
{
	size_t before = j->rows.count;
	struct row *row = ids_get(&j->rows, IDS_KEY(pid, id));
	struct proc *p;

	if (!row)
		return -ENOMEM;
	if (j->rows.count == before)
		return 0;
	row->tid = tid;
	row->lane = lane;
	row->next = NONE;
	p = get_proc(j, pid);
	if (!p)
		return -ENOMEM;
	if (p->last == NONE)
		p->first = (uint32_t)before;
	else
		((struct row *)ids_at(&j->rows, p->last))->next = (uint32_t)before;
	p->last = (uint32_t)before;
	return 0;
}

/*
 * The first lane of the thread where the range overlaps nothing. Ranges come in order of their
 * end, so the end of a lane's last range is the latest of all.
 */
static int get_lane(struct json *j, const struct span *sp, uint32_t tid, uint32_t *id)
{
	struct row *thread = ids_find(&j->rows, IDS_KEY(sp->pid, tid));
	uint32_t number = (uint32_t)(((char *)thread - j->rows.entries) / sizeof(*thread));
	size_t n = lanes_find(&thread->lanes, sp->start_ns);
	struct lane *lane = ids_get(&j->lanes, IDS_KEY(number, n));

	if (!lane || lanes_take(&thread->lanes, n, sp->end_ns))
		return -ENOMEM;
	*id = FIRST_LANE_ROW + (uint32_t)(((char *)lane - j->lanes.entries) / sizeof(*lane));
	return get_row(j, sp->pid, *id, tid, (uint32_t)n + 1);
}

static int place_of(struct json *j, const struct span *sp, uint32_t *id)
{
	uint32_t tid = sink_span_tid(sp);
	int err = get_row(j, sp->pid, tid, tid, 0);

	*id = tid;
	if (err || !j->lanes_wanted || sp->kind != SPAN_START_END)
		return err;
	return get_lane(j, sp, tid, id);
}

static int pwrite_all(int fd, const void *p, size_t n, off_t at)
{
	while (n) {
		ssize_t done = pwrite(fd, p, n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		p = (const char *)p + done;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

static int store_flows(struct json *j)
{
	int err;

	if (j->flow_fd < 0) {
		j->flow_fd = safepath_scratch(j->sink.path);
		if (j->flow_fd < 0)
			return j->flow_fd;
	}
	err = pwrite_all(j->flow_fd, j->flows, j->flow_count * sizeof(*j->flows),
			 (off_t)(j->flows_stored * sizeof(*j->flows)));
	j->flows_stored += j->flow_count;
	j->flow_count = 0;
	return err;
}

/* Flow events come last: kept until then, on disk when there are many. */
static int keep_flow(struct json *j, const struct span *sp, uint32_t row)
{
	int err;

	if (!j->flows) {
		j->flows = malloc(FLOWS_BUFFERED * sizeof(*j->flows));
		if (!j->flows)
			return -ENOMEM;
	}
	if (j->flow_count == FLOWS_BUFFERED) {
		err = store_flows(j);
		if (err)
			return err;
	}
	j->flows[j->flow_count++] = (struct flow){sp->start_ns, sp->pid, row};
	return 0;
}

static uint32_t vendor_pid(uint32_t pid)
{
	return pid << 10 | 6 << 5 | 31;
}

static char *put_place(char *p, uint32_t pid, uint32_t row)
{
	p = put_u64(put_text(p, ",\"pid\":"), vendor_pid(pid));
	return put_u64(put_text(p, ",\"tid\":"), row);
}

static char *put_stamp_args(char *p, const struct span *sp)
{
	p = put_u64(put_text(p, "\"Category\":\""), sp->category);
	p = put_i64(put_text(p, "\",\"Payload_type\":"), sp->payload.type);
	p = put_text(p, ",\"Payload_value\":0,\"Message_type\":0,\"event_type\":\"");
	p = put_text(p, span_kind_name(sp->kind));
	return put_text(p, "\"}}");
}

static void write_span(struct out *o, const struct span *sp, uint32_t row)
{
	const char *domain = sink_span_domain(sp);
	char *start, *p;

	out_span_name(o, sp, out_json);
	start = p = out_room(o);
	p = put_place(p, sp->pid, row);
	p = put_usec(put_text(p, ",\"ts\":\""), sp->start_ns);
	p = put_usec_short(put_text(p, "\",\"dur\":"), sp->end_ns - sp->start_ns);
	p = put_text(p, ",\"ph\":\"X\",\"args\":{");
	if (!domain) {
		p = put_stamp_args(p, sp);
		out_advance(o, (size_t)(p - start));
		return;
	}
	p = put_text(put_text(p, "\"event_type\":\""), span_kind_name(sp->kind));
	p = put_text(p, "\",\"domain\":");
	out_advance(o, (size_t)(p - start));
	out_json(o, domain, strlen(domain));
	out_str(o, "}}");
}

static int json_span(struct sink *s, const struct span *sp)
{
	struct json *j = (struct json *)s;
	uint32_t row;
	int err;

	if (sp->status != SPAN_COMPLETE) {
		s->left_out++;
		return 0;
	}
	err = place_of(j, sp, &row);
	if (err)
		return err;
	out_str(j->out, s->rows++ ? ",\n{\"name\":" : "\n{\"name\":");
	write_span(j->out, sp, row);
	if (sp->kind == SPAN_MARKER_EX)
		err = keep_flow(j, sp, row);
	return err ? err : out_error(j->out);
}

/* ,{"name":NAME,"pid":P,"tid":T,"ph":"M","args":{KEY: and the value is to follow. */
static void begin_meta(struct out *o, const char *name, uint32_t pid, uint32_t row, const char *key)
{
	char *start, *p;

	out_str(o, ",\n{\"name\":\"");
	start = p = out_room(o);
	p = put_place(put_text(put_text(p, name), "\""), pid, row);
	p = put_text(put_text(put_text(p, ",\"ph\":\"M\",\"args\":{\""), key), "\":");
	out_advance(o, (size_t)(p - start));
}

static void write_row(struct out *o, uint32_t pid, const struct row *row)
{
	uint32_t id = (uint32_t)row->key;

	begin_meta(o, "thread_name", pid, id, "name");
	out_str(o, "\"Thread ");
	out_u64(o, row->tid);
	if (row->lane) {
		out_str(o, " ranges ");
		out_u64(o, row->lane);
	}
	out_str(o, "\"}}");
	begin_meta(o, "thread_sort_index", pid, id, "sort_index");
	out_u64(o, row->tid);
	out_str(o, "}}");
}

static void write_proc(struct json *j, const struct proc *p)
{
	uint32_t pid = (uint32_t)p->key;
	struct out *o = j->out;

	begin_meta(o, "process_name", pid, 0, "name");
	if (p->name && *p->name) {
		out_json(o, p->name, strlen(p->name));
	} else {
		out_str(o, "\"process ");
		out_u64(o, pid);
		out_char(o, '"');
	}
	out_str(o, "}}");
	begin_meta(o, "process_labels", pid, 0, "labels");
	out_str(o, "\"CPU\"}}");
	begin_meta(o, "process_sort_index", pid, 0, "sort_index");
	out_str(o, "6}}");
	for (uint32_t i = p->first; i != NONE;) {
		const struct row *row = ids_at(&j->rows, i);

		write_row(o, pid, row);
		i = row->next;
	}
}

static void write_flow(struct out *o, const struct flow *f, uint64_t connection)
{
	char *start, *p;

	start = p = out_room(o);
	p = put_u64(put_text(p, ",\n{\"name\":\"MsTx_"), connection);
	*p++ = '"';
	p = put_place(p, f->pid, f->row);
	p = put_u64(put_text(p, ",\"ph\":\"s\",\"cat\":\"MsTx\",\"id\":\""), connection);
	p = put_usec(put_text(p, "\",\"ts\":\""), f->ts_ns);
	p = put_text(p, "\"}");
	out_advance(o, (size_t)(p - start));
}

static int write_flows(struct json *j)
{
	uint64_t connection = FIRST_CONNECTION;
	int err;

	if (!j->flows_stored) {
		for (size_t i = 0; i < j->flow_count; i++)
			write_flow(j->out, &j->flows[i], connection++);
		return 0;
	}
	err = store_flows(j);
	for (uint64_t i = 0; i < j->flows_stored && !err;) {
		size_t n = FLOWS_BUFFERED * sizeof(*j->flows);
		ssize_t got = pread(j->flow_fd, j->flows, n, (off_t)(i * sizeof(*j->flows)));

		if (got < (ssize_t)sizeof(*j->flows))
			return got < 0 ? -errno : -EIO;
		n = (size_t)got / sizeof(*j->flows);
		for (size_t k = 0; k < n; k++)
			write_flow(j->out, &j->flows[k], connection++);
		i += n;
	}
	return err;
}

static int json_end(struct sink *s, const struct trace_meta *meta)
{
	struct json *j = (struct json *)s;
	int err;

	(void)meta;
	for (size_t i = 0; i < j->procs.count; i++) {
		const struct proc *p = ids_at(&j->procs, i);

		/* A process without events would only be an empty row. */
		if (p->first != NONE)
			write_proc(j, p);
	}
	err = write_flows(j);
	if (err)
		return err;
	out_str(j->out, "\n]\n");
	return out_close(take_ptr(j->out));
}

static void json_free(struct sink *s)
{
	struct json *j = (struct json *)s;

	for (size_t i = 0; i < j->procs.count; i++)
		free(((struct proc *)ids_at(&j->procs, i))->name);
	for (size_t i = 0; i < j->rows.count; i++)
		lanes_free(&((struct row *)ids_at(&j->rows, i))->lanes);
	ids_free(&j->procs);
	ids_free(&j->rows);
	ids_free(&j->lanes);
	free(j->flows);
	if (j->flow_fd >= 0)
		close(j->flow_fd);
	out_discard(j->out);
	free(j);
}

const struct sink_ops sink_json = {
	.name = "json",
	.suffix = ".json",
	.help = "the vendor's timeline; MindStudio Insight, ui.perfetto.dev, chrome://tracing",
	.order = SINK_BY_END,
	.open = json_open,
	.begin = json_begin,
	.process = json_process,
	.span = json_span,
	.end = json_end,
	.free = json_free,
};
