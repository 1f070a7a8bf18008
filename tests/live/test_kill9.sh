#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# acltap is killed at a random moment while its target loads the library again and again: the target
# is unharmed and not left stopped, and the capture can be read.
. "$(dirname "$0")/lib.sh"
need_uprobes
unset LD_LIBRARY_PATH
ROUNDS=8 LOADS=200
seed=${ACLTAP_TEST_SEED:-$$}
RANDOM=$seed
echo "# seed $seed (ACLTAP_TEST_SEED)"

lines() {
	[ "$(wc -l <"$truth")" -ge "$1" ]
}

# Kills it when the target has logged so many calls. Sets early: the target had more to do.
kill_at() {	# calls
	wait_for "$LIMIT" lines "$1"
	kill -KILL "$tracer" 2>/dev/null
	early=$((3 * LOADS - $(wc -l <"$truth")))
	reap "$tracer"
}

readable() {	# name, capture: whatever it holds, exporting says so and fails in no odd way
	run_acltap export "$2" -o "$tmp/again.ndjson" -f
	assert_eq "$1: the capture is exported, as incomplete" "$status" 1
	check "$1: what stands in it is there" test -e "$tmp/again.ndjson"
	rm -f "$tmp/again.ndjson"
	assert_match "$1: it is said to be incomplete" "$(cat "$tmp/stderr")" 'incomplete'
}

kills=0
for round in $(seq $ROUNDS); do
	new_truth
	start_target "$T/dlopen_late" 0 $LOADS "$T/jmp/libmsprofiler.so" "$T/stack/libmsprofiler.so"
	start_tracer record -p "$target" -o "$tmp/kill$round.acltap"
	release
	kill_at $((RANDOM % (3 * LOADS)))
	killed=$status
	reap "$target"
	assert_eq "round $round: the target ends well (acltap: $killed)" "$status" 0
	assert_eq "round $round: all its calls were made" "$(wc -l <"$truth")" $((3 * LOADS))
	# Without the target having more to do, the capture may have been complete.
	[ "$killed" -eq 137 ] && [ "$early" -gt 30 ] || continue
	kills=$((kills + 1))
	readable "round $round" "$tmp/kill$round.acltap"
done
echo "# killed in the middle of $kills rounds"

# In launch mode the command outlives acltap, or never ran: it is not left waiting or stopped.
new_truth
start "$ACLTAP" record -o "$tmp/launch.acltap" -- "$T/dlopen_late" 0 $LOADS \
	"$T/jmp/libmsprofiler.so" 2>"$tmp/stderr"
tracer=$pid
kill_at 3
command_pid=$(awk -F'\t' 'NR == 1 {print $3}' "$truth")
check "launched: the command ends by itself" wait_for "$LIMIT" is_gone "$command_pid"
assert_eq "launched: all its calls were made" "$(wc -l <"$truth")" $((3 * LOADS))
[ "$early" -le 30 ] || readable "launched" "$tmp/launch.acltap"

run_acltap record -o "$tmp/after.csv" -- "$T/short"
assert_eq "acltap works as before" "$status" 7
finish
