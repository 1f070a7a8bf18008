// SPDX-License-Identifier: GPL-2.0-only
/* Rule 10: after a gap nothing wrong is called complete, and what is proven still is. */
#include "harness/expect.h"

static const struct pipeline_config plain;

static void expect_spans(const char *script, const char *expected)
{
	expect_what(REC_SPANS, plain, script, expected);
}

/* ---- push/pop: proven by min_depth --------------------------------------------------------- */

static void levels_below_the_lowest_depth_stay_complete(void **state)
{
	(void)state;
	/* outer is never touched; inner ends in the gap, and another begins there. */
	expect("10 7 push stamp=1\n"
	       "20 7 push stamp=1\n"
	       "30 7 lost pop\n"
	       "40 7 lost push stamp=1\n"
	       "50 7 pop\n"
	       "60 7 pop\n",
	       "push/pop \"\" 20.. 7/7 uncertain depth=1 parent=#1\n"
	       "push/pop \"\" 10..60 7/7 complete\n"
	       "lost_start aclprofPop 1\n");
}

static void a_lost_pop_ends_its_level(void **state)
{
	(void)state;
	expect_spans("10 7 push stamp=1\n20 7 lost pop\n30 7 push stamp=1\n40 7 pop\n",
		     "push/pop \"\" 10.. 7/7 uncertain\n"
		     "push/pop \"\" 30.. 7/7 uncertain\n");
	/* The second one's text was set before the gap; set anew, it is proven. */
	expect_spans("10 7 push stamp=1\n20 7 lost pop\n25 7 msg stamp=1 \"new\"\n"
		     "30 7 push stamp=1\n40 7 pop\n",
		     "push/pop \"\" 10.. 7/7 uncertain\n"
		     "push/pop \"new\" 30..40 7/7 complete\n");
}

static void a_pop_of_a_lost_push_is_a_lost_start(void **state)
{
	(void)state;
	expect("10 7 lost push stamp=1\n"
	       "20 7 msg stamp=1 \"x\"\n"
	       "30 7 push stamp=1\n"
	       "40 7 mark stamp=1\n"
	       "50 7 pop\n"
	       "60 7 mark stamp=1\n"
	       "70 7 pop\n"
	       "80 7 pop\n",
	       "marker \"x\" 40 7/7 complete depth=2 parent=#1\n"
	       "push/pop \"x\" 30..50 7/7 complete depth=1\n"
	       "marker \"x\" 60 7/7 complete depth=1\n"
	       "orphan aclprofPop 1\n"
	       "lost_start aclprofPop 1\n");
}

static void a_loss_of_another_thread_does_not_harm_the_stack(void **state)
{
	(void)state;
	expect_spans("10 7/7 push stamp=1\n"
		     "20 7/8 lost push stamp=1\n"
		     "30 7/7 pop\n",
		     "push/pop \"\" 10..30 7/7 complete\n");
}

static void a_thread_lost_from_its_first_call_on(void **state)
{
	(void)state;
	expect("10 7/8 lost push stamp=1\n"
	       "20 7/8 lost push stamp=1\n"
	       "30 7/8 pop\n"
	       "40 7/8 pop\n"
	       "50 7/8 pop\n",
	       "orphan aclprofPop 1\n"
	       "lost_start aclprofPop 2\n");
}

static void depth_at_the_end_of_a_thread(void **state)
{
	(void)state;
	/* The exit record knows the stack: what it proves is unfinished, the rest is not. */
	expect_spans("10 7/8 push stamp=1\n20 7/8 push stamp=1\n30 7/8 lost pop\n40 7/8 exit\n",
		     "push/pop \"\" 20.. 7/8 uncertain depth=1 parent=#1\n"
		     "push/pop \"\" 10..40 7/8 unfinished\n");
	/* Without it (another thread ended the process) only the gap is left as proof. */
	expect_spans("10 7/8 push stamp=1\n20 7/8 lost exit\n30 7/7 exit last\n",
		     "push/pop \"\" 10.. 7/8 uncertain\n");
	expect_spans("10 7/8 push stamp=1\n30 7/7 exit last\n",
		     "push/pop \"\" 10..30 7/8 unfinished\n");
}

