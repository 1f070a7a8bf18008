#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How tracing ends by signals (S43), and that what a target did last is there (S44).
. "$(dirname "$0")/lib.sh"
need_uprobes
export LD_LIBRARY_PATH=$T/jmp

complete_and_clean() {	# name, file
	assert_eq "$1: the file can be read" "$("$PYTHON" -c '
import json, sys
print(sum(json.loads(line)["kind"] == "push/pop" for line in open(sys.argv[1])) > 0)' "$2")" True
	assert_eq "$1: no temporary file is left" "$(find "$(dirname "$2")" -name ".*.??????")" ""
}

for sig in INT TERM HUP; do
	start_target "$T/storm" 2 1000000000
	start_tracer record -p "$target" -o "$tmp/$sig.ndjson"
	release
	sleep 0.3
	kill -"$sig" "$tracer"
	reap "$tracer"
	assert_eq "SIG$sig at full rate: status" "$status" 0
	complete_and_clean "SIG$sig" "$tmp/$sig.ndjson"
	check "SIG$sig: the target lives" kill -0 "$target"
	kill -KILL "$target"
	reap "$target"
done

# The second one gives up: the capture is there and says that it is incomplete or ends properly.
start_target "$T/storm" 2 1000000000
start_tracer record -p "$target" -o "$tmp/second.ndjson"
release
sleep 0.5
kill -INT "$tracer"
for _ in 1 2 3 4 5 6 7 8; do
	kill -INT "$tracer" 2>/dev/null
	sleep 0.05
done
reap "$tracer"
assert_match "second SIGINT: status" "$status" '^[01]$'
if [ "$status" -eq 1 ]; then
	run_acltap export "$tmp/second.ndjson.acltap" -o "$tmp/second.again.ndjson"
	assert_eq "second SIGINT: the capture can be exported" "$status" 0
fi
check "second SIGINT: the target lives" kill -0 "$target"
kill -KILL "$target"
reap "$target"

# SIGTERM to acltap in launch mode: traced so far, forwarded, the command's status.
mkfifo "$tmp/ready"
"$ACLTAP" record -o "$tmp/fwd.ndjson" -- bash -c '
	"$0" 1 5; trap "exit 42" TERM; echo ready >"$1"; while :; do sleep 0.1; done' \
	"$T/seed_loops" "$tmp/ready" 2>"$tmp/stderr" </dev/null &
tracer=$!
read -r _ <"$tmp/ready"
kill -TERM "$tracer"
reap "$tracer"
assert_eq "SIGTERM, launched: forwarded, and the command's status" "$status" 42
assert_eq "SIGTERM, launched: the marks" "$(grep -c '"kind":"marker"' "$tmp/fwd.ndjson")" 5

# A second one leaves the command alone.
"$ACLTAP" record -o "$tmp/leave.ndjson" -- bash -c '
	trap "" TERM; echo $$ >"$0"; exec sleep 60' "$tmp/ready" 2>"$tmp/stderr" </dev/null &
tracer=$!
read -r pid <"$tmp/ready"
background+=("$pid")
kill -TERM "$tracer"
for _ in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.1
	kill -TERM "$tracer" 2>/dev/null || break
done
reap "$tracer"
assert_eq "second SIGTERM, launched: status" "$status" 125
check "second SIGTERM, launched: the command runs on" kill -0 "$pid"
kill -KILL "$pid"

# Ctrl-C in launch mode is the command's.
"$ACLTAP" record -o "$tmp/int.ndjson" -- bash -c '
	trap "exit 9" INT; echo ready >"$0"; while :; do sleep 0.1; done' "$tmp/ready" \
	2>"$tmp/stderr" </dev/null &
tracer=$!
read -r _ <"$tmp/ready"
kill -INT "$tracer"
sleep 0.3
check "SIGINT, launched: acltap goes on" kill -0 "$tracer"
kill -TERM "$tracer"
reap "$tracer"

# The last calls before a sudden end.
for how in segv abort kill exit; do
	new_truth
	run_acltap record -o "$tmp/$how.ndjson" -- "$T/crash" "$how"
	assert_match "last events before $how: traced" "$(cat "$tmp/$how.ndjson")" 'unfinished'
	rm -f "$tmp/$how.ndjson"
done

check_nothing_attached "no probe is left"

# Closed standard output and a full disk are errors.

"$ACLTAP" list "$T/jmp/libmsprofiler.so" >/dev/full 2>"$tmp/stderr"
assert_eq "list into a full device: status" "$?" 1
finish
