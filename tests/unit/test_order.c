// SPDX-License-Identifier: GPL-2.0-only
#include "harness/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/order.h"

/* What came out: arg0 of each, and whether it was late. */
struct seen {
	uint64_t *ids, *times;
	size_t n, room, late;
	size_t fail_at; /* 0 = never */
};

static int on_event(void *ctx, const struct event *ev)
{
	struct seen *s = ctx;

	if (s->fail_at && s->n + 1 == s->fail_at)
		return -EPIPE;
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->ids = realloc(s->ids, s->room * sizeof(*s->ids));
		s->times = realloc(s->times, s->room * sizeof(*s->times));
		assert_non_null(s->ids);
		assert_non_null(s->times);
	}
	/* The message came along. */
	for (unsigned int i = 0; i < ev->w->msg_len; i++)
		assert_int_equal(ev->msg[i], (char)(ev->w->arg0 + i));
	s->ids[s->n] = ev->w->arg0;
	s->times[s->n++] = ev->w->time_ns;
	s->late += ev->late;
	return 0;
}

static void begin(struct order *o, struct seen *s)
{
	*s = (struct seen){0};
	order_init(o, &(struct order_next){s, on_event});
}

static void done(struct order *o, struct seen *s)
{
	order_free(o);
	free(s->ids);
	free(s->times);
}

static int push_as(struct order *o, uint64_t time, uint64_t id, uint32_t tid, uint32_t seq,
		   __u8 kind, __u16 msg_len)
{
	struct wire w = {.time_ns = time,
			 .tid = tid,
			 .seq = seq,
			 .kind = kind,
			 .arg0 = id,
			 .msg_len = msg_len};
	char msg[300];
	const struct event ev = {.w = &w, .msg = msg};

	for (unsigned int i = 0; i < sizeof(msg); i++)
		msg[i] = (char)(id + i);
	w.len = (__u16)(sizeof(w) + msg_len);
	return order_push(o, &ev);
}

static int push(struct order *o, uint64_t time, uint64_t id)
{
	return push_as(o, time, id, 1, 0, WIRE_CALL, (__u16)(id % 20));
}

static void assert_ids(const struct seen *s, const char *ids)
{
	assert_int_equal(s->n, strlen(ids));
	for (size_t i = 0; i < s->n; i++)
		assert_int_equal(s->ids[i], ids[i] - '0');
}

static void a_watermark_lets_through_what_is_older(void **state)
{
	struct order o;
	struct seen s;

	(void)state;
	begin(&o, &s);
	assert_ok(push(&o, 30, 3));
	assert_ok(push(&o, 10, 1));
	assert_ok(push(&o, 20, 2));
	assert_int_equal(s.n, 0);
	assert_ok(order_watermark(&o, 20));
	assert_ids(&s, "1");
	assert_ok(push(&o, 25, 4));
	assert_ok(order_watermark(&o, 26));
	assert_ids(&s, "124");
	assert_ok(order_watermark(&o, 5)); /* goes back: says nothing new */
	assert_ok(order_flush(&o));
	assert_ids(&s, "1243");
	assert_int_equal(o.late, 0);
	done(&o, &s);
}

static void equal_times_keep_arrival_but_threads_their_numbers(void **state)
{
	struct order o;
	struct seen s;

	(void)state;
	begin(&o, &s);
	assert_ok(push_as(&o, 10, 1, 7, 9, WIRE_CALL, 0));
	assert_ok(push_as(&o, 10, 2, 8, 1, WIRE_CALL, 0));
	assert_ok(push_as(&o, 10, 3, 9, 0, WIRE_FORK, 0));
	assert_ok(order_flush(&o));
	assert_ids(&s, "123");
	s.n = 0;
	/* Thread 7's own are turned round; 8 and the one without number stay where they were. */
	assert_ok(push_as(&o, 20, 4, 7, 3, WIRE_CALL, 0));
	assert_ok(push_as(&o, 20, 5, 8, 1, WIRE_CALL, 0));
	assert_ok(push_as(&o, 20, 6, 7, 1, WIRE_RETURN, 0));
	assert_ok(push_as(&o, 20, 7, 7, 0, WIRE_FORK, 0));
	assert_ok(push_as(&o, 20, 8, 7, 1, WIRE_CALL, 0));
	assert_ok(order_flush(&o));
	assert_ids(&s, "85674");
	done(&o, &s);
}

static void many_of_one_time(void **state)
{
	struct order o;
	struct seen s;

	(void)state;
	begin(&o, &s);
	for (uint32_t i = 0; i < 50000; i++)
		assert_ok(push_as(&o, 10, 50000 - i, 1, 50000 - i, WIRE_CALL, 0));
	assert_ok(order_watermark(&o, 11));
	assert_int_equal(s.n, 50000);
	for (uint32_t i = 0; i < 50000; i++)
		assert_int_equal(s.ids[i], i + 1);
	done(&o, &s);
}