static void an_exit_that_was_lost_ends_the_old_thread(void **state)
{
	(void)state;
	expect_spans("10 7/8 push stamp=1\n"
		     "20 7/8 push stamp=1\n"
		     "30 7/8 lost exit\n"
		     "40 7/8 msg stamp=1 \"n\"\n"
		     "50 7/8 push stamp=1\n"
		     "60 7/8 pop\n",
		     "push/pop \"\" 20.. 7/8 uncertain depth=1 parent=#1\n"
		     "push/pop \"\" 10.. 7/8 uncertain\n"
		     "push/pop \"n\" 50..60 7/8 complete\n");
}

static void a_huge_depth_costs_nothing(void **state)
{
	(void)state;
	expect("10 7 push stamp=1 depth=65535 min_depth=65535\n"
	       "20 7 pop depth=65535 min_depth=65535\n"
	       "30 7 pop depth=1 min_depth=1\n",
	       "push/pop \"\" 10.. 7/7 uncertain depth=65535\n"
	       "limit aclprofPush 1\n"
	       "lost_start aclprofPop 1\n");
	/* More than depth cannot be the lowest. */
	expect_spans("10 7 push stamp=1\n20 7 pop depth=1 min_depth=9\n",
		     "push/pop \"\" 10..20 7/7 complete\n");
}

static void threads_without_state_prove_nothing(void **state)
{
	(void)state;
	expect("10 7 push stamp=1 nostate\n"
	       "20 7 mark stamp=1 nostate\n"
	       "30 7 pop nostate\n"
	       "40 7 pop nostate\n"
	       "50 7 start stamp=1 nostate id=1\n"
	       "60 7/8 stop id=1\n",
	       "marker \"\" 20 7/7 uncertain depth=1 parent=#1\n"
	       "push/pop \"\" 10.. 7/7 uncertain\n"
	       "start/end \"\" 50.. 7/7 uncertain\n"
	       "orphan aclprofPop 1\n");
}

static void a_start_without_state_is_told_and_its_stop_is_no_orphan(void **state)
{
	(void)state;
	expect("10 7/8 start stamp=1 nostate noid\n"
	       "20 7/9 start stamp=1 id=1\n"
	       "30 7/8 stop id=5 nostate\n"
	       "40 7/9 stop id=1\n",
	       "start/end \"\" 10.. 7/8 uncertain\n"
	       "start/end \"\" 20..40 7/9 complete\n"
	       "limit aclprofRangeStart 1\n");
}

static void a_pop_without_state_may_have_a_lost_push(void **state)
{
	(void)state;
	expect("10 7/8 lost push stamp=1 nostate\n20 7/8 pop nostate\n",
	       "lost_start aclprofPop 1\n");
}

/* Pushes before it are not in its depth. */
static void a_state_that_came_late_proves_nothing(void **state)
{
	(void)state;
	expect_spans("10 7/8 push stamp=1 nostate\n"
		     "20 7/8 push stamp=1 latestate\n"
		     "30 7/8 pop latestate\n"
		     "40 7/8 pop latestate\n",
		     "push/pop \"\" 20.. 7/8 uncertain depth=1 parent=#1\n"
		     "push/pop \"\" 10.. 7/8 uncertain\n");
	expect_spans("10 7/8 lost push stamp=1 nostate\n"
		     "20 7/8 push stamp=1 latestate\n"
		     "30 7/8 pop latestate\n",
		     "push/pop \"\" 20.. 7/8 uncertain\n");
	/* Of a process that has lost nothing there were no records before the first. */
	expect_spans("10 7/8 push stamp=1 latestate\n20 7/8 pop latestate\n",
		     "push/pop \"\" 10..20 7/8 complete\n");
	expect_spans("10 7/8 push stamp=1 latestate\n20 7/9 lost mark stamp=1\n"
		     "30 7/8 pop latestate\n",
		     "push/pop \"\" 10..30 7/8 complete\n");
}

/* ---- start/end: proven by an equal gap ----------------------------------------------------- */

