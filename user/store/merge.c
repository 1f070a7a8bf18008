// SPDX-License-Identifier: GPL-2.0-only
/* Writing the merged capture; what is decided before is in mergeplan.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/mergeplan.h"
#include "util/log.h"
#include "util/safepath.h"
#include "util/str.h"

/* So much is written between two watermarks: readers keep it to sort it. */
#define WATERMARK_BYTES (64u << 10)

struct cursor {
	struct mergein *in;
	size_t input;
	struct mergein_record next;
};

struct writer {
	struct merge *m;
	struct capwrite *out;
	struct mergein **inputs; /* by input; NULL once it has ended */
	uint32_t *numbers;	 /* by input and source: WIRE_SOURCES_MAX + 1 each */
	struct cursor *heap;	 /* by (key, input): the first is next */
	size_t n_heap;
	size_t since; /* bytes since the last watermark */
	uint64_t last_ns;
	uint64_t done, total; /* bytes of inputs that have ended, of all */
	int in_err;	      /* an error of the input bad_input, not of the output */
	size_t bad_input;
};

/* ---- What acltap itself says --------------------------------------------------------------- */

static int put(struct writer *w, struct wire rec, const void *msg, size_t len)
{
	char buf[sizeof(rec) + 4096];

	len = len < 4096 ? len : 4096;
	rec.msg_len = (uint16_t)len;
	rec.len = (uint16_t)(sizeof(rec) + len);
	memcpy(buf, &rec, sizeof(rec));
	if (len)
		memcpy(buf + sizeof(rec), msg, len);
	return capwrite_record(w->out, buf, rec.len);
}

static int put_fact(struct writer *w, uint32_t source, enum wire_fact key, const char *text)
{
	const struct wire rec = {.kind = WIRE_FACT, .tgid = wire_tgid(source, 0), .arg1 = key};

	return *text ? put(w, rec, text, strlen(text)) : 0;
}

/* A reading of the clock that the merged timeline is of. */
static int put_clock(struct writer *w, uint64_t mono_ns)
{
	const uint64_t boot_ns = mono_ns + w->m->boot_delta;
	struct wire rec = {.kind = WIRE_CLOCK, .time_ns = mono_ns};

	rec.arg0 = mono_ns + w->m->epoch;
	return put(w, rec, &boot_ns, sizeof(boot_ns));
}

static int put_watermark(struct writer *w, uint64_t ns)
{
	const struct wire rec = {.kind = WIRE_WATERMARK, .time_ns = ns};

	w->since = 0;
	return put(w, rec, NULL, 0);
}

/* "node-a, node-b": each host once. */
static int put_hosts(struct writer *w)
{
	const struct merge *m = w->m;
	_str_ struct str text = {0};

	for (size_t i = 0; i < m->cfg.n; i++)
		for (size_t k = 0; k < m->heads[i].n_sources; k++) {
			const char *host = m->heads[i].sources[k].host;
			char known[MERGEIN_TEXT + 4], all[4096];

			snprintf(known, sizeof(known), ", %s,", host);
			snprintf(all, sizeof(all), ", %s,", str_get(&text));
			if (!*host || strstr(all, known) || text.len > 1024)
				continue;
			str_printf(&text, "%s%s", text.len ? ", " : "", host);
		}
	return text.err ? text.err : put_fact(w, 0, FACT_HOST, str_get(&text));
}

static int put_source(struct writer *w, size_t i)
{
	const struct merge_input *in = &w->m->cfg.inputs[i];
	uint32_t number = w->numbers[i * (WIRE_SOURCES_MAX + 1)];
	char shift[24];
	int err;

	if (w->m->heads[i].merged)
		return 0; /* its sources say it themselves */
	snprintf(shift, sizeof(shift), "%lld", (long long)in->shift_ns);
	err = put_fact(w, number, FACT_SOURCE, in->name);
	return err ? err : put_fact(w, number, FACT_SHIFT, shift);
}

static int put_head(struct writer *w)
{
	const struct merge *m = w->m;
	uint64_t first = UINT64_MAX;
	int err;

	for (size_t i = 0; i < m->cfg.n; i++) {
		uint64_t at = m->heads[i].first.mono_ns + (uint64_t)m->cfg.inputs[i].shift_ns;

		first = at < first ? at : first;
	}
	w->last_ns = first;
	err = put_clock(w, first);
	err = err ?: put_fact(w, 0, FACT_VERSION, ACLTAP_VERSION);
	err = err ?: put_hosts(w);
	err = err ?: put_fact(w, 0, FACT_ALIGNED, m->cfg.align ?: "clock");
	for (size_t i = 0; i < m->cfg.n && !err; i++)
		err = put_source(w, i);
	return err;
}

/* ---- The merge ----------------------------------------------------------------------------- */

static bool before(const struct cursor *a, const struct cursor *b)
{
	if (a->next.key != b->next.key)
		return a->next.key < b->next.key;
	return a->input < b->input;
}

static void sift_down(struct writer *w, size_t i)
{
	struct cursor *h = w->heap;

	for (size_t child; (child = 2 * i + 1) < w->n_heap; i = child) {
		struct cursor x;

		if (child + 1 < w->n_heap && before(&h[child + 1], &h[child]))
			child++;
		if (!before(&h[child], &h[i]))
			return;
		x = h[i];
		h[i] = h[child];
		h[child] = x;
	}
}

