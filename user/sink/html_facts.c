// SPDX-License-Identifier: GPL-2.0-only
#include "sink/html_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "sink/html_text.h"

struct proc {
	uint64_t key;
	uint32_t nspid, ppid, host_pid, source;
	int32_t rank, local_rank;
	char *name, *cmdline, *exe, *host;
};

/* One of the captures that a merged trace was made of. */
struct source {
	uint64_t key; /* its number */
	char *name, *host, *version, *kernel, *ended;
	int64_t shift_ns;
};

struct text {
	uint64_t key;
	char *s;
};

struct thread {
	uint64_t key;
};

/* Key: kind, function, and pid or return value where the kind has one. */
struct count {
	uint64_t key;
	uint64_t n;
};

void html_facts_init(struct html_facts *f)
{
	*f = (struct html_facts){
		.procs = IDS_OF(struct proc),
		.threads = IDS_OF(struct thread),
		.thread_names = IDS_OF(struct text),
		.tallies = IDS_OF(struct count),
		.sources = IDS_OF(struct source),
	};
}

static void free_texts(struct ids *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(((struct text *)ids_at(m, i))->s);
	ids_free(m);
}

void html_facts_free(struct html_facts *f)
{
	for (size_t i = 0; i < f->procs.count; i++) {
		struct proc *p = ids_at(&f->procs, i);

		free(p->name);
		free(p->cmdline);
		free(p->exe);
		free(p->host);
	}
	for (size_t i = 0; i < f->sources.count; i++) {
		struct source *src = ids_at(&f->sources, i);

		free(src->name);
		free(src->host);
		free(src->version);
		free(src->kernel);
		free(src->ended);
	}
	ids_free(&f->procs);
	ids_free(&f->sources);
	ids_free(&f->threads);
	free_texts(&f->thread_names);
	ids_free(&f->tallies);
	free(f->losses);
}

/* ---- Collecting ---------------------------------------------------------------------------- */

/* NULL: no memory, or (with *err 0) too many. */
static void *get_bounded(struct ids *m, uint64_t key, int *err)
{
	void *e = ids_find(m, key);

	*err = 0;
	if (e || m->count >= HTML_FACTS_MAX)
		return e;
	e = ids_get(m, key);
	*err = e ? 0 : -ENOMEM;
	return e;
}

/* What is known already stays when nothing is known now. */
static int keep_bytes(char **at, const char *text, size_t n)
{
	bool cut = n > HTML_TEXT_MAX;
	char *copy;

	if (!n)
		return 0;
	copy = strndup(text, cut ? HTML_TEXT_MAX : n);
	if (!copy)
		return -ENOMEM;
	if (cut)
		memset(copy + HTML_TEXT_MAX - 3, '.', 3);
	free(*at);
	*at = copy;
	return 0;
}

static int keep_text(char **at, const char *text)
{
	return text ? keep_bytes(at, text, strlen(text)) : 0;
}

/* Unknown does not replace known. */
int html_facts_process(struct html_facts *f, const struct process *proc)
{
	bool is_known = ids_find(&f->procs, proc->pid);
	int err;
	struct proc *p = get_bounded(&f->procs, proc->pid, &err);

	if (!p) {
		f->more_procs += !err;
		return err;
	}
	p->nspid = proc->nspid ?: p->nspid;
	p->ppid = proc->ppid ?: p->ppid;
	p->rank = proc->rank < 0 && is_known ? p->rank : proc->rank;
	p->local_rank = proc->local_rank < 0 && is_known ? p->local_rank : proc->local_rank;
	p->host_pid = proc->host_pid ? proc->host_pid : proc->pid;
	p->source = proc->source;
	err = keep_text(&p->name, proc->name);
	err = err ?: keep_text(&p->cmdline, proc->cmdline);
	err = err ?: keep_text(&p->exe, proc->exe);
	return err ?: keep_text(&p->host, proc->host);
}

