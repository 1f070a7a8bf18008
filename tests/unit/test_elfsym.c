// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/entry.h"
#include "discover/elfsym.h"
#include "harness/fakeelf.h"

#define PUSH "aclprofPush"
#define MARK "aclprofMark"
#define N(a) (sizeof(a) / sizeof((a)[0]))

static struct elf_scan out;

static int scan_bytes(const void *bytes, size_t len)
{
	int fd = fakeelf_fd(bytes, len);
	int err = elfsym_scan(fd, &out);

	assert_ok(close(fd)); /* still open after the scan */
	return err;
}

static int scan(const struct fakeelf *f)
{
	struct fakeelf_image img;
	int err;

	fakeelf_build(f, &img);
	err = scan_bytes(img.bytes, img.len);
	free(img.bytes);
	return err;
}

static const struct sym *row(const char *symbol)
{
	return &out.funcs[entry_by_symbol(symbol)->func];
}

static void assert_found(const char *symbol, uint64_t at)
{
	assert_int_equal(row(symbol)->state, SYM_FOUND);
	assert_int_equal(row(symbol)->vaddr, FAKEELF_CODE(at));
	assert_int_equal(row(symbol)->offset, FAKEELF_TEXT_OFFSET + at);
}

static const struct fakeelf_sym two[] = {FAKE_FUNC(PUSH, 0x40), FAKE_FUNC(MARK, 0x80)};

static void offsets_come_from_segments(void **state)
{
	const struct fakeelf f = {.syms = two, .n_syms = 2};

	(void)state;
	assert_ok(scan(&f));
	assert_int_equal(out.n_found, 2);
	assert_found(PUSH, 0x40);
	assert_found(MARK, 0x80);
	assert_int_equal(row(PUSH)->size, 16);
	assert_int_equal(row(PUSH)->same_as, -1);
	assert_false(row(PUSH)->ambiguous);
	assert_int_equal(row("aclprofPop")->state, SYM_ABSENT);
	assert_int_equal(row("aclprofPop")->same_as, -1);
	assert_false(out.is_static || out.has_mstx);
	assert_true(out.is_64);
}

static void no_section_headers_needed(void **state)
{
	static const enum fakeelf_hash kinds[] = {FAKE_GNU_HASH, FAKE_SYSV_HASH, FAKE_NO_HASH};

	(void)state;
	for (size_t i = 0; i < N(kinds); i++) {
		const struct fakeelf f = {
			.syms = two, .n_syms = 2, .hash = kinds[i], .no_sections = true};

		assert_ok(scan(&f));
		assert_int_equal(out.n_found, 2);
		assert_found(PUSH, 0x40);
		assert_found(MARK, 0x80);
	}
}

static void many_symbols_are_all_read(void **state)
{
	static struct fakeelf_sym many[100];
	struct fakeelf f = {.syms = many, .n_syms = N(many), .no_sections = true};

	(void)state;
	for (size_t i = 0; i < N(many); i++)
		many[i] = (struct fakeelf_sym)FAKE_FUNC("x", 0);
	for (size_t i = 0; i < N(many); i++) {
		many[i].name = PUSH;
		many[i].value = FAKEELF_CODE(i);
		for (int k = FAKE_GNU_HASH; k <= FAKE_NO_HASH; k++) {
			f.hash = (enum fakeelf_hash)k;
			assert_ok(scan(&f));
			assert_found(PUSH, i);
		}
		many[i].name = "x";
	}
}

