#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Children, grandchildren, exec and vfork; ends by signal with ranges open.
. "$(dirname "$0")/lib.sh"
need_uprobes

new_truth
run_acltap record -o "$tmp/tree.ndjson" -- "$T/fork_exec" 4
assert_eq "launched: status" "$status" 0
compare_truth "launched: events of the whole tree" "$tmp/tree.ndjson"

new_truth
start_target "$T/fork_exec" 4
attach_and_run -o "$tmp/attached.ndjson"
assert_eq "attached: status" "$status/$target_status" 0/0
compare_truth "attached: events of the whole tree" "$tmp/attached.ndjson"

new_truth
start_target "$T/fork_exec" 4
attach_and_run --no-follow -o "$tmp/alone.ndjson"
assert_eq "--no-follow: status" "$status/$target_status" 0/0
awk -F'\t' -v pid="$target" '$3 == pid' "$truth" >"$tmp/alone.tsv"
truth=$tmp/alone.tsv
compare_truth "--no-follow: events of the parent only" "$tmp/alone.ndjson"

# Children that run when acltap attaches are followed too.
new_truth
rm -f "$tmp/go"
mkfifo "$tmp/go" || exit 1
ACLTAP_WAIT=$tmp/go start sh -c '"$0" 20; exit $?' "$T/threads"
target=$pid
wait_for "$LIMIT" grep -q . "/proc/$target/task/$target/children" || die "no child"
attach_and_run -o "$tmp/living.ndjson"
assert_eq "attached to the parent of a running child: status" "$status/$target_status" 0/0
compare_truth "attached to the parent of a running child: its events" "$tmp/living.ndjson"

# Linux 7 may leave out the program that sees an exit: then that is told, and the range was open.
ends_unfinished() {	# name, events file
	if grep -q 'the kernel left out' "$tmp/stderr"; then
		assert_eq "$1 (some end was left out, and told)" \
			"$(events_count "$2" push/pop name "open push")" 1
	else
		compare_truth "$1" "$2"
	fi
}

for how in segv:139 abort:134 kill:137 exit:9; do
	new_truth
	run_acltap record -o "$tmp/${how%:*}.ndjson" -- "$T/crash" ${how%:*} 9
	assert_eq "end by ${how%:*}: status" "$status" ${how#*:}
	ends_unfinished "end by ${how%:*}: last events are there, open ranges unfinished" \
		"$tmp/${how%:*}.ndjson"
done

new_truth
run_acltap record -o "$tmp/short.ndjson" -- "$T/short"
assert_eq "a program of a millisecond: status" "$status" 7
compare_truth "a program of a millisecond: events" "$tmp/short.ndjson"

# What is left of the children when the command ends: named, and with --wait waited for.
new_truth
run_acltap record --wait -o "$tmp/wait.ndjson" -- sh -c '(sleep 1; exec "$0") >&- 2>&- &' "$T/short"
assert_eq "--wait: status of the command" "$status" 0
compare_truth "--wait: events of what ran on" "$tmp/wait.ndjson"
finish