int html_facts_source(struct html_facts *f, const struct trace_source *source)
{
	int err;
	struct source *src = get_bounded(&f->sources, source->number, &err);

	if (!src)
		return err;
	src->shift_ns = source->shift_ns;
	err = keep_text(&src->name, source->name);
	err = err ?: keep_text(&src->host, source->host);
	err = err ?: keep_text(&src->version, source->version);
	err = err ?: keep_text(&src->kernel, source->kernel);
	return err ?: keep_text(&src->ended, source->ended);
}

static int keep_label(struct ids *m, const struct label *l)
{
	int err;
	struct text *t = get_bounded(m, IDS_KEY(l->pid, l->id), &err);

	return t ? keep_bytes(&t->s, l->text, l->len) : err;
}

int html_facts_thread(struct html_facts *f, const struct label *l)
{
	return keep_label(&f->thread_names, l);
}

int html_facts_thread_of(struct html_facts *f, uint32_t pid, uint32_t tid, uint32_t *number)
{
	int err;
	const char *t = get_bounded(&f->threads, IDS_KEY(pid, tid), &err);

	*number = t ? (uint32_t)((size_t)(t - f->threads.entries) / f->threads.entry_size)
		    : HTML_NO_THREAD;
	return err;
}

static int keep_loss(struct html_facts *f, const struct tally *t)
{
	struct html_loss *l;

	if (!f->losses)
		f->losses = malloc(HTML_LOSSES_MAX * sizeof(*f->losses));
	if (!f->losses)
		return -ENOMEM;
	if (f->n_losses < HTML_LOSSES_MAX) {
		f->losses[f->n_losses++] =
			(struct html_loss){t->from_ns, t->to_ns, t->count, t->func};
		return 0;
	}
	l = &f->losses[HTML_LOSSES_MAX - 1];
	l->count += t->count;
	if (t->from_ns < l->from_ns)
		l->from_ns = t->from_ns;
	if (t->to_ns > l->to_ns)
		l->to_ns = t->to_ns;
	return 0;
}

int html_facts_tally(struct html_facts *f, const struct tally *t)
{
	const struct entry *entry = entry_get(t->func);
	uint32_t of = t->kind == TALLY_FAILED	    ? (uint32_t)t->ret
		      : t->kind == TALLY_NULL_STAMP ? t->pid
						    : 0;
	uint64_t key = (uint64_t)t->kind << 40 | (uint64_t)t->func << 32 | of;
	struct count *c;

	/* Of calls only those that are no events. */
	if (t->kind == TALLY_CALL && (!entry || entry->op != OP_COUNT))
		return 0;
	c = ids_get(&f->tallies, key);
	if (!c)
		return -ENOMEM;
	c->n += t->count;
	if (tally_is_loss(t->kind) && t->to_ns && t->to_ns >= t->from_ns)
		return keep_loss(f, t);
	return 0;
}