static void a_gap_between_start_and_stop(void **state)
{
	(void)state;
	expect_spans("10 7/7 start stamp=1 id=1\n"
		     "20 7/8 lost mark stamp=1\n"
		     "30 7/7 stop id=1\n"
		     "40 8/8 start stamp=1 id=1\n"
		     "50 8/8 stop id=1\n",
		     "start/end \"\" 10.. 7/7 uncertain\n"
		     "start/end \"\" 40..50 8/8 complete\n");
}

static void a_lost_stop_and_a_lost_start_of_one_id(void **state)
{
	(void)state;
	expect("10 7 start stamp=1 id=1\n"
	       "20 7 lost stop id=1\n"
	       "30 7 lost start stamp=1\n"
	       "40 7 return start id=1\n"
	       "50 7 stop id=1\n",
	       "start/end \"\" 10.. 7/7 uncertain\n"
	       "lost_start aclprofRangeStop 1\n");
}

static void a_lost_return_makes_its_range_uncertain(void **state)
{
	(void)state;
	expect("10 7/7 start stamp=1\n"
	       "15 7/7 lost return start id=1\n"
	       "20 7/7 msg stamp=1 \"x\"\n"
	       "30 7/7 stop id=1\n",
	       "start/end \"\" 10.. 7/7 uncertain\n"
	       "orphan aclprofRangeStop 1\n");
}

static void a_return_belongs_to_its_own_call(void **state)
{
	(void)state;
	/* The first call's return and the second call's entry were lost: not one call. */
	expect("10 7/7 start stamp=1\n"
	       "15 7/7 lost return start id=1\n"
	       "20 7/7 lost start stamp=1\n"
	       "25 7/7 return start id=2\n"
	       "30 7/7 stop id=2\n",
	       "start/end \"\" 10.. 7/7 uncertain\n"
	       "lost_start aclprofRangeStop 1\n");
}

static void a_loss_while_the_start_is_in_flight(void **state)
{
	(void)state;
	/* The stop that was lost may have been of this id: the start's gap is that of its entry. */
	expect_spans("10 7/7 start stamp=1\n"
		     "12 7/8 lost stop id=1\n"
		     "15 7/7 return start id=1\n"
		     "20 7/8 stop id=1\n",
		     "start/end \"\" 10.. 7/7 uncertain\n");
	expect_spans("10 7/7 start stamp=1\n"
		     "12 7/8 lost mark stamp=1\n"
		     "13 7/8 stop id=1\n"
		     "15 7/7 return start id=1\n",
		     "start/end \"\" 10.. 7/7 uncertain\n");
}

static void a_stop_that_may_belong_to_a_start_in_flight(void **state)
{
	(void)state;
	/* The first range was stopped unseen; so the second stop is of the second range. */
	expect_spans("10 7/7 start stamp=1 id=1\n"
		     "20 7/7 lost stop id=1\n"
		     "25 7/7 msg stamp=1 \"n\"\n"
		     "30 7/7 start stamp=1\n"
		     "40 7/8 stop id=1\n"
		     "50 7/7 return start id=1\n"
		     "60 7/8 stop id=1\n",
		     "start/end \"\" 10.. 7/7 uncertain\n"
		     "start/end \"n\" 30.. 7/7 uncertain\n");
}

static void a_range_that_may_have_ended_takes_no_stop_for_sure(void **state)
{
	(void)state;
	/*
	 * The stop at 45 ended the range of thread 9, or that of 8 if a lost stop ended the other;
	 * then the one at 60 belongs to the start of 7.
	 */
	expect_spans("10 7/9 start stamp=1\n15 7/9 return start id=2\n"
		     "20 7/8 lost stop id=2\n"
		     "30 7/9 msg stamp=1 \"x\"\n"
		     "40 7/8 start stamp=1\n45 7/9 stop id=2\n48 7/8 return start id=2\n"
		     "50 7/7 start stamp=1\n60 7/9 stop id=2\n65 7/7 return start id=2\n"
		     "70 7/9 start stamp=1\n75 7/9 return start id=2\n80 7/9 stop id=2\n",
		     "start/end \"\" 10.. 7/9 uncertain\n"
		     "start/end \"x\" 40.. 7/8 uncertain\n"
		     "start/end \"x\" 50.. 7/7 uncertain\n"
		     "start/end \"x\" 70..80 7/9 complete\n");
}