static void default_version_is_taken(void **state)
{
	struct fakeelf_sym syms[] = {FAKE_FUNC(PUSH, 0x10), FAKE_FUNC(PUSH, 0x20),
				     FAKE_FUNC(PUSH, 0x30)};
	const struct fakeelf f = {.syms = syms, .n_syms = 3, .versions = true};

	(void)state;
	for (size_t def = 0; def < 3; def++) {
		for (size_t i = 0; i < 3; i++)
			syms[i].version = (uint16_t)((i + 2) | (i == def ? 0 : 0x8000));
		assert_ok(scan(&f));
		assert_found(PUSH, 0x10 + 0x10 * def);
		assert_true(row(PUSH)->ambiguous);
		assert_int_equal(out.n_found, 1);
	}
	/* Only an old version: that is the one which callers have. */
	for (size_t i = 0; i < 3; i++) {
		syms[i].version = 0x8002;
		syms[i].value = FAKEELF_CODE(0x10);
	}
	assert_ok(scan(&f));
	assert_found(PUSH, 0x10);
	assert_false(row(PUSH)->ambiguous);
}

static void static_executables_have_symtab(void **state)
{
	struct fakeelf_sym syms[] = {FAKE_FUNC(PUSH, 0x40), FAKE_FUNC(MARK, 0x80)};
	const struct fakeelf f = {.syms = syms, .n_syms = 2, .type = ET_EXEC, .no_dynamic = true};

	(void)state;
	syms[0].where = syms[1].where = FAKE_SYMTAB;
	syms[1].bind = STB_LOCAL;
	assert_ok(scan(&f));
	assert_true(out.is_static);
	assert_found(PUSH, 0x40);
	assert_found(MARK, 0x80);
}

static void static_or_not(void **state)
{
	const struct fakeelf pie = {.syms = two, .n_syms = 2, .flags_1 = DF_1_PIE};
	const struct fakeelf dynamic = {
		.syms = two, .n_syms = 2, .flags_1 = DF_1_PIE, .interp = "/lib/ld.so"};

	(void)state;
	assert_ok(scan(&pie));
	assert_true(out.is_static);
	assert_string_equal(out.interp, "");
	assert_ok(scan(&dynamic));
	assert_false(out.is_static);
	assert_string_equal(out.interp, "/lib/ld.so");
}

static void exported_beats_global_beats_local(void **state)
{
	struct fakeelf_sym syms[] = {FAKE_FUNC(PUSH, 0x10), FAKE_FUNC(PUSH, 0x20),
				     FAKE_FUNC(PUSH, 0x30)};
	struct fakeelf f = {.syms = syms, .n_syms = 3};

	(void)state;
	syms[0].where = syms[1].where = FAKE_SYMTAB;
	syms[0].bind = STB_LOCAL;
	assert_ok(scan(&f));
	assert_found(PUSH, 0x30);
	assert_false(row(PUSH)->ambiguous);
	f.n_syms = 2;
	assert_ok(scan(&f));
	assert_found(PUSH, 0x20);
	assert_false(row(PUSH)->ambiguous);
	syms[1].bind = STB_LOCAL;
	assert_ok(scan(&f));
	assert_found(PUSH, 0x10);
	assert_true(row(PUSH)->ambiguous);
}

static void refusals_have_reasons(void **state)
{
	struct fakeelf_sym syms[] = {
		FAKE_FUNC("aclprofCreateStamp", 0),
		FAKE_FUNC(MARK, 0),
		FAKE_FUNC(PUSH, 0),
		FAKE_FUNC("aclprofPop", FAKEELF_TEXT_SIZE),
		FAKE_FUNC("aclprofRangeStart", 0),
		FAKE_FUNC("aclprofRangeStop", 0x20),
	};
	const struct fakeelf f = {.syms = syms, .n_syms = N(syms)};

	(void)state;
	syms[0].shndx = SHN_UNDEF; /* with the address of a PLT stub */
	syms[1].type = STT_GNU_IFUNC;
	syms[2].type = STT_OBJECT;
	syms[4].shndx = SHN_ABS;
	syms[5].type = STT_NOTYPE;
	assert_ok(scan(&f));
	assert_int_equal(row("aclprofCreateStamp")->state, SYM_UNDEFINED);
	assert_int_equal(row(MARK)->state, SYM_IFUNC);
	assert_int_equal(row(PUSH)->state, SYM_NOT_FUNC);
	assert_int_equal(row("aclprofPop")->state, SYM_NOT_LOADED);
	assert_int_equal(row("aclprofRangeStart")->state, SYM_NOT_LOADED);
	assert_found("aclprofRangeStop", 0x20);
	assert_int_equal(out.n_found, 1);
	for (int i = SYM_ABSENT; i <= SYM_NOT_FUNC; i++)
		assert_string_not_equal(sym_state_text((enum sym_state)i), "?");
}

