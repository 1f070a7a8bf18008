// SPDX-License-Identifier: GPL-2.0-only
#include "discover/ktypes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/cleanup.h"
#include "util/grow.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/readall.h"

/* Types have no fixed size, so one is found by its number from the nearest mark before it. */
#define MARK_EVERY 64

/* Values of struct cut.names. */
#define NAMES_TYPE 1
#define NAMES_MEMBER 2

/* BTF that was found sound: every type lies inside. */
struct types {
	const char *v;
	uint32_t len;
	const char *names;
	uint32_t names_len;
	uint32_t n;
	uint32_t *marks; /* offsets of the types 1, 1 + MARK_EVERY, ...; owned */
};

struct cut {
	struct types kernel;
	struct map names; /* hash of a name of the object's -> what it names */
	struct map ids;	  /* of the kernel's -> new ones */
	uint32_t *kept;	  /* the kernel's id of each new one, from 1 on */
	uint32_t n_kept, cap;
	struct str types, texts; /* of the result */
};

/* ---- reading ---- */

/* Bytes that follow the type itself, -1: of a kind that is not known. */
static int64_t tail_of(const struct btf_type *t)
{
	int64_t vlen = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return vlen * 12;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return vlen * 8;
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	}
	return -1;
}

/* The type at *at, which moves to the next; NULL: there is none, *at is the length if all is well.
 */
static const struct btf_type *next_type(const struct types *t, uint32_t *at)
{
	const struct btf_type *type = (const void *)(t->v + *at);
	int64_t tail;

	if (t->len - *at < sizeof(*type))
		return NULL;
	tail = tail_of(type);
	if (tail < 0 || t->len - *at - sizeof(*type) < (uint64_t)tail)
		return NULL;
	*at += sizeof(*type) + (uint32_t)tail;
	return type;
}

static const char *name_of(const struct types *t, uint32_t offset)
{
	return offset < t->names_len ? t->names + offset : "";
}

static bool is_inside(const struct btf_header *h, size_t sz, uint32_t off, uint32_t len)
{
	return (uint64_t)h->hdr_len + off + len <= sz;
}

static int types_open(struct types *t, const void *btf, size_t sz)
{
	const struct btf_header *h = btf;

	*t = (struct types){0};
	if (sz < sizeof(*h) || h->magic != BTF_MAGIC || h->version != BTF_VERSION ||
	    h->hdr_len < sizeof(*h) || h->hdr_len % 4 || h->type_off % 4 ||
	    !is_inside(h, sz, h->type_off, h->type_len) ||
	    !is_inside(h, sz, h->str_off, h->str_len) || !h->str_len)
		return -EINVAL;
	t->v = (const char *)btf + h->hdr_len + h->type_off;
	t->len = h->type_len;
	t->names = (const char *)btf + h->hdr_len + h->str_off;
	t->names_len = h->str_len;
	return t->names[t->names_len - 1] ? -EINVAL : 0;
}

/* The type of that number; NULL: there is none. */
static const struct btf_type *find_type(const struct types *t, uint32_t id)
{
	const struct btf_type *type = NULL;
	uint32_t at;

	if (!id || id > t->n)
		return NULL;
	at = t->marks[(id - 1) / MARK_EVERY];
	for (uint32_t i = 0; i <= (id - 1) % MARK_EVERY; i++)
		type = next_type(t, &at);
	return type;
}

/* ---- what is wanted ---- */

/* The name without what CO-RE takes for a variant of it: x of x___old. */
static uint64_t key_of(const char *name)
{
	size_t len = *name != '\0';

	while (name[len] && (name[len] != '_' || name[len + 1] != '_' || name[len + 2] != '_'))
		len++;
	return hash_bytes(0, name, len);
}

static int want_name(struct cut *c, const char *name, uint64_t as)
{
	uint64_t key = key_of(name);

	return *name ? map_set(&c->names, key, map_get(&c->names, key) | as) : 0;
}