static void ranges_older_than_a_start_in_flight_do_not_blur_it(void **state)
{
	(void)state;
	/* Thread 9 is in flight from before the first range to after the third has begun. */
	expect_spans("5 7/9 start stamp=1\n"
		     "10 7/8 start stamp=1\n11 7/8 return start id=1\n"
		     "12 7/8 start stamp=1\n13 7/8 return start id=1\n14 7/8 stop id=1\n"
		     "20 7/7 start stamp=1\n"
		     "25 7/9 return start ret=-1\n"
		     "30 7/8 start stamp=1\n31 7/8 return start id=1\n32 7/8 stop id=1\n"
		     "40 7/7 return start id=1\n",
		     "start/end \"\" 10..12 7/8 superseded\n"
		     "start/end \"\" 12..14 7/8 complete\n"
		     "start/end \"\" 30..32 7/8 complete\n"
		     "start/end \"\" 20..30 7/7 superseded\n");
}

static void a_gap_before_a_superseding_start(void **state)
{
	(void)state;
	expect_spans("10 7 start stamp=1 id=1\n"
		     "20 7 lost stop id=1\n"
		     "25 7 msg stamp=1 \"n\"\n"
		     "30 7 start stamp=1 id=1\n"
		     "40 7 stop id=1\n",
		     "start/end \"\" 10.. 7/7 uncertain\n"
		     "start/end \"n\" 30..40 7/7 complete\n");
}

static void a_gap_before_the_process_ends(void **state)
{
	(void)state;
	expect_spans("10 7 start stamp=1 id=1\n20 7 lost stop id=1\n30 7 exit last\n",
		     "start/end \"\" 10.. 7/7 uncertain\n");
	/* At the end of the trace: seen by the last record of the process. */
	expect_spans("10 7 start stamp=1 id=1\n20 7 lost stop id=1\n"
		     "30 7 msg stamp=1 \"\"\n",
		     "start/end \"\" 10.. 7/7 uncertain\n");
}

static void an_id_is_never_proven_after_an_unknown_start(void **state)
{
	(void)state;
	expect_spans("10 7/7 start stamp=1 id=1\n20 7/8 start stamp=2 noid\n30 7/7 stop id=1\n",
		     "start/end \"\" 10.. 7/7 uncertain\n");
}

/* ---- Texts --------------------------------------------------------------------------------- */

static void a_text_set_before_a_gap_is_not_proven(void **state)
{
	(void)state;
	expect_spans("10 7 msg stamp=1 \"old\"\n"
		     "20 7 lost msg stamp=1 \"new\"\n"
		     "30 7 mark stamp=1\n"
		     "40 7 push stamp=1\n"
		     "50 7 pop\n"
		     "60 7 msg stamp=1 \"known\"\n"
		     "70 7 mark stamp=1\n"
		     "80 7 mark stamp=2\n",
		     "marker \"old\" 30 7/7 uncertain\n"
		     "push/pop \"old\" 40.. 7/7 uncertain\n"
		     "marker \"known\" 70 7/7 complete\n"
		     "marker \"\" 80 7/7 uncertain\n");
}

static void a_category_set_before_a_gap_is_not_proven(void **state)
{
	(void)state;
	expect_spans("10 7 category stamp=1 number=3\n"
		     "20 7 lost mark stamp=1\n"
		     "30 7 msg stamp=1 \"a\"\n"
		     "40 7 mark stamp=1\n"
		     "50 7 category stamp=1 number=3\n"
		     "60 7 mark stamp=1\n",
		     "marker \"a\" 40 7/7 uncertain category=3\n"
		     "marker \"a\" 60 7/7 complete category=3\n");
	/* Nobody sets categories: the default is no matter of doubt. */
	expect_spans("20 7 lost mark stamp=1\n30 7 msg stamp=1 \"a\"\n40 7 mark stamp=1\n",
		     "marker \"a\" 40 7/7 complete\n");
	/* Unless those who did were lost. */
	expect_spans("20 7 lost category stamp=1 number=3\n25 - losses\n"
		     "30 7 msg stamp=1 \"a\"\n40 7 mark stamp=1\n",
		     "marker \"a\" 40 7/7 uncertain\n");
}

