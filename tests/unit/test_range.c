// SPDX-License-Identifier: GPL-2.0-only
/* The rules of the reconstruction while nothing is lost. */
#include "harness/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/entry.h"
#include "core/state.h"

/* ---- Messages and stamps ------------------------------------------------------------------ */

static void an_open_range_keeps_the_text_it_began_with(void **state)
{
	(void)state;
	expect("10 7 msg stamp=1 \"first\"\n"
	       "20 7 push stamp=1\n"
	       "30 7 msg stamp=1 \"second\"\n"
	       "40 7 mark stamp=1\n"
	       "50 7 pop\n",
	       "marker \"second\" 40 7/7 complete depth=1 parent=#1\n"
	       "push/pop \"first\" 20..50 7/7 complete\n");
}

static void texts_belong_to_process_and_stamp(void **state)
{
	(void)state;
	expect("10 7 msg stamp=1 \"a\"\n"
	       "11 8 msg stamp=1 \"b\"\n"
	       "12 7 msg stamp=2 \"c\"\n"
	       "20 7/9 mark stamp=1\n"
	       "21 8 mark stamp=1\n"
	       "22 7 mark stamp=2\n"
	       "23 7 mark stamp=3\n",
	       "marker \"a\" 20 7/9 complete\n"
	       "marker \"b\" 21 8/8 complete\n"
	       "marker \"c\" 22 7/7 complete\n"
	       "marker \"\" 23 7/7 complete\n");
}

static void a_null_stamp_is_one_of_the_thread(void **state)
{
	(void)state;
	expect("10 7/7 msg stamp=0 \"mine\"\n"
	       "11 7/8 msg stamp=0 \"yours\"\n"
	       "20 7/7 push stamp=0\n"
	       "21 7/8 push stamp=0\n"
	       "30 7/7 pop\n"
	       "31 7/8 pop\n",
	       "push/pop \"mine\" 20..30 7/7 complete\n"
	       "push/pop \"yours\" 21..31 7/8 complete\n");
}

static void create_resets_a_stamp_with_lifecycle_only(void **state)
{
	static const char script[] = "10 7 create ptr=0x10\n"
				     "11 7 msg stamp=0x10 \"a\"\n"
				     "12 7 category stamp=0x10 number=4\n"
				     "13 7 push stamp=0x10\n"
				     "14 7 pop\n"
				     "15 7 destroy stamp=0x10\n"
				     "16 7 create ptr=0x10\n"
				     "17 7 push stamp=0x10\n"
				     "18 7 pop\n";

	(void)state;
	expect(script, "push/pop \"a\" 13..14 7/7 complete category=4\n"
		       "push/pop \"a\" 17..18 7/7 complete category=4\n");
	expect_lifecycle(script, "push/pop \"a\" 13..14 7/7 complete category=4\n"
				 "push/pop \"\" 17..18 7/7 complete\n");
}

static void create_that_returned_null_is_counted_per_process(void **state)
{
	(void)state;
	expect("10 7 create ptr=0\n"
	       "11 7 create ptr=0\n"
	       "12 8 create ptr=0\n"
	       "13 8 exit last\n",
	       "null_stamp pid=8 1\n"
	       "null_stamp pid=7 2\n");
}

static void a_message_ends_at_its_first_nul(void **state)
{
	(void)state;
	expect("10 7 msg stamp=1 \"ab\\0cd\"\n"
	       "11 7 mark stamp=1\n"
	       "12 7 msg stamp=1 \"\"\n"
	       "13 7 mark stamp=1\n"
	       "14 7 msg stamp=1 \"x\\xff\\n\\\"\"\n"
	       "15 7 mark stamp=1\n",
	       "marker \"ab\" 11 7/7 complete\n"
	       "marker \"\" 13 7/7 complete\n"
	       "marker \"x\\xff\\x0a\\\"\" 15 7/7 complete\n");
}

