// SPDX-License-Identifier: GPL-2.0-only
#include "harness/evscript.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "harness/evparse.h"
#include "probe_config.h"

static const struct {
	const char *name, *symbol;
} short_names[] = {
	{"create", "aclprofCreateStamp"},
	{"msg", "aclprofSetStampTraceMessage"},
	{"mark", "aclprofMark"},
	{"push", "aclprofPush"},
	{"pop", "aclprofPop"},
	{"start", "aclprofRangeStart"},
	{"stop", "aclprofRangeStop"},
	{"destroy", "aclprofDestroyStamp"},
	{"mark_ex", "aclprofMarkEx"},
	{"category", "aclprofSetStampCategory"},
	{"category_name", "aclprofSetCategoryName"},
	{"payload", "aclprofSetStampPayload"},
};

static const struct {
	const char *name;
	uint8_t kind;
} verb_kinds[] = {
	{"return", WIRE_RETURN},       {"fork", WIRE_FORK},	{"exec", WIRE_EXEC},
	{"exit", WIRE_EXIT},	       {"loaded", WIRE_LOADED}, {"clock", WIRE_CLOCK},
	{"watermark", WIRE_WATERMARK}, {"loss", WIRE_LOSS},	{"count", WIRE_COUNT},
	{"fact", WIRE_FACT},
};

static const char *const fact_names[] = {
	[FACT_NAME] = "name",
	[FACT_CMDLINE] = "cmdline",
	[FACT_EXE] = "exe",
	[FACT_NSPID] = "nspid",
	[FACT_RANK] = "rank",
	[FACT_THREAD_NAME] = "thread",
	[FACT_USER] = "user",
	[FACT_PROBED] = "probed",
	[FACT_UNPROBED] = "unprobed",
	[FACT_HOST] = "host",
	[FACT_COMMAND] = "command",
	[FACT_VERSION] = "version",
	[FACT_OPTION] = "option",
	[FACT_BOOT_ID] = "boot_id",
	[FACT_CAPTURE_ID] = "capture_id",
	[FACT_PID_SPACE] = "pid_space",
	[FACT_LOCAL_RANK] = "local_rank",
	[FACT_SOURCE] = "source",
	[FACT_SHIFT] = "shift",
	[FACT_ENDED] = "ended",
	[FACT_ALIGNED] = "aligned",
	[FACT_KERNEL] = "kernel",
};

static const struct entry *function(struct word w)
{
	for (size_t i = 0; i < sizeof(short_names) / sizeof(*short_names); i++)
		if (ev_is(w, short_names[i].name))
			return entry_by_symbol(short_names[i].symbol);
	for (size_t i = 0; i < entry_count(); i++) {
		const struct entry *e = entry_get((unsigned int)i);

		if (ev_is(w, e->symbol) || (*e->python && ev_is(w, e->python)))
			return e;
	}
	return NULL;
}

/* ---- Records ------------------------------------------------------------------------------ */

static void set(const struct line *l, enum key k, uint64_t *v)
{
	if (l->has[k])
		*v = l->value[k];
}

#define OVERRIDE(l, k, field)                                                                      \
	do {                                                                                       \
		uint64_t v_ = (field);                                                             \
		set(l, k, &v_);                                                                    \
		(field) = (__typeof__(field))v_;                                                   \
	} while (0)

/* Completes s->rec.w and hands it on, with n bytes of text. */
static int emit(struct script *s, size_t n)
{
	const struct line *l = &s->line;
	struct wire *w = &s->rec.w;
	size_t sz = sizeof(*w) + n;
	uint64_t size = sz;
	int err;

	w->msg_len = (uint16_t)n;
	w->len = (uint16_t)sz;
	if (w->kind < WIRE_CLOCK) {
		err = sim_record(&s->kernel, w, l->lost);
		if (err || l->lost)
			return err;
	}
	OVERRIDE(l, K_KIND, w->kind);
	OVERRIDE(l, K_FUNC, w->func);
	OVERRIDE(l, K_SEQ, w->seq);
	OVERRIDE(l, K_GAP, w->gap);
	OVERRIDE(l, K_DEPTH, w->depth);
	OVERRIDE(l, K_MIN_DEPTH, w->min_depth);
	OVERRIDE(l, K_ARG0, w->arg0);
	OVERRIDE(l, K_ARG1, w->arg1);
	OVERRIDE(l, K_FLAGS, w->flags);
	OVERRIDE(l, K_MSG_LEN, w->msg_len);
	set(l, K_SIZE, &size);
	return s->push(s->ctx, &s->rec, size < sz ? size : sz);
}