static void a_child_of_a_process_with_gaps(void **state)
{
	(void)state;
	/* Set before the parent's gap: not proven in the child either; set after it: proven. */
	expect_spans("10 7 msg stamp=1 \"old\"\n"
		     "20 7 lost msg stamp=1 \"new\"\n"
		     "25 7 msg stamp=2 \"two\"\n"
		     "30 7 fork child=9\n"
		     "40 9 mark stamp=1\n"
		     "50 9 mark stamp=2\n"
		     "60 9 msg stamp=1 \"own\"\n"
		     "70 9 mark stamp=1\n",
		     "marker \"old\" 40 9/9 uncertain\n"
		     "marker \"two\" 50 9/9 complete\n"
		     "marker \"own\" 70 9/9 complete\n");
	/* The fork itself was lost: what the child inherited is unknown. */
	expect_spans("10 7 msg stamp=1 \"a\"\n20 7 lost fork child=9\n30 9 mark stamp=1\n",
		     "marker \"\" 30 9/9 uncertain\n");
}

static void exec_makes_a_fresh_start(void **state)
{
	(void)state;
	expect_spans("10 7 lost msg stamp=1 \"a\"\n20 7 exec\n30 7 mark stamp=1\n",
		     "marker \"\" 30 7/7 complete\n");
}

static void a_process_id_used_again(void **state)
{
	(void)state;
	expect_spans("10 9 start stamp=1 id=1\n"
		     "20 9 lost exit last\n"
		     "30 7 fork child=9\n"
		     "40 9 stop id=1\n",
		     "start/end \"\" 10.. 9/9 uncertain\n");
}

static void an_end_that_was_lost_may_hide_a_return(void **state)
{
	(void)state;
	expect_returns("10 9 mark stamp=1\n"
		       "15 9 lost return mark ret=-1\n"
		       "20 9 lost exit last\n"
		       "30 7 fork child=9\n",
		       "marker \"\" 10 9/9 uncertain\n");
}

static void what_was_dropped_may_have_ended_a_range(void **state)
{
	(void)state;
	/* Its start is not here, nor whether it was stopped: the stop may be of the one in flight.
	 */
	expect_spans("5 7 loaded kind=21 arg1=2\n"
		     "10 7/7 return start id=1 ret=0\n"
		     "20 7/8 start stamp=1\n"
		     "30 7/9 stop id=1\n"
		     "40 7/8 return start id=1 ret=0\n"
		     "50 7/9 stop id=1\n",
		     "start/end \"\" 20.. 7/8 uncertain\n");
}

/* ---- Copies of the library ----------------------------------------------------------------- */

static void copies_that_take_turns_prove_no_depth(void **state)
{
	(void)state;
	expect_spans("10 7 push stamp=1 copy=3\n"
		     "20 7 push stamp=1 copy=5\n"
		     "30 7 pop copy=3\n"
		     "40 7 pop copy=5\n",
		     "push/pop \"\" 10..30 7/7 complete\n"
		     "push/pop \"\" 20..40 7/7 complete\n");
	/* Nothing after a loss, whatever the depth says: it is of both. */
	expect_spans("10 7 push stamp=1 copy=3\n"
		     "20 7 push stamp=1 copy=5\n"
		     "25 7 lost pop copy=3\n"
		     "30 7 lost push stamp=1 copy=3\n"
		     "35 7 pop copy=3\n"
		     "40 7 pop copy=5\n",
		     "push/pop \"\" 20.. 7/7 uncertain depth=1 parent=#1\n"
		     "push/pop \"\" 10.. 7/7 uncertain\n");
	/* One after the other they prove it each. */
	expect_spans("10 7 push stamp=1 copy=3\n"
		     "20 7 pop copy=3\n"
		     "25 7 lost push stamp=1 copy=5\n"
		     "30 7 lost pop copy=5\n"
		     "35 7 push stamp=1 copy=5\n"
		     "40 7 pop copy=5\n",
		     "push/pop \"\" 10..20 7/7 complete\n"
		     "push/pop \"\" 35.. 7/7 uncertain\n");
}