static bool is_composite(const struct btf_type *t)
{
	uint32_t kind = BTF_INFO_KIND(t->info);

	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

/* Of these kinds are the types that a relocation can name. */
static bool has_type_name(const struct btf_type *t)
{
	uint32_t kind = BTF_INFO_KIND(t->info);

	return t->name_off &&
	       (is_composite(t) || kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_ENUM ||
		kind == BTF_KIND_ENUM64 || kind == BTF_KIND_INT || kind == BTF_KIND_FWD);
}

static int want_names(struct cut *c, const struct types *wanted)
{
	const struct btf_type *t;
	uint32_t at = 0;
	int err = 0;

	while (!err && (t = next_type(wanted, &at))) {
		const struct btf_member *m = (const void *)(t + 1);

		if (has_type_name(t))
			err = want_name(c, name_of(wanted, t->name_off), NAMES_TYPE);
		for (uint32_t i = 0; !err && is_composite(t) && i < BTF_INFO_VLEN(t->info); i++)
			err = want_name(c, name_of(wanted, m[i].name_off), NAMES_MEMBER);
	}
	return err ?: at == wanted->len ? 0 : -EINVAL;
}

static bool is_wanted(const struct cut *c, uint32_t name_off, uint64_t as)
{
	return map_get(&c->names, key_of(name_of(&c->kernel, name_off))) & as;
}

/* ---- what is kept ---- */

/* The new number of a type of the kernel's, which is kept from now on. */
static int keep(struct cut *c, uint32_t id, uint32_t *new_id)
{
	int err;

	*new_id = (uint32_t)map_get(&c->ids, id);
	if (!id || *new_id)
		return 0;
	if (!find_type(&c->kernel, id))
		return -EINVAL;
	err = grow_table(c->kept, c->n_kept, c->cap, 128);
	err = err ?: map_set(&c->ids, id, c->n_kept + 1);
	if (!err) {
		c->kept[c->n_kept++] = id;
		*new_id = c->n_kept;
	}
	return err;
}

/* Marks places in the kernel's types on the way, for find_type(). */
static int keep_named(struct cut *c)
{
	struct types *k = &c->kernel;
	const struct btf_type *t;
	uint32_t at = 0, was = 0, new_id;
	int err = 0;

	k->marks = calloc(k->len / sizeof(*t) / MARK_EVERY + 1, sizeof(*k->marks));
	if (!k->marks)
		return -ENOMEM;
	while (!err && (t = next_type(k, &at))) {
		if (k->n % MARK_EVERY == 0)
			k->marks[k->n / MARK_EVERY] = was;
		k->n++;
		was = at;
		if (has_type_name(t) && is_wanted(c, t->name_off, NAMES_TYPE))
			err = keep(c, k->n, &new_id);
	}
	return err ?: at == k->len ? 0 : -EINVAL;
}

/* ---- writing ---- */

static uint32_t put_name(struct cut *c, uint32_t name_off)
{
	const char *name = name_of(&c->kernel, name_off);
	uint32_t at = (uint32_t)c->texts.len;

	if (!*name)
		return 0;
	str_add(&c->texts, name, strlen(name) + 1);
	return at;
}

static int put_array(struct cut *c, const struct btf_type *t, const struct btf_type *head)
{
	struct btf_array a;
	int err;

	memcpy(&a, t + 1, sizeof(a));
	err = keep(c, a.type, &a.type);
	err = err ?: keep(c, a.index_type, &a.index_type);
	str_add(&c->types, head, sizeof(*head));
	str_add(&c->types, &a, sizeof(a));
	return err;
}

/* Members without a name are structures that can have some that are wanted. */
static bool is_kept(const struct cut *c, const struct btf_member *m)
{
	return !*name_of(&c->kernel, m->name_off) || is_wanted(c, m->name_off, NAMES_MEMBER);
}

static int put_composite(struct cut *c, const struct btf_type *t, struct btf_type *head)
{
	const struct btf_member *m = (const void *)(t + 1), *end = m + BTF_INFO_VLEN(t->info);
	uint32_t n = 0;
	int err = 0;

	for (const struct btf_member *i = m; i < end; i++)
		n += is_kept(c, i);
	head->info = (t->info & ~0xffffu) | n;
	str_add(&c->types, head, sizeof(*head));
	for (; m < end && !err; m++) {
		struct btf_member out = *m;

		if (!is_kept(c, m))
			continue;
		out.name_off = put_name(c, m->name_off);
		err = keep(c, m->type, &out.type);
		str_add(&c->types, &out, sizeof(out));
	}
	return err;
}

/* Of both sizes: a name comes first. */
static void put_enum(struct cut *c, const struct btf_type *t, const struct btf_type *head)
{
	size_t n = BTF_INFO_VLEN(t->info), sz = n ? (size_t)tail_of(t) / n : 0;
	const char *v = (const char *)(t + 1);

	str_add(&c->types, head, sizeof(*head));
	for (size_t i = 0; i < n; i++, v += sz) {
		uint32_t name;

		memcpy(&name, v, sizeof(name));
		name = put_name(c, name);
		str_add(&c->types, &name, sizeof(name));
		str_add(&c->types, v + sizeof(name), sz - sizeof(name));
	}
}

static int put_type(struct cut *c, const struct btf_type *t)
{
	struct btf_type head = *t;
	int err = 0;

	head.name_off = put_name(c, t->name_off);
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_ARRAY:
		return put_array(c, t, &head);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return put_composite(c, t, &head);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		put_enum(c, t, &head);
		return 0;
	case BTF_KIND_FUNC_PROTO:
		head.info &= ~0xffffu;
		head.type = 0;
		break;
	case BTF_KIND_PTR:
		head.type = 0;
		break;
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		err = keep(c, t->type, &head.type);
		break;
	case BTF_KIND_INT:
	case BTF_KIND_FWD:
	case BTF_KIND_FLOAT:
		break;
	default:
		return -EINVAL; /* a type is never made of these */
	}
	str_add(&c->types, &head, sizeof(head));
	str_add(&c->types, t + 1, (size_t)tail_of(t) * (BTF_INFO_KIND(head.info) == BTF_KIND_INT));
	return err;
}