/* An address below the text, in a segment that is not executable. */
static void data_is_not_code(void **state)
{
	struct fakeelf_sym syms[] = {FAKE_FUNC(PUSH, 0)};
	const struct fakeelf f = {.syms = syms, .n_syms = 1};

	(void)state;
	syms[0].value = 0x40;
	assert_ok(scan(&f));
	assert_int_equal(row(PUSH)->state, SYM_NOT_LOADED);
}

static void sizes_stay_in_the_segment(void **state)
{
	struct fakeelf_sym syms[] = {FAKE_FUNC(PUSH, 0x100), FAKE_FUNC(MARK, 0x180)};
	const struct fakeelf f = {.syms = syms, .n_syms = 2};

	(void)state;
	syms[0].size = FAKEELF_TEXT_SIZE - 0x100;
	syms[1].size = UINT64_MAX;
	assert_ok(scan(&f));
	assert_found(PUSH, 0x100);
	assert_found(MARK, 0x180);
	assert_int_equal(row(PUSH)->size, FAKEELF_TEXT_SIZE - 0x100);
	assert_int_equal(row(MARK)->size, 0);
}

static void shared_code_is_marked(void **state)
{
	struct fakeelf_sym syms[] = {FAKE_FUNC(PUSH, 0x40), FAKE_FUNC(MARK, 0x40),
				     FAKE_FUNC("aclprofPop", 0x40),
				     FAKE_FUNC("aclprofRangeStop", 0x50)};
	const struct fakeelf f = {.syms = syms, .n_syms = 4};

	(void)state;
	syms[0].bind = STB_WEAK;
	syms[1].bind = STB_GNU_UNIQUE;
	assert_ok(scan(&f));
	assert_int_equal(out.n_found, 4);
	assert_int_equal(row(MARK)->same_as, -1);
	assert_int_equal(row(PUSH)->same_as, entry_by_symbol(MARK)->func);
	assert_int_equal(row("aclprofPop")->same_as, entry_by_symbol(MARK)->func);
	assert_int_equal(row("aclprofRangeStop")->same_as, -1);
}

static void mstx_is_noticed(void **state)
{
	struct fakeelf_sym syms[] = {FAKE_FUNC("mstxMarkA", 0x40)};
	const struct fakeelf f = {.syms = syms, .n_syms = 1};

	(void)state;
	assert_ok(scan(&f));
	assert_true(out.has_mstx);
	assert_int_equal(out.n_found, 0);
	syms[0].shndx = SHN_UNDEF; /* a caller, not the library */
	assert_ok(scan(&f));
	assert_false(out.has_mstx);
}

static void loader_notification(void **state)
{
	struct fakeelf_sym syms[] = {FAKE_FUNC("_dl_debug_state", 0x40), FAKE_FUNC("_r_debug", 0)};
	const struct fakeelf f = {.syms = syms, .n_syms = 2};

	(void)state;
	syms[1].type = STT_OBJECT;
	syms[1].value = 0x9000;
	assert_ok(scan(&f));
	assert_int_equal(out.dl_debug_state, FAKEELF_TEXT_OFFSET + 0x40);
	assert_int_equal(out.r_debug_delta, 0x9000 - FAKEELF_CODE(0x40));
	syms[0].shndx = SHN_UNDEF;
	assert_ok(scan(&f));
	assert_int_equal(out.dl_debug_state, 0);
	assert_int_equal(out.r_debug_delta, 0);
}

