// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"
#include "harness/spans.h"

#include <errno.h>
#include <stdio.h>

#include "sink/perfetto.pb-c.h"

struct seen {
	Pf__Trace *trace;
	size_t resets; /* of interned data */
	size_t begins, ends, marks, tracks;
};

static struct seen read_trace(const char *path)
{
	struct seen s = {0};
	size_t n;
	char *data = slurp(path, &n);

	s.trace = pf__trace__unpack(NULL, n, (const uint8_t *)data);
	assert_non_null(s.trace);
	free(data);
	for (size_t i = 0; i < s.trace->n_packet; i++) {
		const Pf__TracePacket *p = s.trace->packet[i];

		s.resets += p->sequence_flags == 1;
		s.tracks += p->track_descriptor != NULL;
		if (!p->track_event)
			continue;
		s.begins += p->track_event->type == PF__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
		s.ends += p->track_event->type == PF__TRACK_EVENT__TYPE__TYPE_SLICE_END;
		s.marks += p->track_event->type == PF__TRACK_EVENT__TYPE__TYPE_INSTANT;
	}
	return s;
}

static void free_trace(struct seen *s)
{
	pf__trace__free_unpacked(s->trace, NULL);
}

/* The name of an event, from the interned data before it. */
static const char *name_of(const struct seen *s, size_t packet)
{
	uint64_t iid = s->trace->packet[packet]->track_event->name_iid;

	for (size_t i = packet + 1; i-- > 0;) {
		const Pf__InternedData *d = s->trace->packet[i]->interned_data;

		for (size_t k = 0; d && k < d->n_event_names; k++)
			if (d->event_names[k]->iid == iid)
				return d->event_names[k]->name;
		if (s->trace->packet[i]->sequence_flags == 1)
			break;
	}
	return "(unknown)";
}

/* Events on the track of the event called name, in order of the file: "b" "e" "m". */
static void expect_track(const struct seen *s, const char *name, const char *want)
{
	static const char letters[] = "?bemc";
	char got[64] = "";
	uint64_t track = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->trace->n_packet && !track; i++) {
		const Pf__TrackEvent *ev = s->trace->packet[i]->track_event;

		if (ev && ev->has_name_iid && !strcmp(name_of(s, i), name))
			track = ev->track_uuid;
	}
	assert_true(track != 0);
	for (size_t i = 0; i < s->trace->n_packet && n < sizeof(got) - 1; i++) {
		const Pf__TrackEvent *ev = s->trace->packet[i]->track_event;

		if (ev && ev->track_uuid == track)
			got[n++] = letters[ev->type];
	}
	assert_string_equal(got, want);
}

static struct span numbered(struct span sp, uint64_t id, uint64_t parent, uint32_t depth)
{
	sp.id = id;
	sp.parent = parent;
	sp.depth = depth;
	return sp;
}

/* All at one time, by the sort in order of depth: the file must have them as they happened. */
static void one_nanosecond_keeps_its_order(void **state)
{
	const char *path = tmpdir_path(state, "x.pftrace");
	struct run r = run_begin("perfetto", path, NULL);
	const char *order[] = {"p1", "c1", "m1", "p2", "c2"};
	struct seen s;
	size_t at = 0;

	run_span(&r, numbered(mark_of("m1", 5), 3, 2, 2));
	run_span(&r, numbered(span_of("c1", 5, 5), 2, 1, 1));
	run_span(&r, numbered(span_of("p1", 5, 5), 1, 0, 0));
	run_span(&r, numbered(span_of("c2", 5, 5), 5, 4, 1));
	run_span(&r, numbered(span_of("p2", 5, 5), 4, 0, 0));
	assert_ok(run_end(&r));
	s = read_trace(path);
	for (size_t i = 0; i < s.trace->n_packet; i++) {
		const Pf__TrackEvent *ev = s.trace->packet[i]->track_event;

		if (ev && ev->has_name_iid)
			assert_string_equal(name_of(&s, i), order[at++]);
	}
	assert_int_equal(at, 5);
	expect_track(&s, "p1", "bbmeebbee");
	free_trace(&s);
}

/* After losses a range may end later than what it seems to be in: not on the same track. */
static void what_does_not_nest_has_a_lane(void **state)
{
	const char *path = tmpdir_path(state, "x.pftrace");
	struct run r = run_begin("perfetto", path, NULL);
	struct seen s;

	run_span(&r, numbered(span_of("outer", 10, 20), 1, 0, 0));
	run_span(&r, numbered(span_of("crosses", 15, 30), 2, 1, 1));
	run_span(&r, numbered(span_of("after", 40, 50), 3, 0, 0));
	assert_ok(run_end(&r));
	s = read_trace(path);
	expect_track(&s, "outer", "bebe");
	expect_track(&s, "crosses", "be");
	free_trace(&s);
}