static void head(struct script *s, uint8_t kind, uint8_t func)
{
	s->rec.w = (struct wire){
		.time_ns = s->line.time_ns,
		.tgid = s->line.tgid,
		.tid = s->line.tid,
		.kind = kind,
		.func = func,
		.flags = s->line.flags,
	};
}

static int emit_return(struct script *s, const struct entry *e)
{
	struct line *l = &s->line;
	struct wire *w = &s->rec.w;
	int err;

	head(s, WIRE_RETURN, e->func);
	OVERRIDE(l, K_AT, w->time_ns);
	w->arg0 = l->value[e->op == OP_CREATE ? K_PTR : K_RET];
	w->arg1 = (uint32_t)l->value[K_ID];
	if (e->op == OP_START && l->has[K_COPY])
		w->arg0 = (uint32_t)w->arg0 | l->value[K_COPY] << 32;
	err = emit(s, 0);
	if (w->time_ns > s->time_ns)
		s->time_ns = w->time_ns;
	return err;
}

static size_t payload(struct script *s)
{
	struct line *l = &s->line;
	size_t n = l->has[K_SIZE] && l->value[K_SIZE] <= 8 ? l->value[K_SIZE] : 8;

	l->has[K_SIZE] = false;
	if (l->has_text)
		return l->text_len < 8 ? l->text_len : 8;
	if (!l->has[K_VALUE])
		return 0;
	memcpy(s->rec.text, &l->value[K_VALUE], sizeof(uint64_t));
	return n;
}

/* The arguments as the table says, and how much of the text the kernel side keeps. */
static size_t arguments(struct script *s, const struct entry *e)
{
	struct line *l = &s->line;
	struct wire *w = &s->rec.w;
	uint64_t len = l->text_len;

	w->arg0 = l->value[K_STAMP];
	w->arg1 = (uint32_t)l->value[K_COPY];
	switch (e->op) {
	case OP_MARK_EX:
		w->arg0 = l->value[K_STREAM];
		/* fallthrough */
	case OP_MESSAGE:
		set(l, K_LEN, &len);
		w->arg1 = (uint32_t)len;
		len = l->text_len;
		break;
	case OP_STOP:
		w->arg0 = l->value[K_ID];
		return 0;
	case OP_CATEGORY:
		w->arg1 = (uint32_t)l->value[K_NUMBER];
		return 0;
	case OP_CATEGORY_NAME:
		w->arg0 = l->value[K_NUMBER];
		w->arg1 = 0;
		break;
	case OP_PAYLOAD:
		w->arg1 = (uint32_t)l->value[K_TYPE];
		return payload(s);
	default:
		return 0;
	}
	if (w->arg1 > WIRE_MSG_MAX)
		w->flags |= WIRE_F_CUT;
	return len < WIRE_MSG_MAX ? len : WIRE_MSG_MAX;
}

static int run_call(struct script *s, const struct entry *e)
{
	const struct line *l = &s->line;
	const uint16_t of_return = WIRE_F_NO_ID;
	bool returns = l->has[K_RET] || l->flags & WIRE_F_NO_ID;
	size_t n;
	int err;

	if (e->op == OP_CREATE)
		return emit_return(s, e);
	if (e->op == OP_START)
		returns |= l->has[K_ID];
	head(s, WIRE_CALL, e->func);
	s->rec.w.flags &= (uint16_t)~of_return;
	n = arguments(s, e);
	err = emit(s, n);
	return err || !returns ? err : emit_return(s, e);
}

static int run_counts(struct script *s, bool totals)
{
	uint64_t now = s->line.time_ns;
	int err = 0;

	for (unsigned int f = 0; f < PROBE_FUNCS && !err; f++) {
		while (!err && sim_loss(&s->kernel, (uint8_t)f, now, &s->rec.w))
			err = emit(s, 0);
		if (err || !totals || !s->kernel.funcs[f].total.calls)
			continue;
		head(s, WIRE_COUNT, (uint8_t)f);
		memcpy(s->rec.text, &s->kernel.funcs[f].total, sizeof(struct wire_count));
		err = emit(s, sizeof(struct wire_count));
	}
	return err;
}

