// SPDX-License-Identifier: GPL-2.0-only
/* Captures written from scripts, merged, and read again. */
#include "harness/test.h"
#include "harness/evscript.h"
#include "harness/mergescript.h"
#include "harness/recorder.h"
#include "harness/tmpdir.h"
#include "harness/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/capfmt.h"
#include "store/replay.h"

#define CLOCK(real) "1000 - clock real=" real " boot=1000\n"

static void expect_merged(unsigned int what, const char *script, const char *expected)
{
	char why[MERGE_WHY] = "";
	struct consumer next;
	struct recorder r;

	assert_ok(recorder_init(&r, what));
	next = recorder_consumer(&r);
	if (mergescript_run(script, &next, why))
		fail_msg("%s", why);
	assert_string_equal(r.text, expected);
	recorder_free(&r);
}

/* why: what the message must have; %s stands for nothing, paths are not compared. */
static void expect_refused(const char *script, int err, const char *why_part)
{
	struct mergescript m;
	char why[MERGE_WHY] = "";

	if (mergescript_write(&m, script, why))
		fail_msg("%s", why);
	assert_int_equal(mergescript_merge(&m, why), err);
	if (!strstr(why, why_part))
		fail_msg("'%s' is not in '%s'", why_part, why);
	assert_int_equal(dir_entries(m.dir), (int)m.n); /* nothing was left */
	mergescript_free(&m);
}

/* ---- Clocks -------------------------------------------------------------------------------- */

static void hosts_are_aligned_by_the_wall_clock(void **state)
{
	(void)state;
	/* b's monotonic clock is far ahead, and its recording began 500 ns later. */
	expect_merged(REC_SPANS,
		      "=== a\n" CLOCK("2000000") "1000 - fact boot_id \"a\"\n"
						 "1600 7 mark stamp=0\n"
						 "=== b\n"
						 "90000 - clock real=2000500\n"
						 "90000 - fact boot_id \"b\"\n"
						 "90050 7 mark stamp=0\n"
						 "90200 7 mark stamp=0\n",
		      "marker \"\" 2000550 7/7 complete\n"
		      "marker \"\" 2000600 4194303/7 complete\n"
		      "marker \"\" 2000700 7/7 complete\n");
}

/* The wall clock of the second was set an hour off: that changes nothing between them. */
static void one_kernel_has_one_clock(void **state)
{
	(void)state;
	expect_merged(REC_SPANS,
		      "=== later\n"
		      "5000 - clock real=3600000000000\n"
		      "5000 - fact boot_id \"k\"\n"
		      "5001 7 mark stamp=0\n"
		      "=== earlier\n" CLOCK("2000000") "1000 - fact boot_id \"k\"\n"
						       "5000 8 mark stamp=0\n",
		      "marker \"\" 2004000 8/8 complete\n"
		      "marker \"\" 2004001 7/7 complete\n");
}

static void times_never_go_below_zero(void **state)
{
	(void)state;
	/* By a name, b's clock is moved back by more than it ever showed: both are lifted. */
	expect_merged(REC_SPANS,
		      "=== align x\n"
		      "=== a\n"
		      "100 - clock real=1000100\n"
		      "100 7 msg stamp=1 \"x\"\n"
		      "110 7 mark stamp=1\n"
		      "=== b\n"
		      "100 - clock real=1000200\n"
		      "100 8 msg stamp=1 \"early\"\n"
		      "120 8 mark stamp=1\n"
		      "5000 8 msg stamp=1 \"x\"\n"
		      "5010 8 mark stamp=1\n",
		      "marker \"early\" 995220 8/8 complete\n"
		      "marker \"x\" 1000110 7/7 complete\n"
		      "marker \"x\" 1000110 8/8 complete\n");
}

static void wild_clocks_do_no_harm(void **state)
{
	(void)state;
	expect_merged(REC_TALLIES,
		      "=== a\n"
		      "1 - clock real=0xffffffffffffffff\n"
		      "9223372036854775807 7 mark stamp=0\n"
		      "5 - watermark\n"
		      "9223372036854775807 - watermark\n"
		      "6 7 mark stamp=0\n"
		      "=== b\n"
		      "9223372036854775000 - clock real=1\n"
		      "1 8 mark stamp=0\n",
		      "late 1\n");
}

/* ---- By a name ----------------------------------------------------------------------------- */

#define ENDS(host, name)                                                                           \
	"1000 - fact boot_id \"" host "\"\n1000 7 msg stamp=1 \"" name "\"\n"                      \
	"1001 7 mark stamp=1\n1002 7 mark stamp=1\n"