static void ends_that_are_not_known_are_not_drawn(void **state)
{
	const char *path = tmpdir_path(state, "x.pftrace");
	struct run r = run_begin("perfetto", path, NULL);
	struct span unsure = numbered(span_of("unsure", 10, 0), 1, 0, 0);
	struct span open = numbered(span_of("open", 20, 0), 2, 0, 0);
	struct span range = numbered(span_of("range", 25, 0), 3, 2, 1);
	struct seen s;

	unsure.status = SPAN_UNCERTAIN;
	open.status = range.status = SPAN_OPEN;
	unsure.has_end = open.has_end = range.has_end = false;
	range.kind = SPAN_START_END;
	run_span(&r, unsure);
	run_span(&r, open);
	run_span(&r, range);
	run_span(&r, numbered(span_of("inside", 30, 40), 4, 2, 1));
	assert_ok(run_end(&r));
	s = read_trace(path);
	expect_track(&s, "open", "mbbe");
	expect_track(&s, "range", "b");
	free_trace(&s);
}

/* More names than are kept: each reference is to a name that is told since the last reset. */
static void names_are_bounded(void **state)
{
	const char *path = tmpdir_path(state, "x.pftrace");
	struct run r = run_begin("perfetto", path, NULL);
	const unsigned int n = 70000;
	char name[32];
	struct seen s;
	size_t marks = 0, told = 0;

	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "step %u", i);
		run_span(&r, numbered(mark_of(name, 2 * i), 2 * i + 1, 0, 0));
		run_span(&r, numbered(mark_of("the same", 2 * i + 1), 2 * i + 2, 0, 0));
	}
	assert_ok(run_end(&r));
	s = read_trace(path);
	assert_int_equal(s.resets, 2);
	assert_int_equal(s.marks, 2 * n);
	for (size_t i = 0; i < s.trace->n_packet; i++) {
		const Pf__TracePacket *p = s.trace->packet[i];

		told += p->interned_data ? p->interned_data->n_event_names : 0;
		if (!p->track_event || ++marks % 20000 > 1)
			continue;
		snprintf(name, sizeof(name), "step %zu", (marks - 1) / 2);
		assert_string_equal(name_of(&s, i), marks % 2 ? name : "the same");
	}
	assert_int_equal(told, n + 2);
	free_trace(&s);
}

/* A reader forgets what a sequence told when packets of it were dropped: not that of the events. */
static void losses_are_in_a_sequence_of_their_own(void **state)
{
	const char *path = tmpdir_path(state, "x.pftrace");
	struct run r = run_begin("perfetto", path, NULL);
	const struct tally first = {.kind = TALLY_LOSS, .count = 3, .from_ns = 5, .to_ns = 9};
	const struct tally second = {.kind = TALLY_LOSS, .count = 4, .from_ns = 7, .to_ns = 12};
	int64_t values[2];
	size_t n = 0;
	struct seen s;

	assert_ok(r.to.tally(r.to.ctx, &first));
	assert_ok(r.to.tally(r.to.ctx, &second));
	run_span(&r, numbered(mark_of("m", 20), 1, 0, 0));
	assert_ok(run_end(&r));
	s = read_trace(path);
	for (size_t i = 0; i < s.trace->n_packet; i++) {
		const Pf__TracePacket *p = s.trace->packet[i];

		assert_int_equal(p->trusted_packet_sequence_id, p->previous_packet_dropped ? 2 : 1);
		if (p->previous_packet_dropped) {
			assert_true(n < 2);
			values[n++] = p->track_event->counter_value;
		}
	}
	assert_int_equal(n, 2);
	assert_int_equal(values[0], 3);
	assert_int_equal(values[1], 7);
	assert_int_equal(s.begins, 2); /* two windows that overlap, on two lanes */
	assert_int_equal(s.ends, 2);
	free_trace(&s);
}

static void a_full_disk_is_an_error(void **state)
{
	const struct sink_opts opts = {.overwrite = true};
	struct run r = run_begin("perfetto", "/dev/full", &opts);

	(void)state;
	run_span(&r, numbered(mark_of("m", 1), 1, 0, 0));
	assert_err(run_end(&r), ENOSPC);
}

#define T(f) cmocka_unit_test_setup_teardown(f, tmpdir_setup, tmpdir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_nanosecond_keeps_its_order),	  T(what_does_not_nest_has_a_lane),
		T(ends_that_are_not_known_are_not_drawn), T(names_are_bounded),
		T(losses_are_in_a_sequence_of_their_own), T(a_full_disk_is_an_error),
	};

	return RUN(tests);
}
