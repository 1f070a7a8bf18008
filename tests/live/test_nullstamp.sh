#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Profiling is off in the target: create returns NULL. acltap says so, and programs that go on with
# NULL stamps are traced, each thread with its own texts (S7).
. "$(dirname "$0")/lib.sh"
need_uprobes
export ACLTAP_FAKE_PROF=off

for form in jmp stack endbr push; do
	use_form $form
	new_truth
	run_acltap record -o "$tmp/$form.ndjson" -- "$T/nullstamp" 20
	assert_eq "form $form: status" "$status" 0
	compare_truth "form $form: names of each thread" "$tmp/$form.ndjson"
done
use_form jmp

new_truth
start_target "$T/nullstamp" 20
attach_and_run -o "$tmp/attached.ndjson"
assert_eq "attached: status" "$status/$target_status" 0/0
compare_truth "attached: names of each thread" "$tmp/attached.ndjson"

# A correct program stops at the first NULL: all that the tracer sees is that one call.
run_acltap record -o "$tmp/off.csv" -- "$T/seed_loops" 1
assert_eq "a program that stops at NULL: its status" "$status" 1
assert_eq "and no rows" "$(csv_rows "$tmp/off.csv")" 0
assert_match "acltap says why" "$(cat "$tmp/stderr")" '1 create_stamp calls? returned NULL'
assert_match "and what to do" "$(cat "$tmp/stderr")" 'msproftx'
finish