static void an_unseen_push_of_another_copy(void **state)
{
	(void)state;
	/* The number of the old thread's call comes again in the new one's return. */
	expect_spans("10 7/8 mark stamp=1\n"
		     "20 7/8 lost exit\n"
		     "30 7/8 lost push stamp=1 copy=5\n"
		     "35 7/8 return push ret=0 seq=1\n"
		     "40 7/8 pop copy=3\n"
		     "50 7/8 mark stamp=1\n",
		     "marker \"\" 10 7/8 complete\n"
		     "marker \"\" 50 7/8 uncertain\n");
}

/* ---- Returns ------------------------------------------------------------------------------- */

static void lost_returns_of_pushes_and_marks(void **state)
{
	(void)state;
	/* A push is proven by the depth, which the kernel side takes back when it failed. */
	expect_returns("10 7 push stamp=1\n"
		       "11 7 lost return push ret=0\n"
		       "20 7 pop ret=0\n"
		       "30 7 msg stamp=1 \"n\" ret=0\n"
		       "40 7 push stamp=1\n"
		       "41 7 lost return push ret=-1\n"
		       "50 7 pop ret=-1\n"
		       "60 7 msg stamp=1 \"n\" ret=0\n"
		       "70 7 mark stamp=1\n"
		       "71 7 lost return mark ret=-1\n"
		       "80 7 pop ret=-1\n",
		       "push/pop \"\" 10..20 7/7 complete\n"
		       "push/pop \"n\" 40.. 7/7 uncertain\n"
		       "marker \"n\" 70 7/7 uncertain\n"
		       "orphan aclprofPop 2\n"
		       "failed aclprofPop ret=-1 2\n");
}

/* ---- What is told about losses -------------------------------------------------------------- */

static void losses_are_told_at_once_and_in_full(void **state)
{
	(void)state;
	expect_what(REC_SPANS | REC_TALLIES | REC_CALLS, plain,
		    "0 - clock real=1000\n"
		    "10 7 mark stamp=1\n"
		    "20 7 lost mark stamp=1\n"
		    "30 7 lost mark stamp=1\n"
		    "40 - losses\n"
		    "50 7 start stamp=1\n"
		    "51 7 lost return start id=1\n"
		    "60 - counts\n",
		    "loss aclprofMark 2 1020..1040\n"
		    "lost_return aclprofRangeStart 1 1051..1060\n"
		    "marker \"\" 1010 7/7 complete\n"
		    "start/end \"\" 1050.. 7/7 uncertain\n"
		    "call aclprofMark 3\n"
		    "call aclprofRangeStart 1\n");
}

static void losses_that_only_the_totals_know_are_told_as_well(void **state)
{
	(void)state;
	expect("10 7 mark stamp=1\n"
	       "20 - count mark calls=5 lost=4\n"
	       "20 - count start lost_returns=2\n",
	       "marker \"\" 10 7/7 complete\n"
	       "loss aclprofMark 4 10..10\n"
	       "lost_return aclprofRangeStart 2 10..10\n");
}

static void calls_must_be_delivered_or_lost(void **state)
{
	(void)state;
	expect("10 7 mark stamp=1\n"
	       "11 7 pop\n"
	       "20 - count mark calls=3 lost=1\n"
	       "20 - loss mark count=1 from=5\n",
	       "loss aclprofMark 1 5..20\n"
	       "marker \"\" 10 7/7 complete\n"
	       "mismatch aclprofMark 1\n"
	       "orphan aclprofPop 1\n"
	       "mismatch aclprofPop 1\n");
}

static void lost_process_records_are_told(void **state)
{
	(void)state;
	expect("10 7 lost fork child=8\n20 - counts\n", "lost_process fork/exec/exit 1 10..20\n");
}

static void without_totals_calls_are_what_was_seen(void **state)
{
	(void)state;
	expect_what(REC_TALLIES | REC_CALLS, plain, "10 7 pop\n20 - loss pop count=2 from=5\n",
		    "loss aclprofPop 2 5..20\n"
		    "call aclprofPop 3\n"
		    "orphan aclprofPop 1\n");
}

/* ---- Late records --------------------------------------------------------------------------- */

