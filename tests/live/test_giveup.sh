#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The second signal ends acltap at once, also while it hangs in something: in a file that it may not
# open yet, while it attaches; in standard error that nobody reads, while it traces.
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

name="a file that cannot be opened"
mkdir "$tmp/leased" && cp "$T/jmp/libmsprofiler.so" "$tmp/leased"
cat >"$tmp/lease.py" <<'END'
import fcntl, os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("held", flush=True)
signal.sigwait([signal.SIGIO])	# somebody opens it, and waits for us
print("wanted", flush=True)
signal.pause()
END
start "$PYTHON" "$tmp/lease.py" "$tmp/leased/libmsprofiler.so" >"$tmp/lease" 2>&1
wait_for "$LIMIT" grep -q held "$tmp/lease" || die "no lease: $(cat "$tmp/lease")"
LD_LIBRARY_PATH=$tmp/leased "$ACLTAP" record -o "$tmp/x.csv" -- touch "$tmp/ran" >"$tmp/stdout" \
	2>"$tmp/stderr" </dev/null &
tracer=$!
background+=("$tracer")
check "$name: acltap waits for it" wait_for "$LIMIT" grep -q wanted "$tmp/lease"
children=$(pgrep -P "$tracer")
signal_until_gone TERM
assert_eq "$name: status" "$status" 125
held_are_gone
assert_match "$name: said" "$(cat "$tmp/stderr")" 'gave up before tracing began'

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
