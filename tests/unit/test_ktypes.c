// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "discover/ktypes.h"
#include "util/cleanup.h"

#define INFO(kind, vlen) ((uint32_t)(kind) << 24 | (vlen))

/* ---- BTF as it is written ---- */

struct btf {
	struct str types, names;
	uint32_t n;
};

static uint32_t text(struct btf *b, const char *name)
{
	uint32_t at;

	if (!b->names.len)
		str_putc(&b->names, '\0');
	at = (uint32_t)b->names.len;
	if (!*name)
		return 0;
	str_add(&b->names, name, strlen(name) + 1);
	return at;
}

/* Returns its number; what belongs to it follows. */
static uint32_t type(struct btf *b, const char *name, uint32_t info, uint32_t size_or_type)
{
	const uint32_t head[] = {text(b, name), info, size_or_type};

	str_add(&b->types, head, sizeof(head));
	return ++b->n;
}

static void word(struct btf *b, uint32_t v)
{
	str_add(&b->types, &v, sizeof(v));
}

static void member(struct btf *b, const char *name, uint32_t of, uint32_t bits)
{
	word(b, text(b, name));
	word(b, of);
	word(b, bits);
}

static uint32_t integer(struct btf *b, const char *name)
{
	uint32_t id = type(b, name, INFO(BTF_KIND_INT, 0), 4);

	word(b, 32);
	return id;
}

static void finish(struct btf *b, struct str *out)
{
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = sizeof(h),
			       .type_len = (uint32_t)b->types.len,
			       .str_off = (uint32_t)b->types.len};

	text(b, "");
	h.str_len = (uint32_t)b->names.len;
	str_add(out, &h, sizeof(h));
	str_add(out, b->types.s, b->types.len);
	str_add(out, b->names.s, b->names.len);
	str_free(&b->types);
	str_free(&b->names);
}

/* ---- BTF as it is read: another reader than the one that is tested ---- */

static const struct btf_type *nth(const struct str *btf, uint32_t id)
{
	const struct btf_header *h = (const void *)btf->s;
	const char *p = btf->s + h->hdr_len + h->type_off;
	const char *end = p + h->type_len;

	while (p < end && --id) {
		const struct btf_type *t = (const void *)p;
		uint32_t kind = BTF_INFO_KIND(t->info), vlen = BTF_INFO_VLEN(t->info);

		p += sizeof(*t);
		if (kind == BTF_KIND_INT)
			p += 4;
		else if (kind == BTF_KIND_ARRAY)
			p += 12;
		else if (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION ||
			 kind == BTF_KIND_ENUM64)
			p += 12 * vlen;
		else if (kind == BTF_KIND_ENUM)
			p += 8 * vlen;
	}
	return p < end ? (const void *)p : NULL;
}

static const char *name_at(const struct str *btf, uint32_t off)
{
	const struct btf_header *h = (const void *)btf->s;

	assert_true(off < h->str_len);
	return btf->s + h->hdr_len + h->str_off + off;
}

static const struct btf_type *named(const struct str *btf, const char *name)
{
	const struct btf_type *t;

	for (uint32_t id = 1; (t = nth(btf, id)); id++)
		if (!strcmp(name_at(btf, t->name_off), name))
			return t;
	return NULL;
}

/* The member as "name@bits:kind of its type", of all members one after another. */
static const char *members(const struct str *btf, const struct btf_type *t)
{
	static char buf[256];
	const struct btf_member *m = (const void *)(t + 1);
	int len = 0;

	assert_non_null(t);
	*buf = '\0';
	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++) {
		const struct btf_type *of = nth(btf, m[i].type);

		assert_non_null(of);
		len += snprintf(buf + len, sizeof(buf) - (size_t)len, "%s%s@%u:%u", i ? " " : "",
				name_at(btf, m[i].name_off), m[i].offset, BTF_INFO_KIND(of->info));
	}
	return buf;
}

static const struct btf_type *type_of_member(const struct str *btf, const char *of, uint32_t i)
{
	return nth(btf, ((const struct btf_member *)(named(btf, of) + 1))[i].type);
}

/* ---- the tests ---- */

/* struct task { int tgid; struct mm *mm; }, struct mm { int x; } */
static void own_types(struct str *out)
{
	struct btf b = {0};
	uint32_t num = integer(&b, "int");

	type(&b, "task___new", INFO(BTF_KIND_STRUCT, 2), 16);
	member(&b, "tgid", num, 0);
	member(&b, "mm", num + 2, 64);
	type(&b, "", INFO(BTF_KIND_PTR, 0), num + 3);
	type(&b, "mm", INFO(BTF_KIND_STRUCT, 1), 4);
	member(&b, "x", num, 0);
	finish(&b, out);
}