static void a_name_that_is_missing_is_refused(void **state)
{
	(void)state;
	expect_refused("=== align sync\n"
		       "=== a\n" CLOCK("2000") ENDS("a", "sync") "=== b\n" CLOCK("2001")
			       ENDS("b", "sync") "=== c\n" CLOCK("2002") ENDS("c", "other"),
		       -EINVAL, "cannot align on 'sync': 2 of 3 captures have it 2 times, but '");
	expect_refused("=== align sync\n=== a\n" CLOCK("2000")
			       ENDS("a", "sync") "=== c\n" CLOCK("2002") ENDS("c", "other"),
		       -EINVAL, "/c' has it not at all");
}

static void other_counts_are_refused(void **state)
{
	(void)state;
	expect_refused("=== align sync\n"
		       "=== a\n" CLOCK("2000") ENDS("a", "sync") "=== b\n" CLOCK("2001")
			       ENDS("b", "sync") "1003 7 mark stamp=1\n"
						 "=== c\n" CLOCK("2002") ENDS("c", "sync"),
		       -EINVAL, "/b' has it 3 times");
	/* In one of its processes. */
	expect_refused("=== align sync\n"
		       "=== a\n" CLOCK("2000") ENDS("a", "sync") "=== b\n" CLOCK("2001")
			       ENDS("b", "sync") "1003 8 msg stamp=1 \"sync\"\n"
						 "1003 8 mark stamp=1\n",
		       -EINVAL, "/b' has it 1 to 2 times in its 2 processes");
}

/* ---- What is refused ----------------------------------------------------------------------- */

static void one_recording_twice_is_refused(void **state)
{
	(void)state;
	expect_refused(
		"=== a\n" CLOCK(
			"2000") "1000 - fact capture_id \"x\"\n"
				"=== b\n" CLOCK(
					"3000") "1000 - fact capture_id \"y\"\n"
						"=== c\n" CLOCK(
							"4000") "1000 - fact capture_id \"x\"\n",
		-EEXIST, "/c' hold the same recording");
	/* Of an acltap that gave none: the same clock on the same host. */
	expect_refused("=== a\n" CLOCK("2000") "1000 - fact host \"h\"\n"
					       "=== b\n" CLOCK("2000") "1000 - fact host \"h\"\n",
		       -EEXIST, "hold the same recording");
}

static void a_capture_without_a_clock_is_refused(void **state)
{
	(void)state;
	expect_refused("=== a\n" CLOCK("2000") "=== b\n1000 7 mark stamp=0\n", -ENODATA,
		       "/b' has no reading of a clock");
}

static void what_is_no_capture_is_refused(void **state)
{
	struct mergescript m;
	char why[MERGE_WHY];
	size_t sz;
	char *bytes;

	(void)state;
	assert_ok(mergescript_write(&m, "=== a\n" CLOCK("1") "=== b\n" CLOCK("2"), why));
	bytes = slurp(m.inputs[1].path, &sz);
	((struct capfmt_header *)bytes)->wire_version++;
	((struct capfmt_header *)bytes)->crc = capfmt_header_crc((struct capfmt_header *)bytes);
	spew(m.inputs[1].path, bytes, sz);
	assert_err(mergescript_merge(&m, why), ENOTSUP);
	assert_non_null(strstr(why, "/b': written by a newer acltap"));
	spew(m.inputs[1].path, "text", 4);
	assert_err(mergescript_merge(&m, why), EINVAL);
	assert_non_null(strstr(why, "/b': not an acltap capture"));
	free(bytes);
	mergescript_free(&m);
}

/* What has only one source must refuse what has several, as an older acltap does. */
static void a_merged_capture_says_so(void **state)
{
	struct mergescript m;
	struct capread *r;
	char why[MERGE_WHY];

	(void)state;
	assert_ok(mergescript_write(&m, "=== a\n" CLOCK("1") "=== b\n" CLOCK("2"), why));
	assert_ok(mergescript_merge(&m, why));
	assert_ok(capread_open(m.merged, &r));
	assert_true(capread_is_merged(r));
	capread_close(r);
	assert_ok(capread_open(m.inputs[0].path, &r));
	assert_false(capread_is_merged(r));
	capread_close(r);
	mergescript_free(&m);
}

/* ---- What must come through ---------------------------------------------------------------- */

