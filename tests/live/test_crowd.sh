#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# More threads, and more processes, at the same time than there is room for: every call arrives or is
# counted as lost, no range claims what is not known, and the user is told.
. "$(dirname "$0")/lib.sh"
need_uprobes
# Some of the room that include/probe_config.h gives them has to be taken away by others.
ROOM=$(sed -n 's/^#define PROBE_MAX_THREADS //p' include/probe_config.h)
THREADS=$((ROOM + 504))

crowd() {	# name, options of record...
	local name=$1
	shift
	new_truth
	rm -f "$tmp"/c.*
	run_acltap record --strict "$@" -o "$tmp/c.ndjson" -o "$tmp/c.acltap" -- "$T/crowd" $THREADS
	assert_eq "$name: --strict: some ranges are uncertain" "$status" 3
	check "$name: arrived + lost = called, for each function" \
		"$PYTHON" -B "$SRC/check_calls.py" "$tmp/stdout" "$tmp/c.acltap"
	check "$name: what is complete is what the threads did" \
		"$PYTHON" -B "$SRC/compare_truth.py" --complete "$truth" "$tmp/c.ndjson"
	assert_match "$name: told" "$(cat "$tmp/stderr")" \
		"[0-9]+ calls of threads beyond $ROOM at the same time: their ranges are uncertain"
}

crowd "too many threads" --ring-size 64M
assert_match "too many threads: nothing lost" "$(cat "$tmp/stderr")" ';.* lost'
assert_eq "too many threads: no loss" "$(events_count "$tmp/c.ndjson" loss)" 0
# Every thread's mark, of both halves of the program, and nothing twice; those of the threads that
# had room are complete.
marks=$((THREADS + THREADS - THREADS / 2))
assert_eq "too many threads: every mark" "$(events_count "$tmp/c.ndjson" marker)" $marks
assert_eq "too many threads: every push" "$(events_count "$tmp/c.ndjson" push/pop)" $((marks + THREADS))
assert_eq "too many threads: every start" "$(events_count "$tmp/c.ndjson" start/end)" $marks
check "too many threads: those that had room are complete" test \
	"$(events_count "$tmp/c.ndjson" marker status complete)" -ge $((ROOM + ROOM - THREADS / 2))
assert_eq "too many threads: no end without a begin" "$(events_count "$tmp/c.ndjson" orphan)" 0
for kind in late bad mismatch; do
	assert_eq "too many threads: $kind" "$(events_count "$tmp/c.ndjson" $kind)" 0
done

crowd "too many threads, small ring" --ring-size 16K
check "too many threads, small ring: something was lost" \
	test "$(events_count "$tmp/c.ndjson" loss)" -gt 0

# The next run begins with all the room there is.
run_acltap record --strict -o "$tmp/small.ndjson" -- "$T/crowd" 100
assert_eq "a crowd that has room: status" "$status" 0

# ---- processes, with less room than there really is ----
export ACLTAP_MAX_PROCS=4
cat >"$tmp/family.sh" <<'END_FAMILY'
# Six children at the same time, each with three events.
for i in 1 2 3 4 5 6; do
	ACLTAP_WAIT=$1/wait.$i
	mkfifo "$ACLTAP_WAIT"
	ACLTAP_WAIT=$ACLTAP_WAIT "$2" all 1 &
done
for i in 1 2 3 4 5 6; do
	echo go >"$1/wait.$i"
done
wait
END_FAMILY
mkdir "$tmp/fifos"
run_acltap record --strict -o "$tmp/f.ndjson" -- bash "$tmp/family.sh" "$tmp/fifos" "$T/seed_loops"
assert_eq "too many processes: --strict" "$status" 3
assert_match "too many processes: told" "$(cat "$tmp/stderr")" \
	'[0-9]+ children of traced processes beyond 4 were not traced'
assert_match "too many processes: counted" "$(cat "$tmp/stderr")" '^  [0-9]+ process records? lost: [0-9]+ fork/exec/exit'
rows=$(events_count "$tmp/f.ndjson" marker)
check "too many processes: some are traced ($rows), not all" test "$rows" -gt 0 -a "$rows" -lt 6

cp "$T/seed_loops" "$tmp/crowd_loops"
start_tracer record -n 'crowd_*' -o "$tmp/n.ndjson"
rm -r "$tmp/fifos" && mkdir "$tmp/fifos"
bash "$tmp/family.sh" "$tmp/fifos" "$tmp/crowd_loops"
kill -INT "$tracer"
reap "$tracer"
assert_eq "-n, too many processes: status" "$status" 0
assert_match "-n, too many processes: told" "$(cat "$tmp/stderr")" \
	'cannot trace PID [0-9]+: there is room for 4 processes only|calls of processes beyond 4'
finish
