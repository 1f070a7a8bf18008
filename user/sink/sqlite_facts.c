// SPDX-License-Identifier: GPL-2.0-only
/* What the database holds beside the spans: processes, counts, sources, the capture itself. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/entry.h"
#include "sink/sqlite_in.h"
#include "util/cleanup.h"
#include "util/hash.h"

static int bind_own_text(struct dbrow *row, const char *s, char **copy)
{
	struct repair r = {0};
	size_t n = strlen(s);
	int err = repair_text(&r, &s, &n);

	*copy = r.buf;
	if (n)
		dbrow_text(row, s, n);
	else
		dbrow_null(row);
	return err;
}

int sqlite_process(struct sink *s, const struct process *p)
{
	struct db *d = (struct db *)s;
	struct dbrow row = sqlite_row(d, INSERT_PROCESS);
	_free_ char *name = NULL, *cmdline = NULL, *exe = NULL, *host = NULL;
	int err;

	dbrow_int(&row, p->pid);
	dbrow_int_if(&row, p->nspid, p->nspid);
	dbrow_int_if(&row, p->ppid, p->ppid);
	dbrow_int_if(&row, p->rank >= 0, p->rank);
	err = bind_own_text(&row, p->name, &name);
	if (!err)
		err = bind_own_text(&row, p->cmdline, &cmdline);
	if (!err)
		err = bind_own_text(&row, p->exe, &exe);
	dbrow_int_if(&row, p->local_rank >= 0, p->local_rank);
	if (!err)
		err = bind_own_text(&row, p->host ?: "", &host);
	dbrow_int(&row, p->host_pid ? p->host_pid : p->pid);
	dbrow_int_if(&row, p->source, p->source);
	return err ? err : sqlite_insert(d, &row);
}

static int insert_program(struct db *d, size_t number, const struct version *p)
{
	struct dbrow row = sqlite_row(d, INSERT_PROGRAM);
	_free_ char *name = NULL, *host = NULL;
	int err;

	dbrow_int(&row, (int64_t)number);
	dbrow_int(&row, p->pid);
	err = bind_own_text(&row, p->name ?: "", &name);
	dbrow_int_if(&row, p->rank >= 0, p->rank);
	err = err ?: bind_own_text(&row, p->host ?: "", &host);
	dbrow_int(&row, p->host_pid);
	return err ? err : sqlite_insert(d, &row);
}

int sqlite_programs(struct db *d)
{
	const struct versions *f = d->sink.versions;
	int err = 0;

	for (size_t i = 0; i < f->n_processes && !err; i++)
		if (f->processes[i].used)
			err = insert_program(d, i + 1, &f->processes[i]);
	return err;
}

static int insert_label(struct db *d, enum statement which, const struct label *l)
{
	struct dbrow row = sqlite_row(d, which);
	int err;

	dbrow_int(&row, l->pid);
	dbrow_int(&row, l->id);
	err = sqlite_bind_text(d, &row, l->text, l->len);
	return err ? err : sqlite_insert(d, &row);
}

int sqlite_thread(struct sink *s, const struct label *l)
{
	return insert_label((struct db *)s, INSERT_THREAD, l);
}

int sqlite_category(struct sink *s, const struct label *l)
{
	return insert_label((struct db *)s, INSERT_CATEGORY, l);
}

int sqlite_tally(struct sink *s, const struct tally *t)
{
	struct db *d = (struct db *)s;
	struct dbrow row = sqlite_row(d, INSERT_COUNT);
	const char *kind = tally_kind_name(t->kind), *func = entry_name(t->func);

	dbrow_text(&row, kind, strlen(kind));
	if (t->kind == TALLY_LATE || t->kind == TALLY_BAD)
		dbrow_null(&row);
	else
		dbrow_text(&row, func, strlen(func));
	dbrow_int_if(&row, t->pid, t->pid);
	dbrow_int_if(&row, t->kind == TALLY_FAILED, t->ret);
	dbrow_int(&row, (int64_t)t->count);
	dbrow_int_if(&row, t->to_ns, (int64_t)t->from_ns);
	dbrow_int_if(&row, t->to_ns, (int64_t)t->to_ns);
	dbrow_int_if(&row, t->source, t->source);
	return sqlite_insert(d, &row);
}

/* ---- Sources of a merged trace ------------------------------------------------------------- */