static void what_came_late_stays_late(void **state)
{
	(void)state;
	expect_merged(REC_SPANS | REC_TALLIES,
		      "=== a\n" CLOCK("2000") "1010 7 push stamp=0\n"
					      "1500 - watermark\n"
					      "1400 7 push stamp=0 seq=1\n"
					      "1600 7 mark stamp=0 seq=2\n"
					      "=== b\n" CLOCK("3000") "1100 8 mark stamp=0\n",
		      "marker \"\" 2600 7/7 uncertain depth=2 parent=#2\n"
		      "marker \"\" 3100 8/8 complete\n"
		      "push/pop \"\" 2400.. 7/7 uncertain depth=1 parent=#1\n"
		      "push/pop \"\" 2010.. 7/7 uncertain\n"
		      "late 1\n");
}

static void what_cannot_be_read_is_counted(void **state)
{
	(void)state;
	expect_merged(
		REC_TALLIES,
		"=== a\n" CLOCK("2000") "1010 7 mark stamp=0 kind=99\n"
					"1020 5000000 mark stamp=0\n" /* no PID of Linux */
					"1030 7 fork child=5000000 \"x\"\n"
					"=== b\n" CLOCK("3000") "1100 8 mark stamp=0 func=250\n",
		"bad 4\n");
}

static void merging_in_steps_is_the_same(void **state)
{
	static const char *const parts[] = {
		CLOCK("2000") "1000 - fact host \"a\"\n1000 - fact capture_id \"a\"\n"
			      "1010 7 mark stamp=0\n",
		CLOCK("3000") "1000 - fact host \"b\"\n1000 - fact capture_id \"b\"\n"
			      "1010 7 mark stamp=0\n1020 7 lost mark stamp=0\n1020 - counts\n",
		CLOCK("4000") "1000 - fact host \"c\"\n1000 - fact capture_id \"c\"\n"
			      "1005 7 mark stamp=0\n",
	};
	char script[1024], why[MERGE_WHY], twice[96];
	struct merge_input inputs[2];
	const struct merge_config cfg = {.inputs = inputs, .n = 2};
	struct mergescript all, two;
	struct recorder want, got;
	enum capread_end ended;
	struct consumer next;
	struct merge *m;

	(void)state;
	snprintf(script, sizeof(script), "=== a\n%s=== b\n%s=== c\n%s", parts[0], parts[1],
		 parts[2]);
	assert_ok(mergescript_write(&all, script, why));
	assert_ok(mergescript_merge(&all, why));
	snprintf(script, sizeof(script), "=== a\n%s=== b\n%s", parts[0], parts[1]);
	assert_ok(mergescript_write(&two, script, why));
	assert_ok(mergescript_merge(&two, why));
	inputs[0] = (struct merge_input){.path = two.merged, .name = "two"};
	inputs[1] = (struct merge_input){.path = all.inputs[2].path, .name = "c"};
	snprintf(twice, sizeof(twice), "%s/twice", two.dir);
	if (merge_plan(&cfg, &m, why) || merge_write(m, twice, false, why))
		fail_msg("%s", why);
	merge_free(m);

	assert_ok(recorder_init(&want, REC_SPANS | REC_TALLIES | REC_TRACKS));
	assert_ok(recorder_init(&got, REC_SPANS | REC_TALLIES | REC_TRACKS));
	next = recorder_consumer(&want);
	assert_ok(replay_capture(all.merged, &next, NULL, &ended, NULL, NULL));
	next = recorder_consumer(&got);
	assert_ok(replay_capture(twice, &next, NULL, &ended, NULL, NULL));
	assert_string_equal(got.text, want.text);
	assert_non_null(strstr(got.text, "loss aclprofMark 1"));
	recorder_free(&want);
	recorder_free(&got);

	/* And a recording that is in there already. */
	inputs[1].path = all.inputs[0].path;
	assert_err(merge_plan(&cfg, &m, why), EEXIST);
	remove(twice);
	mergescript_free(&two);
	mergescript_free(&all);
}

static void put(struct capwrite *w, struct wire rec, const void *msg, size_t n)
{
	char buf[sizeof(rec) + 64];

	rec.msg_len = (uint16_t)n;
	rec.len = (uint16_t)(sizeof(rec) + n);
	memcpy(buf, &rec, sizeof(rec));
	memcpy(buf + sizeof(rec), msg, n);
	assert_ok(capwrite_record(w, buf, rec.len));
}

/* More than is sorted at each watermark, see core/order.c. */
static void write_long(const char *path, bool with_others)
{
	struct wire mark = {.kind = WIRE_CALL, .func = 0, .tgid = 7, .tid = 7};
	const uint64_t boot = 5;
	struct capwrite *w;

	assert_ok(capwrite_open(path, true, &w));
	put(w, (struct wire){.kind = WIRE_CLOCK, .time_ns = 1, .arg0 = 7000000 + with_others},
	    &boot, 8);
	for (uint32_t i = 0; i < 70000 && with_others; i++) {
		mark.time_ns = 1000 + 10 * i;
		put(w, mark, "", 0);
	}
	mark.tid++;
	mark.time_ns = 500000;
	put(w, mark, "", 0);
	put(w, (struct wire){.kind = WIRE_WATERMARK, .time_ns = 1000000}, "", 0);
	assert_ok(capwrite_close(w));
}

