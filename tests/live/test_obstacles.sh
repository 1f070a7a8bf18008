#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Processes that make it hard to look at them: acltap neither waits for them nor is silent.
. "$(dirname "$0")/lib.sh"
need_uprobes

# Who opens a file that somebody has a lease on waits for 45 s, if he waits.
cp "$T/jmp/libmsprofiler.so" "$tmp/leased.so"
start "$PYTHON" -c '
import fcntl, mmap, os, signal, sys, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
fd = os.open(sys.argv[1], os.O_RDONLY)
mapped = mmap.mmap(fd, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
open(sys.argv[2], "w").close()
time.sleep(1000)' "$tmp/leased.so" "$tmp/ready"
wait_for "$LIMIT" test -e "$tmp/ready" || die "no lease"
LIMIT=$(($(cat /proc/sys/fs/lease-break-time) / 2)) run_acltap record -d 100ms -o "$tmp/leased.acltap" -p "$pid"
assert_eq "a lease: status" "$status" 0
assert_match "a lease: said" "$(cat "$tmp/stderr")" \
	"cannot look into '.*/leased.so': somebody has a lease on it; calls of it are not seen"
kill "$pid"

# There is always a child that is new.
start "$PYTHON" -c '
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if not os.fork():
        time.sleep(0.1)
        os._exit(0)'
start_tracer record -o "$tmp/forks.acltap" -p "$pid"
kill -INT "$tracer"
reap "$tracer"
assert_eq "a process that forks all the time: status" "$status" 0
kill "$pid"

# One that maps a lot and says without end that its loader has mapped more: Ctrl-C is heard.
start "$PYTHON" -c '
import ctypes, mmap, os, sys
library = ctypes.CDLL(sys.argv[1])
fd = os.open(sys.argv[1], os.O_RDONLY)
pages = [mmap.mmap(fd, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC,
                   offset=4096 * (i % 2)) for i in range(8000)]
loader = next(line.split()[-1] for line in open("/proc/self/maps") if "/ld-" in line)
say = ctypes.CDLL(loader)._dl_debug_state
open(sys.argv[2], "w").close()
while True:
    say()' "$T/jmp/libmsprofiler.so" "$tmp/loud"
wait_for "$LIMIT" test -e "$tmp/loud" || die "the loud process does not start"
start_tracer record -o "$tmp/loud.acltap" -p "$pid"
sleep 1
kill -INT "$tracer"
reap "$tracer"
assert_eq "a loader that never ends: Ctrl-C is heard" "$status" 0
kill -KILL "$pid"

# More libraries than acltap may have files open.
libs=()
for i in {1..30}; do
	cp "$T/jmp/libmsprofiler.so" "$tmp/lib$i.so"
	libs+=("$tmp/lib$i.so")
done
new_truth
start_target "$T/dlopen_late" 0 30 "${libs[@]}"
ulimit -n 64
start_tracer record -o "$tmp/many.acltap" -p "$target"
release
reap "$target"
assert_eq "too many libraries: status of the target" "$status" 0
reap "$tracer"
assert_eq "too many libraries: status" "$status" 0
assert_match "too many libraries: said" "$(cat "$tmp/stderr")" 'oo many open files'
finish