void html_facts_extent(const struct html_facts *f, uint64_t *first_ns, uint64_t *last_ns)
{
	for (size_t i = 0; i < f->n_losses; i++) {
		if (f->losses[i].from_ns < *first_ns || !*first_ns)
			*first_ns = f->losses[i].from_ns;
		if (f->losses[i].to_ns > *last_ns)
			*last_ns = f->losses[i].to_ns;
	}
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* A member of an object that is not the first. */
static int write_text(struct out *o, struct repair *r, const char *name, const char *s)
{
	out_str(o, ",\"");
	out_str(o, name);
	out_str(o, "\":");
	return html_string(o, r, s ? s : "", s ? strlen(s) : 0);
}

static void write_format(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void write_format(struct out *o, const char *fmt, ...)
{
	char buf[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n > 0)
		out_str(o, buf);
}

static int write_processes(const struct html_facts *f, struct out *o, struct repair *r)
{
	int err = 0;

	out_str(o, "\"processes\":[");
	for (size_t i = 0; i < f->procs.count && !err; i++) {
		const struct proc *p = ids_at(&f->procs, i);

		write_format(o, "%s\n{\"pid\":%" PRIu64 ",\"host_pid\":%u,\"nspid\":%u,\"ppid\":%u",
			     i ? "," : "", p->key, p->host_pid, p->nspid, p->ppid);
		write_format(o, ",\"rank\":%d,\"local_rank\":%d,\"source\":%u", p->rank,
			     p->local_rank, p->source);
		err = write_text(o, r, "name", p->name);
		err = err ?: write_text(o, r, "cmdline", p->cmdline);
		err = err ?: write_text(o, r, "exe", p->exe);
		err = err ?: write_text(o, r, "host", p->host);
		out_char(o, '}');
	}
	write_format(o, "],\n\"more_processes\":%" PRIu64 ",\n", f->more_procs);
	return err;
}

static int write_sources(const struct html_facts *f, struct out *o, struct repair *r)
{
	int err = 0;

	out_str(o, "\"sources\":[");
	for (size_t i = 0; i < f->sources.count && !err; i++) {
		const struct source *src = ids_at(&f->sources, i);

		write_format(o, "%s\n{\"number\":%" PRIu64 ",\"shift_ns\":\"%" PRId64 "\"",
			     i ? "," : "", src->key, src->shift_ns);
		err = write_text(o, r, "name", src->name);
		err = err ?: write_text(o, r, "host", src->host);
		err = err ?: write_text(o, r, "version", src->version);
		err = err ?: write_text(o, r, "kernel", src->kernel);
		err = err ?: write_text(o, r, "ended", src->ended);
		out_char(o, '}');
	}
	out_str(o, "],\n");
	return err;
}

/* [[pid, id, "text"], ...] */
static int write_labels(const struct ids *keys, const struct ids *texts, struct out *o,
			struct repair *r)
{
	int err = 0;

	out_char(o, '[');
	for (size_t i = 0; i < keys->count && !err; i++) {
		uint64_t key = *(const uint64_t *)ids_at(keys, i);
		const struct text *t = ids_find(texts, key);

		write_format(o, "%s\n[%" PRIu64 ",%u,", i ? "," : "", key >> 32, (uint32_t)key);
		err = html_string(o, r, t && t->s ? t->s : "", t && t->s ? strlen(t->s) : 0);
		out_char(o, ']');
	}
	out_str(o, "],\n");
	return err;
}

static void write_tallies(const struct html_facts *f, struct out *o)
{
	out_str(o, "\"tallies\":[");
	for (size_t i = 0; i < f->tallies.count; i++) {
		const struct count *c = ids_at(&f->tallies, i);
		enum tally_kind kind = (enum tally_kind)(c->key >> 40);
		bool has_func = kind != TALLY_LATE && kind != TALLY_BAD;

		write_format(o, "%s\n{\"kind\":\"%s\",\"count\":", i ? "," : "",
			     tally_kind_name(kind));
		html_u64(o, c->n);
		if (has_func)
			write_format(o, ",\"func\":\"%s\"", entry_name(c->key >> 32 & 0xff));
		if (kind == TALLY_FAILED)
			write_format(o, ",\"ret\":%d", (int32_t)(uint32_t)c->key);
		if (kind == TALLY_NULL_STAMP)
			write_format(o, ",\"pid\":%u", (uint32_t)c->key);
		out_char(o, '}');
	}
	out_str(o, "],\n");
}

/* [[from, to, count, "function"], ...] */
static void write_losses(const struct html_facts *f, uint64_t zero_ns, struct out *o)
{
	out_str(o, "\"losses\":[");
	for (size_t i = 0; i < f->n_losses; i++) {
		const struct html_loss *l = &f->losses[i];

		write_format(o, "%s\n[", i ? "," : "");
		html_u64(o, l->from_ns - zero_ns);
		out_char(o, ',');
		html_u64(o, l->to_ns - zero_ns);
		out_char(o, ',');
		html_u64(o, l->count);
		write_format(o, ",\"%s\"]", entry_name(l->func));
	}
	write_format(o, "],\n\"losses_joined\":%s,\n",
		     f->n_losses == HTML_LOSSES_MAX ? "true" : "false");
}

int html_facts_write(const struct html_facts *f, uint64_t zero_ns, struct out *o, struct repair *r)
{
	int err = write_processes(f, o, r);

	err = err ?: write_sources(f, o, r);
	out_str(o, "\"threads\":");
	err = err ?: write_labels(&f->threads, &f->thread_names, o, r);
	write_tallies(f, o);
	write_losses(f, zero_ns, o);
	return err;
}