static uint64_t late_in(const char *path)
{
	enum capread_end ended;
	struct consumer next;
	unsigned int late = 0;
	struct recorder r;
	const char *line;

	assert_ok(recorder_init(&r, REC_TALLIES));
	next = recorder_consumer(&r);
	assert_ok(replay_capture(path, &next, NULL, &ended, NULL, NULL));
	line = strstr(r.text, "late ");
	if (line)
		sscanf(line, "late %u", &late);
	recorder_free(&r);
	return late;
}

static void long_captures_stay_in_order(void **state)
{
	struct merge_input inputs[] = {{.path = tmpdir_path(state, "long"), .name = "long"},
				       {.path = tmpdir_path(state, "short"), .name = "short"}};
	const char *merged = tmpdir_path(state, "merged");
	char why[MERGE_WHY];

	write_long(inputs[0].path, true);
	write_long(inputs[1].path, false);
	for (size_t n = 1; n <= 2; n++) {
		const struct merge_config cfg = {.inputs = inputs, .n = n};
		struct merge *m;

		if (merge_plan(&cfg, &m, why) || merge_write(m, merged, true, why))
			fail_msg("%s", why);
		merge_free(m);
		assert_int_equal(late_in(inputs[0].path), 0);
		assert_int_equal(late_in(merged), 0);
	}
}

/* The wall clock was set by an hour before the third, which must not matter in any order. */
static void steps_keep_the_clock_of_one_kernel(void **state)
{
	static const char *const parts[] = {
		CLOCK("2000000") "1000 - fact boot_id \"k\"\n1000 - fact capture_id \"a\"\n"
				 "6000 7 mark stamp=0\n",
		"2000 - clock real=2001000\n2000 - fact boot_id \"k\"\n"
		"2000 - fact capture_id \"b\"\n6001 7 mark stamp=0\n",
		"5000 - clock real=3600000000000\n5000 - fact boot_id \"k\"\n"
		"5000 - fact capture_id \"c\"\n6002 7 mark stamp=0\n",
		"100 - clock real=2000600\n100 - fact boot_id \"other\"\n"
		"100 - fact capture_id \"d\"\n200 7 mark stamp=0\n",
	};

	(void)state;
	for (size_t other = 0; other < 2; other++) {
		struct merge_input inputs[2];
		const struct merge_config cfg = {.inputs = inputs, .n = 2};
		char script[1024], why[MERGE_WHY];
		struct mergescript two, last;
		struct merge *m;

		snprintf(script, sizeof(script), "=== a\n%s=== b\n%s", parts[0],
			 parts[other ? 3 : 1]);
		assert_ok(mergescript_write(&two, script, why));
		assert_ok(mergescript_merge(&two, why));
		snprintf(script, sizeof(script), "=== c\n%s", parts[2]);
		assert_ok(mergescript_write(&last, script, why));
		inputs[0] = (struct merge_input){.path = two.merged, .name = "two"};
		inputs[1] = (struct merge_input){.path = last.inputs[0].path, .name = "c"};
		assert_ok(merge_plan(&cfg, &m, why));
		assert_true(inputs[0].shift_ns == 0);
		/* With another kernel in it, whose clock it is cannot be said. */
		assert_true(inputs[1].shift_ns == (other ? 3600000000000 - 5000 - 1999000 : 0));
		merge_free(m);
		mergescript_free(&last);
		mergescript_free(&two);
	}
}

/* ---- Random programs: merged, each is what it is alone ------------------------------------- */

#define WORLDS 3