/* Forward references, a structure without a name, and much that nobody asked for. */
static void kernel_types(struct btf *b)
{
	uint32_t num;

	for (int i = 0; i < 200; i++) {
		char name[24];

		snprintf(name, sizeof(name), "other%d", i);
		type(b, name, INFO(BTF_KIND_STRUCT, 1), 8);
		member(b, "tgid", 201, 0);
	}
	num = integer(b, "unsigned int"); /* 201 */
	type(b, "task", INFO(BTF_KIND_STRUCT, 4), 64);
	member(b, "state", num, 0);
	member(b, "tgid", num + 2, 96); /* pid_t */
	member(b, "mm", num + 4, 256);
	member(b, "", num + 6, 384);
	type(b, "pid_t", INFO(BTF_KIND_TYPEDEF, 0), num + 3);
	type(b, "raw_pid_t", INFO(BTF_KIND_TYPEDEF, 0), num);
	type(b, "", INFO(BTF_KIND_PTR, 0), num + 5);
	type(b, "mm", INFO(BTF_KIND_STRUCT, 2), 128);
	member(b, "y", num, 0);
	member(b, "x", num + 7, 480);
	type(b, "", INFO(BTF_KIND_UNION, 2), 8);
	member(b, "x", num + 8, 0);
	member(b, "z", num, 0);
	type(b, "", INFO(BTF_KIND_ARRAY, 0), 0);
	word(b, num);
	word(b, num);
	word(b, 5);
	type(b, "colour", INFO(BTF_KIND_ENUM, 2), 4);
	word(b, text(b, "RED"));
	word(b, 7);
	word(b, text(b, "GREEN"));
	word(b, 9);
}

static int cut(const struct str *kernel, const struct str *own, struct str *out)
{
	return ktypes_cut(kernel->s, kernel->len, own->s, own->len, out);
}

/* What own_types() want of kernel_types(). */
static void cut_known(struct str *out)
{
	_str_ struct str kernel = {0}, own = {0};
	struct btf b = {0};

	own_types(&own);
	kernel_types(&b);
	finish(&b, &kernel);
	assert_ok(cut(&kernel, &own, out));
}

static void places_of_wanted_members_are_kept(void **state)
{
	_str_ struct str out = {0};

	(void)state;
	cut_known(&out);
	assert_string_equal(members(&out, named(&out, "task")), "tgid@96:8 mm@256:2 @384:5");
	assert_int_equal(named(&out, "task")->size, 64);
	assert_string_equal(members(&out, named(&out, "mm")), "x@480:3");
	assert_null(named(&out, "other7"));
	assert_null(named(&out, "state"));
}

static void types_of_members_are_those_of_the_kernel(void **state)
{
	_str_ struct str out = {0};
	const struct btf_type *t;

	(void)state;
	cut_known(&out);
	/* pid_t -> raw_pid_t -> unsigned int */
	t = type_of_member(&out, "task", 0);
	assert_string_equal(name_at(&out, t->name_off), "pid_t");
	t = nth(&out, t->type);
	assert_string_equal(name_at(&out, t->name_off), "raw_pid_t");
	t = nth(&out, t->type);
	assert_string_equal(name_at(&out, t->name_off), "unsigned int");
	assert_int_equal(*(const uint32_t *)(t + 1), 32);
	/* void * */
	assert_int_equal(type_of_member(&out, "task", 1)->type, 0);
	/* unsigned int [5] */
	t = type_of_member(&out, "mm", 0);
	assert_int_equal(((const struct btf_array *)(t + 1))->nelems, 5);
	t = nth(&out, ((const struct btf_array *)(t + 1))->type);
	assert_string_equal(name_at(&out, t->name_off), "unsigned int");
	/* the union without a name: x, an enum */
	t = type_of_member(&out, "task", 2);
	assert_string_equal(members(&out, t), "x@0:6");
	assert_string_equal(name_at(&out, named(&out, "colour")->name_off), "colour");
	t = named(&out, "colour");
	assert_string_equal(name_at(&out, ((const struct btf_enum *)(t + 1))[1].name_off), "GREEN");
	assert_int_equal(((const struct btf_enum *)(t + 1))[1].val, 9);
}

/* Whatever is cut off or turned over: an error or BTF, never a read beyond (the sanitizers tell).
 */
static void damage_is_refused_or_harmless(void **state)
{
	_str_ struct str kernel = {0}, own = {0};
	struct btf b = {0};

	(void)state;
	own_types(&own);
	kernel_types(&b);
	finish(&b, &kernel);
	for (size_t n = 0; n < kernel.len; n++) {
		_free_ char *part = malloc(n); /* of that size: ASan sees its end */
		_str_ struct str out = {0};

		if (n)
			memcpy(part, kernel.s, n);
		assert_err(ktypes_cut(part, n, own.s, own.len, &out), EINVAL);
	}
	for (size_t n = 0; n < kernel.len; n++) {
		_str_ struct str out = {0};
		char was = kernel.s[n];
		int err;

		kernel.s[n] = (char)~was;
		err = cut(&kernel, &own, &out);
		assert_true(!err || err == -EINVAL);
		kernel.s[n] = was;
	}
}

static void an_unknown_kind_is_refused(void **state)
{
	_str_ struct str kernel = {0}, own = {0}, out = {0};
	struct btf b = {0};

	(void)state;
	own_types(&own);
	kernel_types(&b);
	type(&b, "", INFO(31, 0), 0);
	finish(&b, &kernel);
	assert_err(cut(&kernel, &own, &out), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_wanted_members_are_kept),
		cmocka_unit_test(types_of_members_are_those_of_the_kernel),
		cmocka_unit_test(damage_is_refused_or_harmless),
		cmocka_unit_test(an_unknown_kind_is_refused),
	};

	return RUN(tests);
}
