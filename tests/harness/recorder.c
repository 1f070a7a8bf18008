// SPDX-License-Identifier: GPL-2.0-only
#include "harness/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "harness/evscript.h"

int recorder_init(struct recorder *r, unsigned int what)
{
	*r = (struct recorder){.what = what, .text = calloc(1, 64), .room = 64};
	return r->text ? 0 : -ENOMEM;
}

void recorder_free(struct recorder *r)
{
	free(r->text);
	r->text = NULL;
}

static int put_bytes(struct recorder *r, const char *s, size_t n)
{
	if (r->len + n + 1 > r->room) {
		size_t room = 2 * (r->len + n + 1);
		char *text = realloc(r->text, room);

		if (!text)
			return -ENOMEM;
		r->text = text;
		r->room = room;
	}
	memcpy(r->text + r->len, s, n);
	r->len += n;
	r->text[r->len] = 0;
	return 0;
}

__attribute__((format(printf, 2, 3))) static int put(struct recorder *r, const char *fmt, ...)
{
	char buf[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(buf))
		return -EOVERFLOW;
	return put_bytes(r, buf, (size_t)n);
}

static int put_quoted(struct recorder *r, const char *s, size_t n)
{
	int err = put(r, "\"");

	for (size_t i = 0; i < n && !err; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			err = put(r, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			err = put(r, "\\x%02x", c);
		else
			err = put_bytes(r, s + i, 1);
	}
	return err ? err : put(r, "\"");
}

static void check_place(struct recorder *r)
{
	r->before_begin += r->begins != 1 || r->ends;
}

static int put_payload(struct recorder *r, const struct payload *p)
{
	int err = put(r, " payload=%d:", p->type);

	for (uint8_t i = 0; i < p->len && !err; i++)
		err = put(r, "%02x", p->bytes[i]);
	return err;
}

static int put_extras(struct recorder *r, const struct span *sp)
{
	int err = 0;

	if (sp->end_tid != sp->start_tid)
		err = put(r, " ->%u", sp->end_tid);
	if (!err && sp->depth)
		err = put(r, " depth=%u", sp->depth);
	if (!err && sp->parent)
		err = put(r, " parent=#%" PRIu64, sp->parent);
	if (!err && sp->category)
		err = put(r, " category=%u", sp->category);
	if (!err && (sp->payload.len || sp->payload.type))
		err = put_payload(r, &sp->payload);
	if (!err && sp->has_ret)
		err = put(r, " ret=%d", sp->ret);
	if (!err && sp->domain)
		err = put(r, " domain=%s", sp->domain);
	return err ? err
		   : put(r, "%s%s\n", sp->unreadable ? " unreadable" : "", sp->cut ? " cut" : "");
}

static int on_span(void *ctx, const struct span *sp)
{
	struct recorder *r = ctx;
	int err;

	check_place(r);
	if (!(r->what & REC_SPANS))
		return 0;
	if (r->what & REC_IDS)
		err = put(r, "#%" PRIu64 " ", sp->id);
	else
		err = 0;
	if (!err)
		err = put(r, "%s ", span_kind_name(sp->kind));
	if (!err)
		err = put_quoted(r, sp->name, sp->name_len);
	if (!err)
		err = put(r, " %" PRIu64, sp->start_ns);
	if (!err && (!sp->has_end || sp->end_ns != sp->start_ns || sp->kind == SPAN_PUSH_POP ||
		     sp->kind == SPAN_START_END))
		err = put(r, "..");
	if (!err && sp->has_end && r->text[r->len - 1] == '.')
		err = put(r, "%" PRIu64, sp->end_ns);
	if (!err)
		err = put(r, " %u/%u %s", sp->pid, sp->start_tid, span_status_name(sp->status));
	return err ? err : put_extras(r, sp);
}

static int on_tally(void *ctx, const struct tally *t)
{
	struct recorder *r = ctx;
	int err;

	check_place(r);
	if (!(r->what & (t->kind == TALLY_CALL ? REC_CALLS : REC_TALLIES)))
		return 0;
	err = put(r, "%s", tally_kind_name(t->kind));
	if (!err && t->kind != TALLY_NULL_STAMP && t->kind != TALLY_LATE && t->kind != TALLY_BAD)
		err = put(r, " %s", entry_name(t->func));
	if (!err && t->pid)
		err = put(r, " pid=%u", t->pid);
	if (!err && t->ret)
		err = put(r, " ret=%d", t->ret);
	if (!err)
		err = put(r, " %" PRIu64, t->count);
	if (!err && (t->from_ns || t->to_ns))
		err = put(r, " %" PRIu64 "..%" PRIu64, t->from_ns, t->to_ns);
	return err ? err : put(r, "\n");
}

static int on_process(void *ctx, const struct process *p)
{
	struct recorder *r = ctx;
	int err;

	check_place(r);
	if (!(r->what & REC_TRACKS))
		return 0;
	err = put(r, "process %u nspid=%u ppid=%u rank=%d ", p->pid, p->nspid, p->ppid, p->rank);
	if (!err)
		err = put_quoted(r, p->name, strlen(p->name));
	if (!err)
		err = put(r, " cmdline=");
	if (!err)
		err = put_quoted(r, p->cmdline, strlen(p->cmdline));
	if (!err)
		err = put(r, " exe=");
	if (!err)
		err = put_quoted(r, p->exe, strlen(p->exe));
	return err ? err : put(r, "\n");
}

static int put_label(struct recorder *r, const char *kind, const struct label *l)
{
	int err;

	check_place(r);
	if (!(r->what & REC_TRACKS))
		return 0;
	err = put(r, "%s %u/%u ", kind, l->pid, l->id);
	if (!err)
		err = put_quoted(r, l->text, l->len);
	return err ? err : put(r, "\n");
}

static int on_thread(void *ctx, const struct label *l)
{
	return put_label(ctx, "thread", l);
}

static int on_category(void *ctx, const struct label *l)
{
	return put_label(ctx, "category", l);
}

static int put_meta(struct recorder *r, const char *what, const struct trace_meta *m)
{
	if (!(r->what & REC_META))
		return 0;
	return put(r,
		   "%s host=%s version=%s first=%" PRIu64 "/%" PRIu64 "/%" PRIu64 " last=%" PRIu64
		   "/%" PRIu64 "/%" PRIu64 "%s\n",
		   what, m->host, m->version, m->first.mono_ns, m->first.real_ns, m->first.boot_ns,
		   m->last.mono_ns, m->last.real_ns, m->last.boot_ns,
		   m->complete ? " complete" : "");
}

static int on_begin(void *ctx, const struct trace_meta *m)
{
	struct recorder *r = ctx;

	r->begins++;
	return put_meta(r, "begin", m);
}

static int on_end(void *ctx, const struct trace_meta *m)
{
	struct recorder *r = ctx;

	r->ends++;
	return put_meta(r, "end", m);
}

struct consumer recorder_consumer(struct recorder *r)
{
	return (struct consumer){
		.ctx = r,
		.begin = on_begin,
		.process = on_process,
		.thread = on_thread,
		.category = on_category,
		.span = on_span,
		.tally = on_tally,
		.end = on_end,
	};
}

static int push(void *ctx, const void *rec, size_t sz)
{
	return pipeline_push(ctx, rec, sz);
}

int recorder_run(struct recorder *r, const struct pipeline_config *cfg, const char *script,
		 char *err, size_t errsz)
{
	const struct consumer next = recorder_consumer(r);
	struct pipeline *p;
	int ret = pipeline_new(cfg, &next, &p);

	if (ret)
		return ret;
	ret = evscript_run(script, strlen(script), push, p, err, errsz);
	if (!ret)
		ret = pipeline_finish(p, true);
	pipeline_free(p);
	return ret;
}