static void a_long_message_is_cut_and_told(void **state)
{
	char text[301], script[512], expected[512];

	(void)state;
	memset(text, 'm', 300);
	text[300] = 0;
	snprintf(script, sizeof(script), "10 7 msg stamp=1 \"%s\"\n11 7 mark stamp=1\n", text);
	snprintf(expected, sizeof(expected),
		 "marker \"%.255s\" 11 7/7 complete cut\n"
		 "cut aclprofSetStampTraceMessage 1\n",
		 text);
	expect(script, expected);
	/* Its end came before the cut: nothing is missing. */
	expect("10 7 msg stamp=1 len=1000 \"short\\0\"\n11 7 mark stamp=1\n",
	       "marker \"short\" 11 7/7 complete\n");
}

static void an_unreadable_message_is_not_an_empty_one(void **state)
{
	(void)state;
	expect("10 7 msg stamp=1 len=5 unreadable \"fo\"\n"
	       "11 7 mark stamp=1\n"
	       "12 7 msg stamp=1 len=5 unreadable \"fo\\0o\"\n"
	       "13 7 mark stamp=1\n",
	       "marker \"fo\" 11 7/7 complete unreadable\n"
	       "marker \"fo\" 13 7/7 complete\n"
	       "unreadable aclprofSetStampTraceMessage 1\n");
}

static void category_and_payload_come_with_the_stamp(void **state)
{
	(void)state;
	expect_what(REC_SPANS | REC_TRACKS, (struct pipeline_config){0},
		    "10 7 category stamp=1 number=5\n"
		    "11 7 category_name number=5 \"io\"\n"
		    "12 7 category_name number=5 \"io\"\n"
		    "13 7 payload stamp=1 type=3 value=0x0102 size=4\n"
		    "14 7 push stamp=1\n"
		    "15 7 category stamp=1 number=6\n"
		    "16 7 pop\n",
		    "process 7 nspid=0 ppid=0 rank=-1 \"\" cmdline=\"\" exe=\"\"\n"
		    "category 7/5 \"io\"\n"
		    "push/pop \"\" 14..16 7/7 complete category=5 payload=3:02010000\n");
}

/* ---- push/pop ----------------------------------------------------------------------------- */

static void pushes_nest(void **state)
{
	(void)state;
	expect("10 7 msg stamp=1 \"A\"\n"
	       "20 7 push stamp=1\n"
	       "30 7 push stamp=1\n"
	       "40 7 push stamp=1\n"
	       "50 7 pop\n60 7 pop\n70 7 pop\n",
	       "push/pop \"A\" 40..50 7/7 complete depth=2 parent=#2\n"
	       "push/pop \"A\" 30..60 7/7 complete depth=1 parent=#1\n"
	       "push/pop \"A\" 20..70 7/7 complete\n");
}

static void threads_have_stacks_of_their_own(void **state)
{
	(void)state;
	expect("10 7/7 msg stamp=1 \"A\"\n"
	       "11 7/8 msg stamp=2 \"B\"\n"
	       "20 7/7 push stamp=1\n"
	       "21 7/8 push stamp=2\n"
	       "30 7/7 pop\n"
	       "31 7/8 pop\n",
	       "push/pop \"A\" 20..30 7/7 complete\n"
	       "push/pop \"B\" 21..31 7/8 complete\n");
}

static void a_pop_without_a_push_is_an_orphan(void **state)
{
	(void)state;
	expect("10 7 pop\n"
	       "20 7 push stamp=1\n30 7 pop\n40 7 pop\n",
	       "push/pop \"\" 20..30 7/7 complete\n"
	       "orphan aclprofPop 2\n");
}

static void ranges_of_no_length_stay_in_order(void **state)
{
	(void)state;
	expect("10 7 push stamp=1\n10 7 push stamp=1\n10 7 pop\n10 7 pop\n",
	       "push/pop \"\" 10..10 7/7 complete depth=1 parent=#1\n"
	       "push/pop \"\" 10..10 7/7 complete\n");
}

static void a_thread_ends_with_open_pushes(void **state)
{
	(void)state;
	expect("10 7/8 push stamp=1\n"
	       "20 7/8 push stamp=1\n"
	       "30 7/8 exit\n"
	       "40 7/8 pop\n"
	       "50 7/8 push stamp=1\n",
	       "push/pop \"\" 20..30 7/8 unfinished depth=1 parent=#1\n"
	       "push/pop \"\" 10..30 7/8 unfinished\n"
	       "push/pop \"\" 50.. 7/8 open\n"
	       "orphan aclprofPop 1\n");
}

