// SPDX-License-Identifier: GPL-2.0-only
#include "core/decode.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "core/entry.h"

bool decode_is_kernel(const struct wire *w)
{
	return w->kind < WIRE_CLOCK;
}

/* What each kind must bring along. */
static bool payload_ok(const struct wire *w)
{
	switch (w->kind) {
	case WIRE_CALL:
	case WIRE_RETURN:
		return w->func < entry_count();
	case WIRE_FORK:
		return w->arg0 && w->arg0 <= UINT32_MAX && w->arg0 != w->tgid;
	case WIRE_CLOCK:
		return w->msg_len >= sizeof(__u64);
	case WIRE_COUNT:
		return w->msg_len >= sizeof(struct wire_count);
	case WIRE_LOSS: /* also of rows that are no functions, see probe_config.h */
	case WIRE_EXEC:
	case WIRE_EXIT:
	case WIRE_LOADED:
	case WIRE_WATERMARK:
	case WIRE_FACT:
	case WIRE_DROPPED:
		return true;
	default:
		return false;
	}
}

int decode(const void *rec, size_t sz, struct wire *w, struct event *ev)
{
	if (sz < sizeof(*w))
		return -EBADMSG;
	memcpy(w, rec, sizeof(*w));
	if (w->len > sz || w->len != sizeof(*w) + w->msg_len)
		return -EBADMSG;
	/* 292 years of uptime: no clock says so, and distances of such times have no sign. */
	if (w->time_ns > INT64_MAX || !payload_ok(w))
		return -EBADMSG;
	*ev = (struct event){.w = w, .msg = (const char *)rec + sizeof(*w)};
	return 0;
}

struct message decode_text(const struct event *ev)
{
	struct message m = {
		.bytes = ev->msg,
		.len = ev->w->msg_len,
		.unreadable = ev->w->flags & WIRE_F_UNREADABLE,
		.cut = ev->w->flags & WIRE_F_CUT,
	};
	const char *nul = m.len ? memchr(m.bytes, 0, m.len) : NULL;

	if (m.len > WIRE_MSG_MAX && (!nul || nul > m.bytes + WIRE_MSG_MAX)) {
		m.len = WIRE_MSG_MAX;
		m.cut = true;
		return m;
	}
	if (nul) {
		m.len = (size_t)(nul - m.bytes);
		m.unreadable = false;
		m.cut = false;
	}
	return m;
}

bool decode_is_option(const struct event *ev, const char *text)
{
	size_t n = strnlen(ev->msg, ev->w->msg_len);

	return ev->w->kind == WIRE_FACT && ev->w->arg1 == FACT_OPTION && n == strlen(text) &&
	       !memcmp(ev->msg, text, n);
}

uint64_t decode_range_id(const struct wire *w)
{
	if (w->kind == WIRE_RETURN)
		return (w->arg0 & ~(uint64_t)UINT32_MAX) | w->arg1;
	return (uint64_t)w->arg1 << 32 | (uint32_t)w->arg0;
}
