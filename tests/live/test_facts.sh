#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is known about a process holds for all that it did: also for the first call, by which it was
# found, and for what came before acltap looked at it.
. "$(dirname "$0")/lib.sh"
need_uprobes

rows_of() {	# PID, capture that may still be written: does it have events of that process?
	"$ACLTAP" export -q -f -p "$1" -o "$tmp/part.ndjson" "$2"
	grep -q start_ns "$tmp/part.ndjson"
}

# ---- -a: found by its first call, since nobody is held ----
ROUNDS=5
mkfifo "$tmp/in"
pids=()
start_tracer record -a --no-stop -o "$tmp/any.acltap"
for round in $(seq $ROUNDS); do
	RANK=3 "$T/steps" <"$tmp/in" >"$tmp/out" &
	pids+=($!)
	exec 7<>"$tmp/in"
	printf x >&7
	# It stays until it was looked at, and calls no more.
	check "-a: round $round" wait_for "$LIMIT" rows_of $! "$tmp/any.acltap"
	exec 7>&-
	wait $!
done
kill -INT "$tracer"
reap "$tracer"
assert_eq "-a: status" "$status" 0
mine=$(IFS=,; echo "${pids[*]}")
run_acltap stat -q --by rank --format csv -p "$mine" "$tmp/any.acltap"
assert_eq "-a: every event is of the process's rank" "$(cut -d , -f 3,9,10 "$tmp/stdout" | sort)" \
	"$(printf '%s\n' "$((3 * ROUNDS)),PushPop,rank 3" "$ROUNDS,Marker,rank 3" \
		"$ROUNDS,StartEnd,rank 3" Instances,Style,Range)"

# ---- a program that started and called while acltap was away ----
mkfifo "$tmp/on"
start bash -c 'read -r _ <"$0/on"; RANK=4 "$1" <"$0/in" >"$0/answer" & echo $! >"$0/child"; wait' \
	"$tmp" "$T/steps"
parent=$pid
start_tracer record --no-stop --lib "$T/jmp/libmsprofiler.so" -p "$parent" -o "$tmp/exec.acltap"
kill -STOP "$tracer"
echo >"$tmp/on"
exec 7<>"$tmp/in"
printf x >&7
wait_for "$LIMIT" test -s "$tmp/answer" || die "no answer"
kill -CONT "$tracer"
check "a started program: its events" wait_for "$LIMIT" rows_of "$(cat "$tmp/child")" "$tmp/exec.acltap"
exec 7>&-
reap "$parent"
reap "$tracer"
assert_eq "a started program: status" "$status" 0
run_acltap stat -q --by rank --format csv "$tmp/exec.acltap"
assert_eq "a started program: every event is of its rank" "$(cut -d , -f 3,9,10 "$tmp/stdout" | sort)" \
	"$(printf '%s\n' "1,Marker,rank 4" "1,StartEnd,rank 4" "3,PushPop,rank 4" Instances,Style,Range)"
finish