static void a_new_thread_has_no_text_of_the_old_one(void **state)
{
	(void)state;
	expect("10 7/8 msg stamp=0 \"old\"\n"
	       "20 7/8 exit\n"
	       "30 7/8 mark stamp=0\n",
	       "marker \"\" 30 7/8 complete\n");
}

static void a_thread_id_used_again_is_seen_by_its_numbers(void **state)
{
	(void)state;
	/* As if the exit record had never been written. */
	expect("10 7/8 push stamp=1 seq=4\n"
	       "20 7/8 push stamp=1 seq=1 depth=0 min_depth=0\n"
	       "30 7/8 pop seq=2 depth=1 min_depth=1\n",
	       "push/pop \"\" 10.. 7/8 uncertain\n"
	       "push/pop \"\" 20..30 7/8 complete\n");
	/* The main thread's id is free again only when the process is gone. */
	expect("10 7 msg stamp=1 \"old\"\n"
	       "20 7 start stamp=1 id=3\n"
	       "30 7 mark stamp=1 seq=1 depth=0 min_depth=0\n"
	       "40 7 stop id=3\n",
	       "start/end \"old\" 20.. 7/7 uncertain\n"
	       "marker \"\" 30 7/7 complete\n"
	       "orphan aclprofRangeStop 1\n");
}

/* ---- start/end ---------------------------------------------------------------------------- */

static void ranges_overlap_and_cross_threads(void **state)
{
	(void)state;
	expect("1 7/7 msg stamp=1 \"a\"\n"
	       "2 7/8 msg stamp=2 \"b\"\n"
	       "10 7/7 start stamp=1 id=0\n"
	       "15 7/8 start stamp=2 id=1\n"
	       "20 7/9 stop id=0\n"
	       "25 7/8 stop id=1\n",
	       "start/end \"a\" 10..20 7/7 complete ->9\n"
	       "start/end \"b\" 15..25 7/8 complete\n");
}

static void ids_belong_to_a_process(void **state)
{
	(void)state;
	expect("10 7 start stamp=1 id=5\n11 8 start stamp=1 id=5\n20 8 stop id=5\n30 7 stop id=5\n",
	       "start/end \"\" 11..20 8/8 complete\n"
	       "start/end \"\" 10..30 7/7 complete\n");
}

static void a_failed_start_opens_nothing(void **state)
{
	(void)state;
	expect("10 7 start stamp=1 id=0 ret=-1\n20 7 stop id=0\n"
	       "30 7 start stamp=1 noid\n40 7 stop id=0\n"
	       "50 7 start stamp=0 id=0\n60 7 stop id=0\n",
	       "orphan aclprofRangeStop 3\n"
	       "failed aclprofRangeStart ret=-1 1\n");
}

static void a_second_start_supersedes_and_a_second_stop_is_an_orphan(void **state)
{
	(void)state;
	expect("10 7 start stamp=1 id=4\n"
	       "20 7/8 start stamp=1 id=4\n"
	       "30 7 stop id=4\n"
	       "40 7 stop id=4\n",
	       "start/end \"\" 10..20 7/7 superseded\n"
	       "start/end \"\" 20..30 7/8 complete ->7\n"
	       "orphan aclprofRangeStop 1\n");
}

static void a_start_takes_effect_at_its_entry(void **state)
{
	(void)state;
	expect("10 7/7 start stamp=1\n"
	       "12 7/8 stop id=0\n"
	       "15 7/7 return start id=0\n",
	       "start/end \"\" 10..12 7/7 complete ->8\n");
	/* Of two waiting stops the first takes it. */
	expect("10 7/7 start stamp=1\n"
	       "12 7/8 stop id=0\n"
	       "13 7/9 stop id=0\n"
	       "15 7/7 return start id=0\n",
	       "start/end \"\" 10..12 7/7 complete ->8\n"
	       "orphan aclprofRangeStop 1\n");
	/* A later start does not serve an earlier stop. */
	expect("10 7/7 start stamp=1\n"
	       "12 7/8 stop id=0\n"
	       "13 7/9 start stamp=2\n"
	       "14 7/9 return start id=0\n"
	       "15 7/7 return start id=1\n"
	       "20 7/7 stop id=0\n"
	       "21 7/7 stop id=1\n",
	       "start/end \"\" 13..20 7/9 complete ->7\n"
	       "start/end \"\" 10..21 7/7 complete\n"
	       "orphan aclprofRangeStop 1\n");
}