static void what_comes_too_late_is_handed_on_and_counted(void **state)
{
	const struct wire fact = {.time_ns = 1, .kind = WIRE_FACT, .len = sizeof(fact)};
	const struct event ev = {.w = &fact, .msg = ""};
	struct order o;
	struct seen s;

	(void)state;
	begin(&o, &s);
	assert_ok(push(&o, 50, 5));
	assert_ok(order_watermark(&o, 20));
	assert_ok(push(&o, 20, 2)); /* not older than the watermark */
	assert_ok(push(&o, 19, 1));
	assert_ids(&s, "1");
	assert_int_equal(s.late, 1);
	assert_ok(order_push(&o, &ev)); /* facts are no matter of order */
	assert_int_equal(s.late, 1);
	assert_int_equal(o.late, 1);
	assert_ok(order_flush(&o));
	assert_ids(&s, "1025");
	done(&o, &s);
}

static void any_order_comes_out_sorted(void **state)
{
	struct order o;
	struct seen s;

	(void)state;
	for (uint32_t shape = 0; shape < 6; shape++) {
		uint64_t random = shape, floor = 0;
		size_t n = 3000;

		begin(&o, &s);
		for (uint32_t i = 0; i < n; i++) {
			static const uint64_t spread[] = {1, 3, 40, 1000, 100000, 7};
			uint64_t time;

			random = random * 6364136223846793005u + 1442695040888963407u;
			time = i * 10 + (random >> 40) % (spread[shape] * 10);
			if (shape == 5)
				time = (n - i) * 10 + floor; /* backwards */
			assert_ok(push_as(&o, time < floor ? floor : time, i, 1, 0, WIRE_CALL,
					  (__u16)(i % 7)));
			if (i % (shape + 2) == 0 && shape < 5) {
				floor = i * 10;
				assert_ok(order_watermark(&o, floor));
			}
		}
		assert_ok(order_flush(&o));
		assert_int_equal(s.n, n);
		assert_int_equal(o.late, 0);
		for (size_t i = 1; i < n; i++)
			assert_true(s.times[i - 1] < s.times[i] ||
				    (s.times[i - 1] == s.times[i] && s.ids[i - 1] < s.ids[i]));
		done(&o, &s);
	}
}

static void without_watermarks_memory_is_bounded(void **state)
{
	struct order o;
	struct seen s;

	(void)state;
	begin(&o, &s);
	for (uint32_t i = 0; i < 1500000; i++)
		assert_ok(push_as(&o, 1000 + i, i, 1, 0, WIRE_CALL, 200));
	assert_true(o.room <= 4u * ORDER_MAX_BYTES);
	assert_true(s.n > 0);
	assert_ok(order_flush(&o));
	assert_int_equal(s.n, 1500000);
	for (size_t i = 1; i < s.n; i++)
		assert_true(s.times[i - 1] < s.times[i]);
	assert_int_equal(o.late, 0);
	done(&o, &s);
}

/* With many waiting, a few others are not sorted in at once: then nothing has been passed yet. */
static void what_waits_longer_makes_nothing_late(void **state)
{
	struct order o;
	struct seen s;

	(void)state;
	begin(&o, &s);
	for (uint32_t i = 0; i < 70000; i++)
		assert_ok(push(&o, 1000 + i, i));
	assert_ok(push(&o, 2000, 70000));
	assert_ok(order_watermark(&o, 100000));
	assert_int_equal(s.n, 0);
	assert_true(o.watermark <= 1000); /* it speaks of what came out */
	assert_ok(push(&o, 3000, 70001));
	assert_int_equal(s.n, 0);
	assert_ok(order_flush(&o));
	assert_int_equal(o.late, 0);
	for (size_t i = 1; i < s.n; i++)
		assert_true(s.times[i - 1] <= s.times[i]);
	assert_int_equal(s.ids[1001], 70000);
	done(&o, &s);
}

static void an_error_of_the_next_stage_comes_back(void **state)
{
	struct order o;
	struct seen s;

	(void)state;
	begin(&o, &s);
	s.fail_at = 2;
	assert_ok(push(&o, 10, 1));
	assert_ok(push(&o, 20, 2));
	assert_err(order_watermark(&o, 30), EPIPE);
	assert_int_equal(s.n, 1);
	assert_err(push(&o, 5, 3), EPIPE); /* late, and handed on at once */
	done(&o, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_watermark_lets_through_what_is_older),
		cmocka_unit_test(equal_times_keep_arrival_but_threads_their_numbers),
		cmocka_unit_test(many_of_one_time),
		cmocka_unit_test(what_comes_too_late_is_handed_on_and_counted),
		cmocka_unit_test(any_order_comes_out_sorted),
		cmocka_unit_test(without_watermarks_memory_is_bounded),
		cmocka_unit_test(what_waits_longer_makes_nothing_late),
		cmocka_unit_test(an_error_of_the_next_stage_comes_back),
	};

	return RUN(tests);
}
