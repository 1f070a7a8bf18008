// SPDX-License-Identifier: GPL-2.0-only
#include "sink/pack.h"

#include <errno.h>
#include <string.h>

/* What follows the fixed part. */
enum {
	HAS_END = 1 << 0,
	HAS_RET = 1 << 1,
	UNREADABLE = 1 << 2,
	CUT = 1 << 3,
	HAS_DOMAIN = 1 << 4,
	HAS_STAMP = 1 << 5,   /* category or payload are not 0 */
	HAS_END_TID = 1 << 6, /* differs from start_tid */
};

/* 7 bits a byte, the lowest first; the top bit says that more follow. */
static unsigned char *put_var(unsigned char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (unsigned char)v;
	return p;
}

struct source {
	const unsigned char *p, *end;
	int err;
};

static uint64_t get_var(struct source *s)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 64 && s->p < s->end; shift += 7) {
		unsigned char c = *s->p++;

		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return v;
	}
	s->err = -EIO;
	return 0;
}

static const unsigned char *get_bytes(struct source *s, uint64_t n)
{
	const unsigned char *p = s->p;

	if (n > (size_t)(s->end - s->p)) {
		s->err = -EIO;
		return p;
	}
	s->p += n;
	return p;
}

static unsigned int flags_of(const struct span *sp)
{
	return (sp->has_end ? HAS_END : 0) | (sp->has_ret ? HAS_RET : 0) |
	       (sp->unreadable ? UNREADABLE : 0) | (sp->cut ? CUT : 0) |
	       (sp->domain ? HAS_DOMAIN : 0) |
	       (sp->category || sp->payload.type || sp->payload.len ? HAS_STAMP : 0) |
	       (sp->end_tid != sp->start_tid ? HAS_END_TID : 0);
}

static unsigned char *put_stamp(unsigned char *p, const struct span *sp)
{
	p = put_var(p, sp->category);
	p = put_var(p, (uint32_t)sp->payload.type);
	*p++ = sp->payload.len;
	memcpy(p, sp->payload.bytes, sizeof(sp->payload.bytes));
	return p + sizeof(sp->payload.bytes);
}

static void get_stamp(struct source *s, struct span *sp)
{
	const unsigned char *bytes;

	sp->category = (uint32_t)get_var(s);
	sp->payload.type = (int32_t)(uint32_t)get_var(s);
	bytes = get_bytes(s, 1 + sizeof(sp->payload.bytes));
	if (s->err)
		return;
	sp->payload.len = bytes[0];
	memcpy(sp->payload.bytes, bytes + 1, sizeof(sp->payload.bytes));
}

size_t pack_span(const struct span *sp, uint64_t tag, unsigned char *start)
{
	unsigned int flags = flags_of(sp);
	unsigned char *p = start;

	*p++ = (unsigned char)(sp->kind << 4 | sp->status);
	*p++ = (unsigned char)flags;
	p = put_var(p, sp->start_ns);
	p = put_var(p, sp->depth);
	p = put_var(p, sp->pid);
	p = put_var(p, sp->start_tid);
	p = put_var(p, sp->seq);
	p = put_var(p, sp->id);
	p = put_var(p, sp->parent ? sp->id - sp->parent + 1 : 0);
	/* Also of what has no end, so that the copy is the same; it wraps when it is before. */
	p = put_var(p, sp->end_ns - sp->start_ns);
	p = put_var(p, tag);
	if (flags & HAS_END_TID)
		p = put_var(p, sp->end_tid);
	if (flags & HAS_STAMP)
		p = put_stamp(p, sp);
	if (flags & HAS_RET)
		p = put_var(p, (uint32_t)sp->ret);
	p = put_var(p, sp->name_len);
	if (sp->name_len)
		memcpy(p, sp->name, sp->name_len);
	p += sp->name_len;
	if (flags & HAS_DOMAIN) {
		size_t n = strnlen(sp->domain, PACK_DOMAIN_MAX);

		p = put_var(p, n);
		memcpy(p, sp->domain, n);
		p += n;
		*p++ = '\0';
	}
	return (size_t)(p - start);
}

static void get_texts(struct source *s, struct span *sp, unsigned int flags)
{
	sp->name_len = (uint16_t)get_var(s);
	sp->name = (const char *)get_bytes(s, sp->name_len);
	if (flags & HAS_DOMAIN) {
		uint64_t n = get_var(s);

		sp->domain = (const char *)get_bytes(s, n < PACK_MAX ? n + 1 : UINT64_MAX);
		if (!s->err && sp->domain[n])
			s->err = -EIO;
	}
}

int unpack_span(const unsigned char *p, size_t n, struct span *sp, uint64_t *tag)
{
	struct source s = {p + 2, p + n, 0};
	unsigned int flags;
	uint64_t back;

	if (n < 2)
		return -EIO;
	flags = p[1];
	*sp = (struct span){
		.kind = p[0] >> 4,
		.status = p[0] & 15,
		.has_end = flags & HAS_END,
		.has_ret = flags & HAS_RET,
		.unreadable = flags & UNREADABLE,
		.cut = flags & CUT,
	};
	sp->start_ns = get_var(&s);
	sp->depth = (uint32_t)get_var(&s);
	sp->pid = (uint32_t)get_var(&s);
	sp->start_tid = (uint32_t)get_var(&s);
	sp->seq = (uint32_t)get_var(&s);
	sp->id = get_var(&s);
	back = get_var(&s);
	sp->parent = back ? sp->id - (back - 1) : 0;
	sp->end_ns = sp->start_ns + get_var(&s);
	*tag = get_var(&s);
	sp->end_tid = flags & HAS_END_TID ? (uint32_t)get_var(&s) : sp->start_tid;
	if (flags & HAS_STAMP)
		get_stamp(&s, sp);
	if (flags & HAS_RET)
		sp->ret = (int32_t)(uint32_t)get_var(&s);
	get_texts(&s, sp, flags);
	return s.err;
}