static void starts_count_in_the_order_of_their_entries(void **state)
{
	(void)state;
	/* 7/7 entered first, so 7/8's range superseded its, though it was known earlier. */
	expect("10 7/7 start stamp=1\n"
	       "12 7/8 start stamp=1 id=0\n"
	       "15 7/7 return start id=0\n"
	       "20 7/7 stop id=0\n",
	       "start/end \"\" 10..12 7/7 superseded\n"
	       "start/end \"\" 12..20 7/8 complete ->7\n");
	/* The same when that range has ended meanwhile. */
	expect("10 7/7 start stamp=1\n"
	       "12 7/8 start stamp=1 id=0\n"
	       "14 7/9 stop id=0\n"
	       "15 7/7 return start id=0\n"
	       "20 7/7 stop id=0\n",
	       "start/end \"\" 12..14 7/8 complete ->9\n"
	       "start/end \"\" 10..12 7/7 superseded\n"
	       "orphan aclprofRangeStop 1\n");
}

static void of_several_later_starts_the_first_counts(void **state)
{
	(void)state;
	expect("10 7/7 start stamp=1\n"
	       "12 7/8 start stamp=1 id=0\n"
	       "14 7/9 start stamp=1 id=0\n"
	       "16 7/9 stop id=0\n"
	       "18 7/7 return start id=0\n",
	       "start/end \"\" 12..14 7/8 superseded\n"
	       "start/end \"\" 14..16 7/9 complete\n"
	       "start/end \"\" 10..12 7/7 superseded\n");
}

static void a_start_that_never_returned_is_uncertain(void **state)
{
	(void)state;
	/* A long jump: nothing was lost, yet what id it took is unknown. */
	expect("5 7/7 start stamp=1 id=0\n"
	       "10 7/8 start stamp=1\n"
	       "20 7/8 mark stamp=1\n"
	       "30 7/7 stop id=0\n",
	       "start/end \"\" 10.. 7/8 uncertain\n"
	       "marker \"\" 20 7/8 complete\n"
	       "start/end \"\" 5.. 7/7 uncertain\n");
	expect("10 7/8 start stamp=1\n"
	       "20 7/9 stop id=3\n"
	       "30 7/8 exit\n"
	       "40 7/8 start stamp=2\n",
	       "start/end \"\" 10..30 7/8 unfinished\n"
	       "start/end \"\" 40.. 7/8 open\n"
	       "orphan aclprofRangeStop 1\n");
}

static void a_stop_waits_no_longer_than_the_trace(void **state)
{
	(void)state;
	expect("10 7/8 start stamp=1\n20 7/9 stop id=3\n", "start/end \"\" 10.. 7/8 open\n"
							   "orphan aclprofRangeStop 1\n");
}

static void start_and_push_do_not_mix(void **state)
{
	(void)state;
	expect("10 7 push stamp=1\n"
	       "20 7 start stamp=1 id=2\n"
	       "30 7 pop\n"
	       "40 7 stop id=2\n",
	       "push/pop \"\" 10..30 7/7 complete\n"
	       "start/end \"\" 20..40 7/7 complete depth=1 parent=#1\n");
}

/* ---- Processes ---------------------------------------------------------------------------- */

static void a_process_ends_with_open_ranges(void **state)
{
	(void)state;
	expect("10 7/7 push stamp=1\n"
	       "11 7/8 push stamp=1\n"
	       "12 7/8 start stamp=1 id=9\n"
	       "20 7/8 exit\n"
	       "30 7/7 exit last\n"
	       "40 7/7 stop id=9\n"
	       "50 7/7 pop\n",
	       "push/pop \"\" 11..20 7/8 unfinished\n"
	       "push/pop \"\" 10..30 7/7 unfinished\n"
	       "start/end \"\" 12..30 7/8 unfinished depth=1 parent=#2\n"
	       "orphan aclprofPop 1\n"
	       "orphan aclprofRangeStop 1\n");
}

