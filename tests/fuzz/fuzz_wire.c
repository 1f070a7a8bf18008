// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as what comes out of the ring or of a capture, merged or not: options in the first
 * byte, then records one behind the other, each preceded by its size in two bytes. Each is handed
 * on in memory of exactly that size, so that a read beyond it is found.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/decode.h"
#include "fuzz/checker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What decode() lets through keeps its promises. */
static void check_decoded(const uint8_t *rec, size_t sz)
{
	struct message m;
	struct event ev;
	struct wire w;

	if (decode(rec, sz, &w, &ev))
		return;
	if (ev.msg < (const char *)rec || ev.msg + w.msg_len > (const char *)rec + sz)
		abort();
	m = decode_text(&ev);
	if (m.len > WIRE_MSG_MAX || (m.len && memchr(m.bytes, 0, m.len)))
		abort();
}

static void push(struct pipeline *p, const uint8_t *data, size_t size)
{
	uint8_t *rec = malloc(size ? size : 1);

	if (!rec)
		abort();
	memcpy(rec, data, size);
	check_decoded(rec, size);
	if (pipeline_push(p, rec, size))
		abort();
	free(rec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct checker checker = {0};
	struct consumer to = checker_consumer(&checker);
	struct pipeline_config cfg = {0};
	struct pipeline *p;

	if (size) {
		cfg.lifecycle = *data & 1;
		cfg.returns = *data & 2;
		cfg.merged = *data & 4;
		data++;
		size--;
	}
	if (pipeline_new(&cfg, &to, &p))
		abort();
	while (size >= 2) {
		size_t n = data[0] | (size_t)data[1] << 8;

		data += 2;
		size -= 2;
		n = n < size ? n : size;
		push(p, data, n);
		data += n;
		size -= n;
	}
	if (pipeline_finish(p, true))
		abort();
	checker_finished(&checker);
	pipeline_free(p);
	return 0;
}