static void a_late_record_is_told_and_proves_nothing(void **state)
{
	(void)state;
	expect("10 7/7 msg stamp=1 \"a\"\n"
	       "20 7/7 start stamp=1 id=1\n"
	       "30 - watermark\n"
	       "15 7/8 msg stamp=1 \"b\"\n"
	       "40 7/7 mark stamp=1\n"
	       "50 7/7 stop id=1\n"
	       "60 7/7 msg stamp=1 \"c\"\n"
	       "70 7/7 mark stamp=1\n",
	       "marker \"b\" 40 7/7 uncertain\n"
	       "start/end \"a\" 20.. 7/7 uncertain\n"
	       "marker \"c\" 70 7/7 complete\n"
	       "late 1\n");
}

static void a_late_record_of_the_thread_itself(void **state)
{
	(void)state;
	/* The pop came too late: both pushes are open when it is seen, neither is proven. */
	expect("10 7 push stamp=1\n"
	       "40 7 push stamp=1 seq=3 depth=0 min_depth=0\n"
	       "41 - watermark\n"
	       "20 7 pop seq=2 depth=1 min_depth=1\n"
	       "50 7 pop seq=4 depth=1 min_depth=1\n",
	       "push/pop \"\" 10.. 7/7 uncertain\n"
	       "push/pop \"\" 40.. 7/7 uncertain\n"
	       "lost_start aclprofPop 1\n"
	       "late 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_below_the_lowest_depth_stay_complete),
		cmocka_unit_test(a_lost_pop_ends_its_level),
		cmocka_unit_test(a_pop_of_a_lost_push_is_a_lost_start),
		cmocka_unit_test(a_loss_of_another_thread_does_not_harm_the_stack),
		cmocka_unit_test(a_thread_lost_from_its_first_call_on),
		cmocka_unit_test(depth_at_the_end_of_a_thread),
		cmocka_unit_test(an_exit_that_was_lost_ends_the_old_thread),
		cmocka_unit_test(a_huge_depth_costs_nothing),
		cmocka_unit_test(threads_without_state_prove_nothing),
		cmocka_unit_test(a_start_without_state_is_told_and_its_stop_is_no_orphan),
		cmocka_unit_test(a_pop_without_state_may_have_a_lost_push),
		cmocka_unit_test(a_state_that_came_late_proves_nothing),
		cmocka_unit_test(a_gap_between_start_and_stop),
		cmocka_unit_test(a_lost_stop_and_a_lost_start_of_one_id),
		cmocka_unit_test(a_lost_return_makes_its_range_uncertain),
		cmocka_unit_test(a_return_belongs_to_its_own_call),
		cmocka_unit_test(a_loss_while_the_start_is_in_flight),
		cmocka_unit_test(a_stop_that_may_belong_to_a_start_in_flight),
		cmocka_unit_test(a_range_that_may_have_ended_takes_no_stop_for_sure),
		cmocka_unit_test(ranges_older_than_a_start_in_flight_do_not_blur_it),
		cmocka_unit_test(a_gap_before_a_superseding_start),
		cmocka_unit_test(a_gap_before_the_process_ends),
		cmocka_unit_test(an_id_is_never_proven_after_an_unknown_start),
		cmocka_unit_test(a_text_set_before_a_gap_is_not_proven),
		cmocka_unit_test(a_category_set_before_a_gap_is_not_proven),
		cmocka_unit_test(a_child_of_a_process_with_gaps),
		cmocka_unit_test(exec_makes_a_fresh_start),
		cmocka_unit_test(a_process_id_used_again),
		cmocka_unit_test(an_end_that_was_lost_may_hide_a_return),
		cmocka_unit_test(what_was_dropped_may_have_ended_a_range),
		cmocka_unit_test(copies_that_take_turns_prove_no_depth),
		cmocka_unit_test(an_unseen_push_of_another_copy),
		cmocka_unit_test(lost_returns_of_pushes_and_marks),
		cmocka_unit_test(losses_are_told_at_once_and_in_full),
		cmocka_unit_test(losses_that_only_the_totals_know_are_told_as_well),
		cmocka_unit_test(calls_must_be_delivered_or_lost),
		cmocka_unit_test(lost_process_records_are_told),
		cmocka_unit_test(without_totals_calls_are_what_was_seen),
		cmocka_unit_test(a_late_record_is_told_and_proves_nothing),
		cmocka_unit_test(a_late_record_of_the_thread_itself),
	};

	return RUN(tests);
}