static void exec_ends_everything_and_resets_stamps(void **state)
{
	(void)state;
	expect("10 7/7 msg stamp=1 \"a\"\n"
	       "11 7/7 msg stamp=0 \"n\"\n"
	       "12 7/7 push stamp=1\n"
	       "13 7/7 start stamp=1 id=0\n"
	       "20 7/7 exec \"other\"\n"
	       "30 7/7 mark stamp=1\n"
	       "31 7/7 mark stamp=0\n"
	       "32 7/7 pop\n"
	       "33 7/7 stop id=0\n",
	       "push/pop \"a\" 12..20 7/7 unfinished\n"
	       "start/end \"a\" 13..20 7/7 unfinished depth=1 parent=#1\n"
	       "marker \"\" 30 7/7 complete\n"
	       "marker \"\" 31 7/7 complete\n"
	       "orphan aclprofPop 1\n"
	       "orphan aclprofRangeStop 1\n");
}

static void a_child_inherits_texts_but_no_ranges(void **state)
{
	(void)state;
	expect("10 7/7 msg stamp=1 \"a\"\n"
	       "11 7/7 msg stamp=0 \"n\"\n"
	       "12 7/7 start stamp=1 id=0\n"
	       "13 7/7 push stamp=1\n"
	       "20 7/7 fork child=9 \"child\"\n"
	       "21 7/7 msg stamp=1 \"b\"\n"
	       "30 9/9 mark stamp=1\n"
	       "31 9/9 mark stamp=0\n"
	       "32 9/9 pop\n"
	       "33 9/9 stop id=0\n"
	       "40 7/7 stop id=0\n"
	       "41 7/7 pop\n",
	       "marker \"a\" 30 9/9 complete\n"
	       "marker \"n\" 31 9/9 complete\n"
	       "start/end \"a\" 12..40 7/7 complete\n"
	       "push/pop \"a\" 13..41 7/7 complete\n"
	       "orphan aclprofPop 1\n"
	       "orphan aclprofRangeStop 1\n");
}

static void workers_go_on_when_the_main_thread_has_gone(void **state)
{
	(void)state;
	expect("10 7/7 push stamp=1\n20 7/7 exit\n30 7/8 push stamp=1\n40 7/8 pop\n",
	       "push/pop \"\" 10..20 7/7 unfinished\n"
	       "push/pop \"\" 30..40 7/8 complete\n");
}

static void the_end_of_the_trace_leaves_ranges_open(void **state)
{
	(void)state;
	expect("10 7 push stamp=1\n20 7 push stamp=1\n30 7 start stamp=1 id=1\n",
	       "push/pop \"\" 20.. 7/7 open depth=1 parent=#1\n"
	       "push/pop \"\" 10.. 7/7 open\n"
	       "start/end \"\" 30.. 7/7 open depth=2 parent=#2\n");
}

/* ---- Marks -------------------------------------------------------------------------------- */

static void marks_are_instants(void **state)
{
	(void)state;
	expect("10 7 mark_ex stream=3 \"device\"\n"
	       "20 7 msg stamp=1 \"m\"\n"
	       "30 7 push stamp=1\n"
	       "40 7 mark_ex stream=3 \"d2\"\n"
	       "50 7 mark stamp=1\n"
	       "60 7 pop\n",
	       "marker_ex \"device\" 10 7/7 complete domain=default\n"
	       "marker_ex \"d2\" 40 7/7 complete depth=1 parent=#2 domain=default\n"
	       "marker \"m\" 50 7/7 complete depth=1 parent=#2\n"
	       "push/pop \"m\" 30..60 7/7 complete\n");
}

static void other_functions_are_only_counted(void **state)
{
	(void)state;
	expect_what(REC_SPANS | REC_TALLIES | REC_CALLS, (struct pipeline_config){0},
		    "10 7 aclprofRangePushEx\n20 7 aclprofRangePop\n30 7 aclprofRangePop\n"
		    "40 - counts\n",
		    "call aclprofRangePushEx 1\n"
		    "call aclprofRangePop 2\n");
}

