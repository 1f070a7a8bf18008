#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Nested ranges, ranges handed between threads and marks, compared with what the target did.
. "$(dirname "$0")/lib.sh"
need_uprobes

for form in jmp stack endbr push; do
	use_form $form
	new_truth
	run_acltap record -o "$tmp/$form.ndjson" -- "$T/threads" 50
	assert_eq "launched, form $form: status" "$status" 0
	compare_truth "launched, form $form: events are those of the target" "$tmp/$form.ndjson"
done

use_form jmp
new_truth
start_target "$T/threads" 50
attach_and_run -o "$tmp/attached.ndjson"
assert_eq "attached: status" "$status/$target_status" 0/0
compare_truth "attached: events are those of the target" "$tmp/attached.ndjson"

new_truth
run_acltap record -o "$tmp/leader.ndjson" -- "$T/leader_exit"
assert_eq "main thread gone, launched: status" "$status" 3
compare_truth "main thread gone, launched: the worker's events" "$tmp/leader.ndjson"

new_truth
start_target "$T/leader_exit"
wait_for "$LIMIT" grep -q ') Z' "/proc/$target/stat" || die "the leader does not end"
attach_and_run -o "$tmp/leader2.ndjson"
assert_eq "attached to a zombie leader: status" "$status/$target_status" 0/3
compare_truth "attached to a zombie leader: the worker's events" "$tmp/leader2.ndjson"
finish