static int put_all(struct cut *c, struct str *out)
{
	struct btf_header h = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h)};
	int err = 0;

	str_putc(&c->texts, '\0');
	for (uint32_t i = 0; i < c->n_kept && !err; i++) /* it grows meanwhile */
		err = put_type(c, find_type(&c->kernel, c->kept[i]));
	h.type_len = h.str_off = (uint32_t)c->types.len;
	h.str_len = (uint32_t)c->texts.len;
	str_add(out, &h, sizeof(h));
	str_add(out, str_get(&c->types), c->types.len);
	str_add(out, str_get(&c->texts), c->texts.len);
	return err ?: c->types.err ?: c->texts.err ?: out->err;
}

int ktypes_cut(const void *kernel, size_t kernel_sz, const void *wanted, size_t wanted_sz,
	       struct str *out)
{
	struct types own;
	struct cut c = {0};
	int err = types_open(&own, wanted, wanted_sz);

	err = err ?: types_open(&c.kernel, kernel, kernel_sz);
	err = err ?: want_names(&c, &own);
	err = err ?: keep_named(&c);
	err = err ?: put_all(&c, out);
	free(c.kernel.marks);
	free(c.kept);
	map_free(&c.names);
	map_free(&c.ids);
	str_free(&c.types);
	str_free(&c.texts);
	return err;
}

/* ---- files ---- */

bool ktypes_there(void)
{
	struct stat st;

	return !stat(KTYPES_PATH, &st) && st.st_size;
}

/*
 * The kernel's types, to be unmapped; NULL with errno. Before 6.16 they can only be read: into
 * pages that are all there, since a fault for each takes longer than reading.
 */
static void *map_types(size_t *sz)
{
	_fd_ int fd = open(KTYPES_PATH, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n;
	void *p;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	*sz = (size_t)st.st_size;
	p = mmap(NULL, *sz, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p != MAP_FAILED)
		return p;
	p = mmap(NULL, *sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
		 0);
	if (p == MAP_FAILED)
		return NULL;
	n = readall(fd, p, *sz);
	if (n == (ssize_t)*sz)
		return p;
	munmap(p, *sz);
	errno = n < 0 ? (int)-n : ENODATA;
	return NULL;
}

int ktypes_open(const void *wanted, size_t wanted_sz)
{
	_fd_ int fd = -1;
	_str_ struct str out = {0};
	size_t sz;
	void *all = map_types(&sz);
	int err;

	if (!all)
		return -errno;
	err = ktypes_cut(all, sz, wanted, wanted_sz, &out);
	munmap(all, sz);
	if (err)
		return err;
	fd = memfd_create("acltap_types", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, out.s, out.len) != (ssize_t)out.len)
		return -ENOSPC;
	return take_fd(&fd);
}