/* ---- Returns ------------------------------------------------------------------------------ */

static void failed_calls_with_a_stamp_are_dropped_with_returns(void **state)
{
	(void)state;
	expect_returns("10 7 msg stamp=1 \"a\" ret=0\n"
		       "11 7 msg stamp=1 \"refused\" ret=-1\n"
		       "12 7 mark stamp=1 ret=0\n"
		       "13 7 mark stamp=1 ret=5\n"
		       "20 7 push stamp=1 ret=0\n"
		       "21 7 push stamp=1 ret=-1\n"
		       "22 7 pop ret=0\n"
		       "23 7 pop ret=-1\n"
		       "30 7 start stamp=1 id=0 ret=0\n"
		       "31 7 stop id=0 ret=0\n",
		       "marker \"a\" 12 7/7 complete ret=0\n"
		       "push/pop \"a\" 20..22 7/7 complete ret=0\n"
		       "start/end \"a\" 30..31 7/7 complete ret=0\n"
		       "orphan aclprofPop 1\n"
		       "failed aclprofSetStampTraceMessage ret=-1 1\n"
		       "failed aclprofMark ret=5 1\n"
		       "failed aclprofPush ret=-1 1\n"
		       "failed aclprofPop ret=-1 1\n");
}

static void with_a_null_stamp_failed_calls_are_recorded(void **state)
{
	(void)state;
	expect_returns("10 7 msg stamp=0 \"n\" ret=-1\n"
		       "12 7 mark stamp=0 ret=-1\n"
		       "20 7 push stamp=0 ret=100000\n"
		       "22 7 pop ret=0\n"
		       "30 7 start stamp=0 ret=100000\n"
		       "31 7 mark_ex \"x\" ret=3\n",
		       "marker \"n\" 12 7/7 complete ret=-1\n"
		       "push/pop \"n\" 20..22 7/7 complete ret=100000\n"
		       "marker_ex \"x\" 31 7/7 complete ret=3 domain=default\n"
		       "failed aclprofSetStampTraceMessage ret=-1 1\n"
		       "failed aclprofMark ret=-1 1\n"
		       "failed aclprofPush ret=100000 1\n"
		       "failed aclprofRangeStart ret=100000 1\n"
		       "failed aclprofMarkEx ret=3 1\n");
}

static void a_failed_setting_is_undone_whatever_it_set(void **state)
{
	(void)state;
	expect_returns("10 7 category stamp=1 number=3 ret=0\n"
		       "11 7 payload stamp=1 type=1 value=5 size=1 ret=0\n"
		       "12 7 category stamp=1 number=4 ret=-1\n"
		       "13 7 payload stamp=1 type=2 value=6 size=1 ret=-1\n"
		       "14 7 mark stamp=1 ret=0\n",
		       "marker \"\" 14 7/7 complete category=3 payload=1:05 ret=0\n"
		       "failed aclprofSetStampCategory ret=-1 1\n"
		       "failed aclprofSetStampPayload ret=-1 1\n");
}

static void a_setting_made_meanwhile_is_not_undone(void **state)
{
	(void)state;
	expect_returns("10 7/7 msg stamp=1 \"a\"\n"
		       "11 7/8 msg stamp=1 \"b\" ret=0\n"
		       "12 7/7 return msg ret=-1\n"
		       "14 7/7 mark stamp=1 ret=0\n",
		       "marker \"b\" 14 7/7 complete ret=0\n"
		       "failed aclprofSetStampTraceMessage ret=-1 1\n");
}

static void a_capture_can_say_that_it_has_returns(void **state)
{
	(void)state;
	expect("1 - fact option \"returns=1\"\n"
	       "2 - fact option \"lifecycle=1\"\n"
	       "3 7 msg stamp=1 \"a\" ret=0\n"
	       "4 7 create ptr=1\n"
	       "10 7 mark stamp=1 ret=5\n"
	       "11 7 mark stamp=1 ret=0\n",
	       "marker \"\" 11 7/7 complete ret=0\n"
	       "failed aclprofMark ret=5 1\n");
}