static void close_input(struct writer *w, size_t i)
{
	struct mergein *in = w->inputs[i];

	w->m->cfg.inputs[i].ended = mergein_ended(in);
	w->done += mergein_size(in);
	if (mergein_last_clock(in) > w->last_ns)
		w->last_ns = mergein_last_clock(in);
	mergein_close(in);
	w->inputs[i] = NULL;
}

/* The next record of the first of the heap, or one fewer in the heap. */
static int advance(struct writer *w)
{
	struct cursor *c = &w->heap[0];
	int ret = mergein_next(c->in, &c->next);

	if (ret < 0) {
		w->bad_input = c->input;
		return w->in_err = ret;
	}
	if (!ret) {
		close_input(w, c->input);
		*c = w->heap[--w->n_heap];
	}
	sift_down(w, 0);
	return 0;
}

/* What came late where it was recorded must be late here. */
static int write_record(struct writer *w, const struct mergein_record *r)
{
	int err = 0;

	if (r->late || w->since >= WATERMARK_BYTES)
		err = put_watermark(w, r->key);
	w->since += r->sz;
	return err ? err : capwrite_record(w->out, r->rec, r->sz);
}

static void tell_progress(struct writer *w)
{
	uint64_t done = w->done;

	if (!w->m->cfg.progress)
		return;
	for (size_t i = 0; i < w->m->cfg.n; i++)
		if (w->inputs[i])
			done += mergein_offset(w->inputs[i]);
	w->m->cfg.progress(w->m->cfg.ctx, done, w->total);
}

static int merge_all(struct writer *w)
{
	uint64_t n = 0;
	int err = 0;

	while (w->n_heap && !err) {
		err = write_record(w, &w->heap[0].next);
		if (!err)
			err = advance(w);
		if (!(++n & 0xffff))
			tell_progress(w);
	}
	return err ? err : put_clock(w, w->last_ns);
}

/* ---- Begin and end ------------------------------------------------------------------------- */

/* Sources get their numbers in order of the command line. */
static void number_sources(struct writer *w, uint32_t *used)
{
	for (size_t i = 0; i < w->m->cfg.n; i++)
		for (size_t k = 0; k < w->m->heads[i].n_sources; k++)
			w->numbers[i * (WIRE_SOURCES_MAX + 1) + w->m->heads[i].sources[k].number] =
				++*used;
}

static int open_input(struct writer *w, size_t i, uint32_t *used)
{
	const struct mergein_config cfg = {
		.shift_ns = w->m->cfg.inputs[i].shift_ns,
		.numbers = w->numbers + i * (WIRE_SOURCES_MAX + 1),
		.used = used,
	};
	struct cursor *c = &w->heap[w->n_heap];
	int ret = mergein_open(w->m->cfg.inputs[i].path, &cfg, &w->inputs[i]);

	if (ret)
		return ret;
	w->total += mergein_size(w->inputs[i]);
	*c = (struct cursor){.in = w->inputs[i], .input = i};
	ret = mergein_next(c->in, &c->next);
	if (ret == 1)
		w->n_heap++;
	else if (!ret)
		close_input(w, i);
	return ret < 0 ? ret : 0;
}

static int open_inputs(struct writer *w, uint32_t *used)
{
	for (size_t i = 0; i < w->m->cfg.n; i++) {
		int err = open_input(w, i, used);

		if (err) {
			w->bad_input = i;
			return w->in_err = err;
		}
	}
	for (size_t i = w->n_heap; i-- > 0;)
		sift_down(w, i);
	return 0;
}

static int write_all(struct writer *w, const char *path, bool overwrite)
{
	uint32_t used = 0;
	int err;

	number_sources(w, &used);
	/* Before the output: it may have been given the name of one of them. */
	err = open_inputs(w, &used);
	if (!err)
		err = capwrite_open_merged(path, overwrite, &w->out);
	if (err)
		return err;
	err = put_head(w);
	if (!err)
		err = merge_all(w);
	if (err) {
		capwrite_remove(w->out); /* the inputs are still there */
		return err;
	}
	err = capwrite_close(w->out);
	if (err && err != -ENOENT) /* else that name is another file's, or nobody's */
		safepath_remove(path);
	return err;
}

static void explain(const struct writer *w, int err, const char *path, char why[MERGE_WHY])
{
	const char *what = w->in_err ? "read" : "write";
	char text[LOG_ERROR_MAX];

	if (w->in_err)
		path = w->m->cfg.inputs[w->bad_input].path;
	if (err == -E2BIG)
		snprintf(why, MERGE_WHY, "'%s': more sources than the %u that one can hold", path,
			 WIRE_SOURCES_MAX);
	else
		snprintf(why, MERGE_WHY, "cannot %s '%s': %s", what, path,
			 log_error_text(err, text));
}

int merge_write(struct merge *m, const char *path, bool overwrite, char why[MERGE_WHY])
{
	struct writer w = {.m = m};
	int err = -ENOMEM;

	w.inputs = calloc(m->cfg.n, sizeof(*w.inputs));
	w.numbers = calloc(m->cfg.n * (WIRE_SOURCES_MAX + 1), sizeof(*w.numbers));
	w.heap = calloc(m->cfg.n, sizeof(*w.heap));
	if (w.inputs && w.numbers && w.heap)
		err = write_all(&w, path, overwrite);
	if (err)
		explain(&w, err, path, why);
	for (size_t i = 0; w.inputs && i < m->cfg.n; i++)
		mergein_close(w.inputs[i]);
	free(w.inputs);
	free(w.numbers);
	free(w.heap);
	return err;
}