struct lines {
	char **v;
	size_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines without what depends on the order in which spans of all sources are opened. */
static void add_lines(struct lines *l, char *text)
{
	char *save;

	for (char *p = strtok_r(text, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
		char *parent = strstr(p, " parent=#");

		if (parent)
			memmove(parent, parent + 9 + strspn(parent + 9, "0123456789"),
				strlen(parent + 9 + strspn(parent + 9, "0123456789")) + 1);
		l->v = realloc(l->v, (l->n + 1) * sizeof(*l->v));
		assert_non_null(l->v);
		l->v[l->n++] = strdup(p);
	}
}

/* A capture of a random program; records within a batch in random order. */
static void write_world(const char *path, uint64_t seed)
{
	const struct world_opts opts = {.steps = 2000, .drop = 20, .categories = seed % 2};
	const uint64_t boot = 5, begin = 1;
	char id[8];
	struct capwrite *w;
	struct world world;

	assert_ok(world_make(seed, &opts, &world));
	assert_ok(capwrite_open(path, true, &w));
	put(w, (struct wire){.kind = WIRE_CLOCK, .time_ns = begin, .arg0 = 7000000}, &boot, 8);
	snprintf(id, sizeof(id), "%u", (unsigned int)seed);
	put(w, (struct wire){.kind = WIRE_FACT, .arg1 = FACT_CAPTURE_ID}, id, strlen(id));
	put(w, (struct wire){.kind = WIRE_FACT, .arg1 = FACT_BOOT_ID}, "k", 1);
	put(w, (struct wire){.kind = WIRE_FACT, .arg1 = FACT_PID_SPACE}, "1", 1);
	for (int i = 0; i < world.n_recs;) {
		int n = 1 + (int)(world_random(&seed) % 40), batch[40], used = 0;

		for (; used < n && i < world.n_recs; i++)
			if (!world.recs[i].lost)
				batch[used++] = i;
		for (int k = used - 1; k > 0; k--) {
			int j = (int)(world_random(&seed) % (uint64_t)(k + 1)), x = batch[k];

			batch[k] = batch[j];
			batch[j] = x;
		}
		for (int k = 0; k < used; k++) {
			const struct world_rec *r = &world.recs[batch[k]];

			put(w, r->w, r->text, r->w.msg_len);
		}
		if (i < world.n_recs)
			put(w,
			    (struct wire){.kind = WIRE_WATERMARK,
					  .time_ns = world.recs[i].w.time_ns},
			    "", 0);
	}
	assert_ok(capwrite_close(w));
	world_free(&world);
}

static void replay_lines(const char *path, struct lines *l)
{
	enum capread_end ended;
	struct consumer next;
	struct recorder r;

	assert_ok(recorder_init(&r, REC_SPANS | REC_TALLIES | REC_CALLS));
	next = recorder_consumer(&r);
	assert_ok(replay_capture(path, &next, NULL, &ended, NULL, NULL));
	assert_int_equal(ended, CAPREAD_COMPLETE);
	add_lines(l, r.text);
	recorder_free(&r);
}

static void free_lines(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
}

static void merged_worlds_are_what_they_are_alone(void **state)
{
	size_t lines = 0;

	for (uint64_t seed = 1; seed < 20; seed++) {
		struct merge_input inputs[WORLDS];
		const struct merge_config cfg = {.inputs = inputs, .n = WORLDS};
		const char *merged = tmpdir_path(state, "merged");
		struct lines alone = {0}, together = {0};
		char why[MERGE_WHY];
		struct merge *m;

		for (uint64_t i = 0; i < WORLDS; i++) {
			char name[8];

			snprintf(name, sizeof(name), "%u", (unsigned int)i);
			inputs[i] =
				(struct merge_input){.path = tmpdir_path(state, name), .name = "x"};
			write_world(inputs[i].path, seed * 10 + i);
			replay_lines(inputs[i].path, &alone);
		}
		if (merge_plan(&cfg, &m, why) || merge_write(m, merged, true, why))
			fail_msg("%s", why);
		merge_free(m);
		replay_lines(merged, &together);
		qsort(alone.v, alone.n, sizeof(*alone.v), by_text);
		qsort(together.v, together.n, sizeof(*together.v), by_text);
		assert_int_equal(together.n, alone.n);
		for (size_t i = 0; i < alone.n; i++)
			assert_string_equal(together.v[i], alone.v[i]);
		lines += alone.n;
		free_lines(&alone);
		free_lines(&together);
	}
	/* Some worlds end early; there was something to compare. */
	assert_true(lines > 2000);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(hosts_are_aligned_by_the_wall_clock), T(one_kernel_has_one_clock),
		T(times_never_go_below_zero),		T(wild_clocks_do_no_harm),
		T(a_name_that_is_missing_is_refused),	T(other_counts_are_refused),
		T(one_recording_twice_is_refused),	T(a_capture_without_a_clock_is_refused),
		T(what_is_no_capture_is_refused),	T(a_merged_capture_says_so),
		T(what_came_late_stays_late),		T(what_cannot_be_read_is_counted),
		T(merging_in_steps_is_the_same),	T(merged_worlds_are_what_they_are_alone),
		T(long_captures_stay_in_order),		T(steps_keep_the_clock_of_one_kernel),
	};

	return RUN(tests);
}
