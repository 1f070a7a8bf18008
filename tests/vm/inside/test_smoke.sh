#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a kernel or processor could break, with few calls, since the CPU may be emulated: counts,
# arguments, return values, threads, processes, texts, late libraries, other C libraries.
. "$(dirname "$0")/../../live/lib.sh"
need_uprobes
COUNT=200

kinds() {	# tsv file: how many marks, push/pop and start/end ranges with the message
	awk -F'\t' '$2 == "test msprof tx" { n[$1]++ }
		END { printf "%d %d %d\n", n["marker"], n["push/pop"], n["start/end"] }' "$1"
}

launched() {	# name, program
	rm -f "$tmp/launched.tsv"
	run_acltap record -o "$tmp/launched.tsv" -- "$T/$2" all $COUNT
	assert_eq "$1, launched: status" "$status" 0
	assert_eq "$1, launched: counts" "$(kinds "$tmp/launched.tsv")" "$COUNT $COUNT $COUNT"
}

for form in stack endbr push jmp; do
	use_form $form
	launched "form $form" seed_loops
done
start_target "$T/seed_loops" all $COUNT
attach_and_run -o "$tmp/attached.tsv"
assert_eq "by PID: status" "$status/$target_status" 0/0
assert_eq "by PID: counts" "$(kinds "$tmp/attached.tsv")" "$COUNT $COUNT $COUNT"

launched "static" seed_static
[ ! -e "$T/musl/seed_loops" ] || LD_LIBRARY_PATH='' launched "musl" musl/seed_loops

new_truth
run_acltap record -o "$tmp/threads.ndjson" -- "$T/threads" 5
assert_eq "threads: status" "$status" 0
compare_truth "threads: events are those of the target" "$tmp/threads.ndjson"

new_truth
run_acltap record -o "$tmp/tree.ndjson" -- "$T/fork_exec" 2
assert_eq "children, launched: status" "$status" 0
compare_truth "children, launched: events of the whole tree" "$tmp/tree.ndjson"
new_truth
start_target "$T/fork_exec" 2
attach_and_run -o "$tmp/tree2.ndjson"
assert_eq "children, attached: status" "$status/$target_status" 0/0
compare_truth "children, attached: events of the whole tree" "$tmp/tree2.ndjson"

unset LD_LIBRARY_PATH
new_truth
run_acltap record -o "$tmp/late.ndjson" -- "$T/dlopen_late" 0 3 "$T/jmp/libmsprofiler.so"
assert_eq "late library, launched: status" "$status" 0
compare_truth "late library, launched: events from the first call on" "$tmp/late.ndjson"
finish
