#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# -a and -n: processes that run already, that start later, that load the library late, and those
# that nobody asked for.
. "$(dirname "$0")/lib.sh"
need_uprobes

# Others may use the API on this machine meanwhile: only our own processes count.
by_pid() {	# PID events-file: its events
	grep -c "\"pid\":$1," "$2"
}

stop_tracer() {
	kill -INT "$tracer"
	reap "$tracer"
}

# The events of the processes in the truth log, of a capture of more: $tmp/mine.ndjson.
export_mine() {	# capture
	local pids
	pids=$(cut -f 3 "$truth" | grep -xE '[0-9]+' | sort -u | paste -sd ,)
	run_acltap export "$1" -f -p "$pids" -o "$tmp/mine.ndjson"
}

# ---- everyone ----
start_target "$T/seed_loops" all 50
before=$target
new_truth
start_tracer record -a -o "$tmp/all.acltap"
release
reap "$before"
assert_eq "-a: status of one that ran before" "$status" 0
"$T/seed_loops" all 40 & linked=$!
wait "$linked"
"$T/dlopen_late" 20 3 "$T/jmp/libmsprofiler.so" & late=$!
wait "$late"
assert_eq "-a: status of one that loads the library late" $? 0
"$T/fork_exec" 4
assert_eq "-a: status of a tree of processes" $? 0
child=$(bash -c '"$0" all 7 & echo $!; wait' "$T/seed_loops")
# Others may not be able to read the folder of the repository.
mkdir "$tmp/open" && cp "$T/seed_loops" "$T"/jmp/*.so "$tmp/open" && chmod -R a+rX "$tmp/open"
LD_LIBRARY_PATH=$tmp/open setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$tmp/open/seed_loops" all 9 & nobody=$!
wait "$nobody"
assert_eq "-a: status of another user's" $? 0
stop_tracer
assert_eq "-a: status" "$status" 0
export_mine "$tmp/all.acltap"
compare_truth "-a: events of a late library and of a tree of processes" "$tmp/mine.ndjson"
run_acltap export "$tmp/all.acltap" -o "$tmp/all.ndjson"
assert_eq "-a: events of the one that ran before" "$(by_pid "$before" "$tmp/all.ndjson")" 150
assert_eq "-a: events of one that started later" "$(by_pid "$linked" "$tmp/all.ndjson")" 120
assert_eq "-a: events of the child of a shell" "$(by_pid "$child" "$tmp/all.ndjson")" 21
assert_eq "-a: events of another user's process" "$(by_pid "$nobody" "$tmp/all.ndjson")" 27
check "-a: those are named that have ended since" \
	grep -q "\"pid\":$linked,.*\"process\":\"seed_loops\"" "$tmp/all.ndjson"

# ---- everyone: a library that acltap does not know, another PID namespace ----
truth=
# A program waits for acltap to find the place only so long, which on a busy machine can be too
# short. So it may be missed, but not silently, and not always.
ROUNDS=20
copy_is_seen() {	# folder for it, command before: events of one that loads a copy of the library
	local round copy got
	mkdir "$1"
	cp "$T"/jmp/libmsprofiler.so "$T"/jmp/libprofapi.so "$1"
	for round in $(seq $ROUNDS); do
		start_tracer record -f -a -o "$tmp/copy.ndjson"
		"${@:2}"
		LD_LIBRARY_PATH=$1 "$T/seed_loops" all 11 & copy=$!
		wait "$copy"
		stop_tracer
		got=$(by_pid "$copy" "$tmp/copy.ndjson")
		[ "$got" != 33 ] || break
		grep -qE 'were not waited for|loaded the library while it ran' "$tmp/stderr" || break
		echo "# round $round: $got events, and told"
	done
	[ "$got" = 33 ]
}
check "-a: a copy of the library from LD_LIBRARY_PATH" copy_is_seen "$tmp/elsewhere" true

# More files than there is room for: those without functions are forgotten, others are told.
many_files() {
	local i
	for i in $(seq 40); do
		cp /bin/true "$tmp/true.$i" && "$tmp/true.$i"
		rm -f "$tmp/true.$i"
	done
}
export ACLTAP_MAX_FILES=24
check "-a, many files: a copy of the library" copy_is_seen "$tmp/elsewhere2" many_files
ACLTAP_MAX_FILES=1
start_tracer record -a -o "$tmp/one.ndjson"
many_files
stop_tracer
assert_match "-a, no room for files: told" "$(cat "$tmp/stderr")" \
	'files have traced functions: calls of further ones are not seen'
unset ACLTAP_MAX_FILES
start_tracer record -a -o "$tmp/other.ndjson"
cp "$T/seed_loops" "$tmp/inside_loops"
inside=none
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	LD_LIBRARY_PATH=$T/jmp unshare --pid --fork --mount-proc "$tmp/inside_loops" all 13
	inside=$?
fi
stop_tracer
if [ "$inside" = none ]; then
	skip_one "-a: events in another PID namespace" "no PID namespaces"
else
	assert_eq "-a: events in another PID namespace" \
		"$inside/$(grep -c '"process":"inside_loops"' "$tmp/other.ndjson")" 0/39
fi

# A file that nothing leads to, loaded late by a program that was seen before: the window is told.
cp -r "$tmp/elsewhere" "$tmp/nowhere"
mkfifo "$tmp/on"
start_tracer record -a -o "$tmp/nowhere.ndjson"
"$PYTHON" - "$tmp/nowhere/libmsprofiler.so" "$tmp/on" <<'END' &
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
open(sys.argv[2]).read()
lib.aclprofCreateStamp.restype = ctypes.c_void_p
stamp = ctypes.c_void_p(lib.aclprofCreateStamp())
lib.aclprofSetStampTraceMessage(stamp, b"late", 4)
for _ in range(3):
    lib.aclprofMark(stamp)
END
late=$!
window='loaded the library while it ran: calls in the first .* are not seen'
wait_for "$LIMIT" grep -q "PID $late $window" "$tmp/stderr"
assert_match "-a: a library from an unknown place: the window is told" "$(cat "$tmp/stderr")" \
	"PID $late $window"
echo >"$tmp/on"
wait "$late"
stop_tracer
assert_eq "-a: a library from an unknown place: what came after the window" \
	"$(by_pid "$late" "$tmp/nowhere.ndjson")" 3

# ---- those of a name ----
cp "$T/fork_exec" "$tmp/wanted_tree"
new_truth
start "$T/storm" 1 1000000000
storm=$pid
trace_wanted "$tmp/name.ndjson"
bash -c 'exec -a wanted_not "$0" all 100' "$T/seed_loops"
stop_tracer
assert_eq "-n: one that ran before" "$(by_pid "$before" "$tmp/name.ndjson")" 15
assert_eq "-n: one that started later" "$(by_pid "$later" "$tmp/name.ndjson")" 18
assert_eq "-n: nobody else" "$(grep -c '"process":"\(seed_loops\|storm\)"' "$tmp/name.ndjson")" 0
assert_match "-n: calls, lost and delivered, add up" "$(cat "$tmp/stderr")" '; nothing lost'
kill -KILL "$storm"
reap "$storm" 2>/dev/null
new_truth
start_tracer record -n 'no such' -n wanted_tree -o "$tmp/tree2.ndjson"
"$tmp/wanted_tree" 4
stop_tracer
compare_truth "-n: events of a tree of processes, by the second name" "$tmp/tree2.ndjson"

# ---- those that get another name ----
# Marks "was NAME" under its first name, and "is NAME" under each later one. Between them it waits.
cat >"$tmp/renamed.py" <<'END'
import ctypes, sys
lib, libc = ctypes.CDLL("libmsprofiler.so"), ctypes.CDLL(None)
lib.aclprofCreateStamp.restype = ctypes.c_void_p
stamp = ctypes.c_void_p(lib.aclprofCreateStamp())

def mark(text):
    lib.aclprofSetStampTraceMessage(stamp, text, len(text))
    lib.aclprofMark(stamp)

libc.prctl(15, sys.argv[2].encode())
lib.aclprofPush(stamp)  # of which nothing is left when it is found
mark(b"was " + sys.argv[2].encode())
for name in sys.argv[3:]:
    print("waits", flush=True)
    open(sys.argv[1]).read()
    libc.prctl(15, name.encode())
    mark(b"is " + name.encode())
END
mkfifo "$tmp/next"
it_waits() {
	[ "$(grep -c waits "$tmp/steps")" -ge "$1" ]
}
marks_in_trace() {
	[ "$(grep -c 'test msprof tx' "$tmp/stdout")" -ge "$1" ]
}
let_one_mark() {	# records are read in order: when this is printed, those before are dealt with
	"$tmp/wanted_loops" 1 1
	marked=$((marked + 1))
	wait_for "$LIMIT" marks_in_trace "$marked" || die "acltap does not get on"
}
rename_it() {	# "known": the library is probed; names...; then $tmp/stdout has what is printed
	local step known=$1
	shift
	marked=0
	start_tracer trace --json -n 'wanted_*'
	[ -z "$known" ] || let_one_mark
	start "$PYTHON" "$tmp/renamed.py" "$tmp/next" "$@" >"$tmp/steps"
	renamed=$pid
	for step in $(seq $(($# - 1))); do
		wait_for "$LIMIT" it_waits "$step" ||
			die "the renamed program does not wait"
		let_one_mark
		timeout "$LIMIT" bash -c ': >"$0"' "$tmp/next"
	done
	reap "$renamed"
	stop_tracer
}
marks_of_renamed() {	# status and name of each
	"$PYTHON" - "$renamed" "$tmp/stdout" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
print(*(f'{r["status"]} {r["name"]} of {r["process"]}' for r in rows
        if r.get("pid") == int(sys.argv[1]) and r["kind"] == "marker"), sep=", ")
END
}
rename_it known other_one other_two wanted_late
assert_eq "-n: one that gets that name later" "$(marks_of_renamed)" \
	"complete is wanted_late of wanted_late"
assert_eq "-n: nothing of before" "$(grep -c "\"pid\":$renamed," "$tmp/stdout")" 1
rename_it known wanted_once other_one other_two
assert_eq "-n: one that has it no more stays" "$(marks_of_renamed)" \
	"$(printf 'complete %s of wanted_once, ' 'was wanted_once' 'is other_one' 'is other_two' |
		sed 's/, $//')"

rename_it "" wanted_once other_one
assert_match "-n: one that gets it after a library that nobody else maps" "$(marks_of_renamed)" \
	"complete is other_one of wanted_once$"

# ---- those that end before acltap looks at them ----
cp "$T/seed_static" "$tmp/wanted_static"
cp "$T/seed_static" "$tmp/other_static"
ended='ended before (it was|they were) looked at'
look_away() {	# commands...: run while acltap stands still
	kill -STOP "$tracer"
	wait_for "$LIMIT" grep -q '^State:.*stopped' "/proc/$tracer/status" || die "it runs on"
	for command; do
		$command
	done
	kill -CONT "$tracer"
}
start_tracer record -n 'wanted_*' -o "$tmp/ended.ndjson"
look_away "$tmp/wanted_static 1 1" "$tmp/wanted_static 1 1" "$tmp/other_static 1 1"
stop_tracer
assert_match "-n: those that end at once are counted" "$(cat "$tmp/stderr")" \
	'warning: 2 processes of that name ended before they were looked at'
start_tracer record -n 'wanted_*' -f -o "$tmp/ended.ndjson"
"$tmp/wanted_loops" 1 4
look_away "$tmp/wanted_loops 1 5"
stop_tracer
assert_eq "-n: a call tells of a process that has ended" "$(grep -c \"marker\" "$tmp/ended.ndjson")" 9
assert_eq "-n: then nothing is missed" "$(grep -cE "$ended" "$tmp/stderr")" 0

# ---- what cannot be meant ----
for args in "-a -p 1" "-a -n x" "-a --no-follow" "-a -- true"; do
	# shellcheck disable=SC2086
	run_acltap record $args
	assert_eq "record $args: usage error" "$status" 2
done
finish