/* ---- Limits ------------------------------------------------------------------------------- */

struct lines {
	char *text;
	size_t len, room;
};

static void add(struct lines *l, const char *line)
{
	size_t n = strlen(line);

	if (l->len + n + 1 > l->room) {
		l->room = 2 * (l->room + n + 1);
		l->text = realloc(l->text, l->room);
		assert_non_null(l->text);
	}
	memcpy(l->text + l->len, line, n + 1);
	l->len += n;
}

static void the_stack_has_a_limit(void **state)
{
	struct lines script = {0}, expected = {0};
	char line[128];

	(void)state;
	for (int i = 0; i < STACK_MAX + 2; i++)
		add(&script, "+0 7 push stamp=1\n");
	for (int i = 0; i < STACK_MAX + 3; i++)
		add(&script, "+0 7 pop\n");
	for (int i = STACK_MAX; i < STACK_MAX + 2; i++) {
		snprintf(line, sizeof(line), "push/pop \"\" 0.. 7/7 uncertain depth=%d%s\n", i,
			 i == STACK_MAX ? " parent=#4096" : "");
		add(&expected, line);
	}
	for (int i = STACK_MAX - 1; i > 0; i--) {
		snprintf(line, sizeof(line),
			 "push/pop \"\" 0..0 7/7 complete depth=%d parent=#%d\n", i, i);
		add(&expected, line);
	}
	add(&expected, "push/pop \"\" 0..0 7/7 complete\n"
		       "limit aclprofPush 2\n"
		       "orphan aclprofPop 1\n");
	expect(script.text, expected.text);
	free(script.text);
	free(expected.text);
}

static void stamps_and_ids_have_limits(void **state)
{
	struct lines script = {0}, expected = {0};
	char line[128];

	(void)state;
	for (int i = 1; i <= STAMPS_MAX + 1; i++) {
		snprintf(line, sizeof(line), "+0 7 msg stamp=%d \"a\"\n", i);
		add(&script, line);
	}
	snprintf(line, sizeof(line), "+0 7 mark stamp=%d\n", STAMPS_MAX + 1);
	add(&script, line);
	for (int i = 0; i <= OPEN_IDS_MAX; i++) {
		snprintf(line, sizeof(line), "+0 7 start stamp=1 id=%d\n", i);
		add(&script, line);
	}
	for (int i = OPEN_IDS_MAX; i >= 0; i--) {
		snprintf(line, sizeof(line), "+0 7 stop id=%d\n", i);
		add(&script, line);
	}
	add(&expected, "marker \"\" 0 7/7 uncertain\n"
		       "start/end \"a\" 0.. 7/7 uncertain\n");
	for (int i = 0; i < OPEN_IDS_MAX; i++)
		add(&expected, "start/end \"a\" 0..0 7/7 complete\n");
	add(&expected, "limit aclprofSetStampTraceMessage 1\n"
		       "limit aclprofRangeStart 1\n");
	expect(script.text, expected.text);
	free(script.text);
	free(expected.text);
}

struct tallied {
	uint64_t spans, complete, limit, others;
};

static int tally_span(void *ctx, const struct span *sp)
{
	struct tallied *n = ctx;

	n->spans++;
	n->complete += sp->status == SPAN_COMPLETE;
	return 0;
}

static int tally_tally(void *ctx, const struct tally *t)
{
	struct tallied *n = ctx;

	*(t->kind == TALLY_LIMIT ? &n->limit : &n->others) += t->kind == TALLY_CALL ? 0 : t->count;
	return 0;
}

