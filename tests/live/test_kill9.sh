#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# acltap is killed at a random moment while its target loads the library again and again: the target
# is unharmed and not left stopped, and the capture can be read.
. "$(dirname "$0")/lib.sh"
need_uprobes
unset LD_LIBRARY_PATH
ROUNDS=8
seed=${ACLTAP_TEST_SEED:-$$}
RANDOM=$seed
echo "# seed $seed (ACLTAP_TEST_SEED)"

readable() {	# name, capture: whatever it holds, exporting says so and fails in no odd way
	run_acltap export "$2" -o "$tmp/again.ndjson" -f
	assert_eq "$1: the capture can be exported" "$status" 0
	assert_match "$1: it is said to be incomplete" "$(cat "$tmp/stderr")" 'incomplete'
}

kills=0
for round in $(seq $ROUNDS); do
	new_truth
	start_target "$T/dlopen_late" 0 50 "$T/jmp/libmsprofiler.so" "$T/stack/libmsprofiler.so"
	start_tracer record -p "$target" -o "$tmp/kill$round.acltap"
	release
	sleep "0.$(printf '%03d' $((RANDOM % 400)))"
	kill -KILL "$tracer" 2>/dev/null && kills=$((kills + 1))
	reap "$tracer"
	killed=$status
	reap "$target"
	assert_eq "round $round: the target ends well (acltap: $killed)" "$status" 0
	assert_eq "round $round: all its calls were made" "$(wc -l <"$truth")" 150
	[ "$killed" -ne 137 ] || readable "round $round" "$tmp/kill$round.acltap"
done
check "acltap was killed in at least one round" test $kills -gt 0

# In launch mode the command outlives acltap, or never ran: it is not left waiting or stopped.
new_truth
start "$ACLTAP" record -o "$tmp/launch.acltap" -- "$T/dlopen_late" 0 50 "$T/jmp/libmsprofiler.so" \
	2>"$tmp/stderr"
tracer=$pid
wait_for "$LIMIT" test -s "$truth" || die "the command does not start"
command_pid=$(awk -F'\t' 'NR == 1 {print $3}' "$truth")
kill -KILL "$tracer"
reap "$tracer"
check "launched: the command ends by itself" wait_for "$LIMIT" is_gone "$command_pid"
assert_eq "launched: all its calls were made" "$(wc -l <"$truth")" 150
readable "launched" "$tmp/launch.acltap"

# No probe stays behind: the target's next of kin runs at full speed and untraced.
run_acltap record -o "$tmp/after.csv" -- "$T/short"
assert_eq "acltap works as before" "$status" 7
finish
