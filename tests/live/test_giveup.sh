#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The second signal ends acltap at once, also while it hangs in something: in standard error that
# nobody reads.
. "$(dirname "$0")/lib.sh"
need_uprobes

# After the first one acltap goes on, since it hangs; another one ends it. Sets status.
signal_until_gone() {	# signal
	kill -"$1" "$tracer"
	sleep 0.5
	check "$name: the first signal alone ends nothing" kill -0 "$tracer"
	wait_for "$LIMIT" eval "kill -$1 $tracer 2>/dev/null; sleep 0.3; is_gone $tracer"
	reap "$tracer"
}

held_are_gone() {	# $children: the command, which waits to begin, and the guardian
	assert_eq "$name: the command and the guardian were there" "$(wc -w <<<"$children")" 2
	for pid in $children; do
		check "$name: they are gone" wait_for "$LIMIT" is_gone "$pid"
	done
	check "$name: the command did not begin" test ! -e "$tmp/ran"
}

# A pipe that is full, and has no reader that reads.
mkfifo "$tmp/full"
exec 8<>"$tmp/full"
"$PYTHON" -c '
import os
os.set_blocking(8, False)
try:
    while True:
        os.write(8, b"x")
except BlockingIOError:
    os.set_blocking(8, True)'
hang() {	# arguments of acltap: it hangs in its first message, which is that it traces
	"$ACLTAP" "$@" >"$tmp/stdout" 2>&8 </dev/null 8>&- &
	tracer=$!
	background+=("$tracer")
	: >"$tmp/stderr"
	wait_for "$LIMIT" grep -q pipe_write "/proc/$tracer/wchan" "/proc/$tracer/stack" ||
		not_ok "$name: it hangs" "$(cat "/proc/$tracer/stack")"
}

name="a message that nobody reads"
start_target "$T/storm" 2 1000000000
release
hang record -p "$target" -o "$tmp/storm.acltap"
signal_until_gone INT
assert_eq "$name: status" "$status" 1
check "$name: the target lives" kill -0 "$target"
kill -KILL "$target"
reap "$target"
run_acltap export "$tmp/storm.acltap" -o "$tmp/storm.ndjson"
assert_match "$name: the capture can be read, and is incomplete" "$status/$(cat "$tmp/stderr")" \
	'^1/.*is incomplete: its recording crashed'

name="a message that nobody reads, launched"
hang record -o "$tmp/launch.acltap" -- touch "$tmp/ran"
children=$(pgrep -P "$tracer")
signal_until_gone TERM
assert_eq "$name: status" "$status" 125
held_are_gone
exec 8>&-
check_nothing_attached "no probe is left"
finish