static void all_open_spans_together_have_a_limit(void **state)
{
	const unsigned int threads = 256, pushes = 4000, all = threads * pushes;
	struct tallied n = {0};
	const struct consumer next = {.ctx = &n, .span = tally_span, .tally = tally_tally};
	const struct pipeline_config cfg = {0};
	struct pipeline *p;

	(void)state;
	assert_ok(pipeline_new(&cfg, &next, &p));
	for (unsigned int i = 0; i < 2 * all; i++) {
		unsigned int depth = i < all ? i / threads : pushes - (i - all) / threads;
		const struct wire w = {
			.time_ns = i / 2,
			.tgid = 7,
			.tid = 100 + i % threads,
			.len = sizeof(w),
			.kind = WIRE_CALL,
			.func = entry_by_symbol(i < all ? "aclprofPush" : "aclprofPop")->func,
			.seq = 1 + i / threads,
			.depth = (__u16)depth,
			.min_depth = (__u16)depth,
		};
		const struct wire mark = {
			.time_ns = i / 2, .len = sizeof(w), .kind = WIRE_WATERMARK};

		assert_ok(pipeline_push(p, &w, sizeof(w)));
		if (i % 65536 == 0)
			assert_ok(pipeline_push(p, &mark, sizeof(mark)));
	}
	assert_ok(pipeline_finish(p, true));
	pipeline_free(p);
	assert_int_equal(n.spans, all);
	assert_int_equal(n.complete, OPEN_MAX);
	assert_int_equal(n.limit, all - OPEN_MAX);
	assert_int_equal(n.others, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_open_range_keeps_the_text_it_began_with),
		cmocka_unit_test(texts_belong_to_process_and_stamp),
		cmocka_unit_test(a_null_stamp_is_one_of_the_thread),
		cmocka_unit_test(create_resets_a_stamp_with_lifecycle_only),
		cmocka_unit_test(create_that_returned_null_is_counted_per_process),
		cmocka_unit_test(a_message_ends_at_its_first_nul),
		cmocka_unit_test(a_long_message_is_cut_and_told),
		cmocka_unit_test(an_unreadable_message_is_not_an_empty_one),
		cmocka_unit_test(category_and_payload_come_with_the_stamp),
		cmocka_unit_test(pushes_nest),
		cmocka_unit_test(threads_have_stacks_of_their_own),
		cmocka_unit_test(a_pop_without_a_push_is_an_orphan),
		cmocka_unit_test(ranges_of_no_length_stay_in_order),
		cmocka_unit_test(a_thread_ends_with_open_pushes),
		cmocka_unit_test(a_new_thread_has_no_text_of_the_old_one),
		cmocka_unit_test(a_thread_id_used_again_is_seen_by_its_numbers),
		cmocka_unit_test(ranges_overlap_and_cross_threads),
		cmocka_unit_test(ids_belong_to_a_process),
		cmocka_unit_test(a_failed_start_opens_nothing),
		cmocka_unit_test(a_second_start_supersedes_and_a_second_stop_is_an_orphan),
		cmocka_unit_test(a_start_takes_effect_at_its_entry),
		cmocka_unit_test(starts_count_in_the_order_of_their_entries),
		cmocka_unit_test(of_several_later_starts_the_first_counts),
		cmocka_unit_test(a_start_that_never_returned_is_uncertain),
		cmocka_unit_test(a_stop_waits_no_longer_than_the_trace),
		cmocka_unit_test(start_and_push_do_not_mix),
		cmocka_unit_test(a_process_ends_with_open_ranges),
		cmocka_unit_test(exec_ends_everything_and_resets_stamps),
		cmocka_unit_test(a_child_inherits_texts_but_no_ranges),
		cmocka_unit_test(workers_go_on_when_the_main_thread_has_gone),
		cmocka_unit_test(the_end_of_the_trace_leaves_ranges_open),
		cmocka_unit_test(marks_are_instants),
		cmocka_unit_test(other_functions_are_only_counted),
		cmocka_unit_test(failed_calls_with_a_stamp_are_dropped_with_returns),
		cmocka_unit_test(with_a_null_stamp_failed_calls_are_recorded),
		cmocka_unit_test(a_failed_setting_is_undone_whatever_it_set),
		cmocka_unit_test(a_setting_made_meanwhile_is_not_undone),
		cmocka_unit_test(a_capture_can_say_that_it_has_returns),
		cmocka_unit_test(the_stack_has_a_limit),
		cmocka_unit_test(stamps_and_ids_have_limits),
		cmocka_unit_test(all_open_spans_together_have_a_limit),
	};

	return RUN(tests);
}
