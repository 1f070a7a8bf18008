#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# acltap that does not come round to its work leaves nobody stopped: here it is stopped itself while
# its command loads the library. By the way of kernels where no probe can hold the command.
. "$(dirname "$0")/lib.sh"
need_uprobes
unset LD_LIBRARY_PATH
LOADS=3

blocked() {	# name, options: acltap stands still from before the first load to the command's end
	local name=$1
	shift
	new_truth
	rm -f "$tmp/go" "$tmp/x.ndjson"
	mkfifo "$tmp/go" || die "cannot make a pipe"
	ACLTAP_WAIT=$tmp/go start "$ACLTAP" record -o "$tmp/x.ndjson" "$@" -- \
		"$T/dlopen_late" 0 $LOADS "$T/jmp/libmsprofiler.so" 2>"$tmp/stderr"
	tracer=$pid
	wait_for "$LIMIT" grep -q '^acltap: tracing' "$tmp/stderr" || die "acltap does not trace"
	kill -STOP "$tracer"
	release
	check "$name: the command makes all its calls" wait_for "$LIMIT" calls_made
	kill -CONT "$tracer"
	reap "$tracer"
	assert_eq "$name: status" "$status" 0
	if "$PYTHON" "$SRC/compare_truth.py" "$truth" "$tmp/x.ndjson" >"$tmp/differs"; then
		ok "$name: every event, or it is told"
	else
		assert_match "$name: every event, or it is told" "$(cat "$tmp/stderr")" 'not (be )?seen'
	fi
}

calls_made() {
	[ "$(wc -l <"$truth")" -eq $((3 * LOADS)) ]
}

export ACLTAP_WITHOUT=sleepable
blocked "stopped by signal"
export ACLTAP_WITHOUT=
blocked "held in the probe"

# A guardian that was stopped does not hold acltap up.
mkfifo "$tmp/end"
start_tracer record -o "$tmp/g.csv" -- sh -c 'read -r _ <"$0"; exit 5' "$tmp/end"
command=$(sed -n 's/.*tracing PID \([0-9]*\):.*/\1/p' "$tmp/stderr")
guardian=$(pgrep -P "$tracer" | grep -vx "$command")
check "there is a guardian" kill -STOP "$guardian"
timeout "$LIMIT" bash -c 'echo >"$0"' "$tmp/end"
reap "$tracer"
assert_eq "a stopped guardian: status" "$status" 5
check "a stopped guardian: it goes, too" wait_for "$LIMIT" is_gone "$guardian"
finish