static void foreign_files_are_refused(void **state)
{
	const struct fakeelf elf32 = {.machine = EM_386, .elf32 = true, .no_dynamic = true};
	const struct fakeelf foreign = {.machine = EM_PPC64, .no_dynamic = true};
	const struct fakeelf object = {.type = ET_REL, .no_dynamic = true};
	const struct fakeelf core = {.type = ET_CORE, .no_dynamic = true};

	(void)state;
	assert_err(scan(&elf32), ENOTSUP);
	assert_false(out.is_64);
	assert_int_equal(out.machine, EM_386);
	assert_err(scan(&foreign), ENOTSUP);
	assert_true(out.is_64);
	assert_int_equal(out.machine, EM_PPC64);
	assert_err(scan(&object), ENOEXEC);
	assert_err(scan(&core), ENOEXEC);
	assert_err(
		scan_bytes("#!/bin/sh\nexec true because this is long enough for a header\n", 60),
		ENOEXEC);
	assert_err(scan_bytes("", 0), ENOEXEC);
	assert_err(elfsym_scan(-1, &out), EBADF);
}

/* Cut at every byte: either refused, or what the segments still hold is found where it is. */
static void every_truncation_is_safe(void **state)
{
	const struct fakeelf f = {.syms = two, .n_syms = 2, .interp = "/lib/x", .versions = true};
	struct fakeelf_image img;

	(void)state;
	fakeelf_build(&f, &img);
	for (size_t len = 0; len < img.len; len++) {
		int err = scan_bytes(img.bytes, len);
		bool whole = len > FAKEELF_TEXT_OFFSET + 0x80;

		assert_true(!err || err == -ENOEXEC);
		if (whole) {
			assert_ok(err);
			assert_found(PUSH, 0x40);
			assert_found(MARK, 0x80);
		} else if (!err) {
			assert_true(len > img.dynamic);
			assert_int_equal(row(MARK)->state, SYM_NOT_LOADED);
		}
	}
	free(img.bytes);
}

static void set64(struct fakeelf_image *img, size_t at, uint64_t v)
{
	assert_true(at + sizeof(v) <= img->len);
	memcpy(img->bytes + at, &v, sizeof(v));
}

/* Every 8 bytes of the headers and tables set to values that overflow or lead far away. */
static void wild_numbers_are_safe(void **state)
{
	static const uint64_t wild[] = {0,	    1,		0xfff,	   1u << 31,
					UINT32_MAX, 1ull << 62, INT64_MAX, UINT64_MAX - 7,
					UINT64_MAX};
	const struct fakeelf f = {.syms = two, .n_syms = 2, .interp = "/lib/x", .versions = true};
	struct fakeelf_image img;

	(void)state;
	fakeelf_build(&f, &img);
	for (size_t at = 16; at + 8 <= img.len; at += 4) {
		uint64_t was;

		if (at == FAKEELF_TEXT_OFFSET)
			at += FAKEELF_TEXT_SIZE;
		memcpy(&was, img.bytes + at, sizeof(was));
		if (!was && at > img.dynamic + 256 && at < FAKEELF_TEXT_OFFSET)
			continue;
		for (size_t i = 0; i < N(wild); i++) {
			int err;

			set64(&img, at, wild[i]);
			err = scan_bytes(img.bytes, img.len);
			assert_true(!err || err == -ENOEXEC || err == -ENOTSUP || err == -EFBIG);
		}
		set64(&img, at, was);
	}
	assert_ok(scan_bytes(img.bytes, img.len));
	free(img.bytes);
}