/* The row of HOST_INFO, one for each running kernel; hosts of old captures by their name. */
static int host_uid(struct db *d, const struct trace_source *src, char uid[24])
{
	const char *key = *src->boot_id ? src->boot_id : src->host;
	size_t before = d->hosts.count;
	const struct host *h = ids_get(&d->hosts, hash_str(key));
	struct dbrow row = sqlite_row(d, INSERT_HOST);
	_free_ char *host = NULL;
	int err;

	if (!h)
		return -ENOMEM;
	snprintf(uid, 24, "%zu", (size_t)((const char *)h - d->hosts.entries) / sizeof(*h));
	if (d->hosts.count == before)
		return 0;
	dbrow_text(&row, uid, strlen(uid));
	err = bind_own_text(&row, src->host, &host);
	return err ? err : sqlite_insert(d, &row);
}

int sqlite_source(struct sink *s, const struct trace_source *src)
{
	struct db *d = (struct db *)s;
	struct dbrow row = sqlite_row(d, INSERT_SOURCE);
	_free_ char *name = NULL, *host = NULL, *boot = NULL, *version = NULL, *ended = NULL;
	char uid[24];
	int err = host_uid(d, src, uid);

	dbrow_int(&row, src->number);
	err = err ?: bind_own_text(&row, src->name, &name);
	dbrow_text(&row, uid, strlen(uid));
	err = err ?: bind_own_text(&row, src->host, &host);
	err = err ?: bind_own_text(&row, src->boot_id, &boot);
	err = err ?: bind_own_text(&row, src->version, &version);
	dbrow_int(&row, src->shift_ns);
	dbrow_int(&row, (int64_t)src->first.mono_ns);
	dbrow_int(&row, (int64_t)src->first.real_ns);
	dbrow_int(&row, (int64_t)src->last.mono_ns);
	dbrow_int(&row, (int64_t)src->last.real_ns);
	err = err ?: bind_own_text(&row, src->ended, &ended);
	return err ? err : sqlite_insert(d, &row);
}

/* ---- The capture --------------------------------------------------------------------------- */

static int insert_fact(struct db *d, const char *name, int64_t v)
{
	struct dbrow row = sqlite_row(d, INSERT_FACT);

	dbrow_text(&row, name, strlen(name));
	dbrow_int(&row, v);
	return sqlite_insert(d, &row);
}

static int insert_text_fact(struct db *d, const char *name, const char *text)
{
	struct dbrow row = sqlite_row(d, INSERT_FACT);
	int err;

	dbrow_text(&row, name, strlen(name));
	err = sqlite_bind_text(d, &row, text, strlen(text));
	return err ? err : sqlite_insert(d, &row);
}

int sqlite_facts(struct db *d, const struct trace_meta *meta)
{
	const struct {
		const char *name;
		uint64_t v;
	} facts[] = {
		{"complete", meta->complete},
		{"firstMonotonicNs", meta->first.mono_ns},
		{"firstRealNs", meta->first.real_ns},
		{"firstBoottimeNs", meta->first.boot_ns},
		{"lastMonotonicNs", meta->last.mono_ns},
		{"lastRealNs", meta->last.real_ns},
		{"lastBoottimeNs", meta->last.boot_ns},
	};
	int err = insert_text_fact(d, "host", meta->host);

	if (!err)
		err = insert_text_fact(d, "version", meta->version);
	if (!err && meta->sources)
		err = insert_text_fact(d, "aligned", meta->aligned);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && !err; i++)
		err = insert_fact(d, facts[i].name, (int64_t)facts[i].v);
	return err;
}
