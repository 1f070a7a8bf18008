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

# Again and again, at any moment from its start on, while one target goes on making calls.
SHORT_ROUNDS=${ACLTAP_TEST_KILLS:-92}
feed() {
	while printf '%.0sx' {1..20}; do sleep 0.01; done 2>/dev/null
}
mkfifo "$tmp/steps" || exit 1
start env LD_LIBRARY_PATH="$T/jmp" bash -c 'exec "$0" <"$1" >"$2"' "$T/steps" "$tmp/steps" "$tmp/steps.out"
target=$pid
feed >"$tmp/steps" &
feeder=$!
background+=("$feeder")
bad='' captures=0
for round in $(seq "$SHORT_ROUNDS"); do
	rm -f "$tmp"/k.* "$tmp/again.ndjson"
	if ((round % 2)); then	# while it attaches, most likely
		"$ACLTAP" record -o "$tmp/k.acltap" -p "$target" >/dev/null 2>&1 </dev/null &
		tracer=$!
	else
		start_tracer record -o "$tmp/k.acltap" -p "$target"
	fi
	sleep "0.$(printf %03d $((RANDOM % 500)))"
	kill -KILL "$tracer" || bad+=" $round:acltap had ended"
	wait "$tracer" 2>/dev/null
	[ -e "$tmp/k.acltap" ] || continue
	run_acltap export "$tmp/k.acltap" -o "$tmp/again.ndjson"
	if [ "$status" -le 1 ] && [ -e "$tmp/again.ndjson" ]; then
		captures=$((captures + 1))
	elif [ -s "$tmp/k.acltap" ]; then
		bad+=" $round:export says $status: $(last_words)"
	fi
done
before=$(wc -l <"$tmp/steps.out")
more() { [ "$(wc -l <"$tmp/steps.out")" -gt $((before + 100)) ]; }
check "$SHORT_ROUNDS kills: the target goes on" wait_for "$LIMIT" more
kill "$feeder"
wait "$feeder" 2>/dev/null
reap "$target"
assert_eq "$SHORT_ROUNDS kills: the target ends well" "$status" 0
assert_eq "$SHORT_ROUNDS kills: it made each of its steps" \
	"$(tail -n 1 "$tmp/steps.out")" "$(wc -l <"$tmp/steps.out")"
assert_eq "$SHORT_ROUNDS kills: every capture can be read" "$bad" ""
assert_eq "$SHORT_ROUNDS kills: there were captures" $((captures > SHORT_ROUNDS / 10)) 1
echo "# $captures captures"
check_nothing_attached "$SHORT_ROUNDS kills: nothing stays attached"

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