/* What strip-like tools damage on purpose does not hide what the loader sees. */
static void damaged_sections_do_not_matter(void **state)
{
	const struct fakeelf f = {.syms = two, .n_syms = 2};
	struct fakeelf_image img;

	(void)state;
	fakeelf_build(&f, &img);
	memset(img.bytes + img.shdrs, 0xff, img.len - img.shdrs);
	assert_ok(scan_bytes(img.bytes, img.len));
	assert_found(PUSH, 0x40);
	free(img.bytes);
}

/* The last name need not end inside the table, nor need a name begin there. */
static void names_stay_in_their_table(void **state)
{
	const struct fakeelf f = {.syms = two, .n_syms = 2, .no_sections = true};
	struct fakeelf_image img;
	const size_t size_at = 2 * sizeof(Elf64_Dyn) + offsetof(Elf64_Dyn, d_un);
	const uint64_t whole = 1 + sizeof(PUSH) + sizeof(MARK);
	uint64_t len;

	(void)state;
	fakeelf_build(&f, &img);
	memcpy(&len, img.bytes + img.dynamic + size_at, sizeof(len));
	assert_true(len == whole);
	set64(&img, img.dynamic + size_at, whole - 1);
	assert_ok(scan_bytes(img.bytes, img.len));
	assert_int_equal(out.n_found, 2);
	set64(&img, img.dynamic + size_at, whole - 2);
	assert_ok(scan_bytes(img.bytes, img.len));
	assert_int_equal(out.n_found, 1);
	set64(&img, img.dynamic + size_at, 1);
	assert_ok(scan_bytes(img.bytes, img.len));
	assert_int_equal(out.n_found, 0);
	free(img.bytes);
}

static void huge_counts_are_refused(void **state)
{
	const struct fakeelf f = {
		.syms = two, .n_syms = 2, .hash = FAKE_SYSV_HASH, .no_sections = true};
	struct fakeelf_image img;
	uint32_t n = 0xffffffff;

	(void)state;
	fakeelf_build(&f, &img);
	memcpy(img.bytes + img.hash + 4, &n, sizeof(n));
	assert_err(scan_bytes(img.bytes, img.len), EFBIG);
	n = 1u << 20;
	memcpy(img.bytes + img.hash + 4, &n, sizeof(n));
	assert_err(scan_bytes(img.bytes, img.len), ENOEXEC);
	free(img.bytes);
}

/* A sparse file can be as long as its table says. */
static void a_huge_gnu_hash_is_refused(void **state)
{
	const struct fakeelf f = {
		.syms = two, .n_syms = 2, .hash = FAKE_GNU_HASH, .no_sections = true};
	struct fakeelf_image img;
	uint32_t buckets = 1u << 31;

	(void)state;
	fakeelf_build(&f, &img);
	memcpy(img.bytes + img.hash, &buckets, sizeof(buckets));
	assert_err(scan_bytes(img.bytes, img.len), EFBIG);
	free(img.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_come_from_segments),
		cmocka_unit_test(no_section_headers_needed),
		cmocka_unit_test(many_symbols_are_all_read),
		cmocka_unit_test(default_version_is_taken),
		cmocka_unit_test(static_executables_have_symtab),
		cmocka_unit_test(static_or_not),
		cmocka_unit_test(exported_beats_global_beats_local),
		cmocka_unit_test(refusals_have_reasons),
		cmocka_unit_test(data_is_not_code),
		cmocka_unit_test(sizes_stay_in_the_segment),
		cmocka_unit_test(shared_code_is_marked),
		cmocka_unit_test(mstx_is_noticed),
		cmocka_unit_test(loader_notification),
		cmocka_unit_test(foreign_files_are_refused),
		cmocka_unit_test(every_truncation_is_safe),
		cmocka_unit_test(wild_numbers_are_safe),
		cmocka_unit_test(damaged_sections_do_not_matter),
		cmocka_unit_test(names_stay_in_their_table),
		cmocka_unit_test(huge_counts_are_refused),
		cmocka_unit_test(a_huge_gnu_hash_is_refused),
	};

	return RUN(tests);
}