static int fact(struct script *s, struct word name)
{
	for (uint32_t i = 1; i < sizeof(fact_names) / sizeof(*fact_names); i++)
		if (ev_is(name, fact_names[i]))
			s->rec.w.arg1 = i;
	return s->rec.w.arg1 ? 0 : ev_bad(s, "unknown fact");
}

/* Everything but calls. of: the word behind the verb, where the kind has one. */
static int run_kind(struct script *s, uint8_t kind, struct word of)
{
	const struct line *l = &s->line;
	const struct entry *e = of.n ? function(of) : NULL;
	struct wire_count total = {l->value[K_CALLS], l->value[K_LOST], l->value[K_LOST_RETURNS]};
	size_t n = l->text_len;
	int err;

	if ((kind == WIRE_RETURN || kind == WIRE_LOSS || kind == WIRE_COUNT) && !e)
		return ev_bad(s, "unknown function");
	if (kind == WIRE_RETURN)
		return emit_return(s, e);
	head(s, kind, e ? e->func : 0);
	if (kind == WIRE_FORK) {
		s->rec.w.arg0 = l->value[K_CHILD];
	} else if (kind == WIRE_CLOCK) {
		s->rec.w.arg0 = l->value[K_REAL];
		n = sizeof(uint64_t);
		memcpy(s->rec.text, &l->value[K_BOOT], n);
	} else if (kind == WIRE_LOSS) {
		s->rec.w.arg0 = l->value[K_FROM];
		s->rec.w.arg1 = (uint32_t)l->value[K_COUNT];
	} else if (kind == WIRE_COUNT) {
		n = sizeof(total);
		memcpy(s->rec.text, &total, n);
	} else if (kind == WIRE_FACT) {
		err = fact(s, of);
		if (err)
			return err;
	}
	return emit(s, n);
}

static int run_verb(struct script *s, struct word verb)
{
	const struct entry *e = function(verb);
	struct word of = {"", 0};
	int err;

	for (size_t i = 0; i < sizeof(verb_kinds) / sizeof(*verb_kinds); i++) {
		uint8_t kind = verb_kinds[i].kind;

		if (!ev_is(verb, verb_kinds[i].name))
			continue;
		if (kind == WIRE_RETURN || kind == WIRE_LOSS || kind == WIRE_COUNT ||
		    kind == WIRE_FACT)
			of = ev_word(s);
		err = ev_rest(s);
		return err ? err : run_kind(s, kind, of);
	}
	err = ev_rest(s);
	if (err)
		return err;
	if (ev_is(verb, "counts") || ev_is(verb, "losses"))
		return run_counts(s, ev_is(verb, "counts"));
	if (ev_is(verb, "raw"))
		return s->push(s->ctx, s->rec.text, s->line.text_len);
	return e ? run_call(s, e) : ev_bad(s, "unknown verb");
}

static int run_line(struct script *s)
{
	const char *start = s->pos;
	struct word verb, first = ev_word(s);
	int err;

	if (!first.n && s->pos == s->end)
		return 0;
	s->pos = start;
	err = ev_start(s, &verb);
	return err ? err : run_verb(s, verb);
}

int evscript_run(const char *text, size_t len, int (*push)(void *ctx, const void *rec, size_t sz),
		 void *ctx, char *err, size_t errsz)
{
	struct script *s = calloc(1, sizeof(*s));
	const char *end = text + len;
	size_t line = 0;
	int ret = 0;

	if (!s)
		return -ENOMEM;
	s->push = push;
	s->ctx = ctx;
	for (s->pos = text; s->pos < end && !ret; s->pos = s->end + 1) {
		s->end = memchr(s->pos, '\n', (size_t)(end - s->pos));
		if (!s->end)
			s->end = end;
		line++;
		ret = run_line(s);
	}
	if (errsz)
		snprintf(err, errsz, "%s%zu: %s", s->why ? "line " : "", s->why ? line : 0,
			 s->why ? s->why : "");
	if (errsz && !s->why)
		err[0] = 0;
	sim_free(&s->kernel);
	free(s);
	return ret;
}
