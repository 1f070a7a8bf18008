#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Faults that were found once, each with a test of its kind.
. "$(dirname "$0")/lib.sh"
need_uprobes
export LD_LIBRARY_PATH=$T/jmp

# -f must not cost an older capture when nothing can be recorded.
run_acltap record -q -o "$tmp/old.acltap" -- "$T/seed_loops" 1 5
before=$(cksum <"$tmp/old.acltap")
run_acltap record -f -o "$tmp/old.acltap" -p 999999999
assert_eq "-f and no such PID: status" "$status" 1
assert_eq "-f and no such PID: the old capture is untouched" "$(cksum <"$tmp/old.acltap")" "$before"

# A thread's id is no PID.
start_target "$T/threads" 5
"$PYTHON" -c 'import threading, time; t = threading.Thread(target=time.sleep, args=(60,)); t.start()' &
pid=$!
background+=("$pid")
wait_for 20 eval '[ "$(ls /proc/$pid/task | wc -l)" -gt 1 ]'
tid=$(ls "/proc/$pid/task" | grep -v "^$pid$" | head -n 1)
run_acltap record -o "$tmp/tid.csv" -p "$tid"
assert_eq "a thread's id: status" "$status" 1
assert_match "a thread's id: its process is named" "$(cat "$tmp/stderr")" "thread of PID $pid"
kill -KILL "$pid"
release
reap "$target"

# The first SIGTERM after -d ended tracing is passed on; it is not the second one.
mkfifo "$tmp/ready"
"$ACLTAP" record -d 100ms -o "$tmp/d.csv" -- bash -c '
	trap "exit 41" TERM; echo ready >"$0"; while :; do sleep 0.1; done' "$tmp/ready" \
	2>"$tmp/stderr" </dev/null &
tracer=$!
read -r _ <"$tmp/ready"
wait_for 20 test -e "$tmp/d.csv"
kill -TERM "$tracer"
reap "$tracer"
assert_eq "SIGTERM after -d: forwarded, the command's status" "$status" 41

# A file name cannot do anything to the terminal of who lists it.
evil=$tmp/$'a\e[31m\nPID 1'
cp "$T/jmp/libmsprofiler.so" "$evil"
run_acltap list "$evil"
assert_eq "list: no escape and no forged line" \
	"$(grep -c $'\e' "$tmp/stdout")/$(grep -c '^PID 1' "$tmp/stdout")" 0/0

# A stop by the user is the user's: acltap does not undo it.
start_target "$T/dlopen_late" 1 1000000 "$T/jmp/libmsprofiler.so"
start_tracer record -p "$target" -o "$tmp/stop.ndjson"
release
sleep 0.5
kill -STOP "$target"
sleep 1
assert_eq "a process stopped by the user stays stopped" \
	"$(sed 's/.*) //' "/proc/$target/stat" | cut -c 1)" T
kill -KILL "$target"
reap "$target"
reap "$tracer"

# Mappings that change while the ring has no room are looked at all the same.
new_truth
run_acltap record --no-stop --ring-size 4K -o "$tmp/tiny.ndjson" -- bash -c '
	"$0" 2 20000 >/dev/null & for i in 1 2 3 4; do "$1" 300 60 "$2" & done; wait' \
	"$T/storm" "$T/dlopen_late" "$T/endbr/libmsprofiler.so"
assert_eq "late libraries and a full ring: status" "$status" 0
assert_match "late libraries and a full ring: seen, or told" \
	"$(cat "$tmp/stderr" "$tmp/tiny.ndjson" | grep -cE '"late |not seen')" '^[1-9]'
finish
