#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A kernel without type information: fork, exec and exit are not seen, so processes are found by what
# they load and call. With -a, -n, -p and a command all is there, or it is said what is not.
. "$(dirname "$0")/lib.sh"
need_uprobes
export ACLTAP_WITHOUT=btf

# What a child inherits is not known here, and must not be taken for an empty name: such marks are
# uncertain. All the rest has to be complete.
complete_tree() {	# name, events
	check "$1: what is complete is right" \
		"$PYTHON" -B "$SRC/compare_truth.py" --complete "$truth" "$2"
	if grep -qE 'they are not recorded|calls .*not (be )?seen' "$tmp/stderr"; then
		ok "$1: not all, and told"
	else
		assert_eq "$1: every event" "$(grep -c '"start_ns":' "$2")" "$(grep -vc '^#' "$truth")"
	fi
	assert_eq "$1: only what was inherited is uncertain" \
		"$("$PYTHON" - "$2" <<'END_PYTHON'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print({(r["kind"], r["name"]) for r in rows if r.get("status") == "uncertain"} - {("marker", "")})
END_PYTHON
)" "set()"
}

stop_tracer() {
	kill -INT "$tracer"
	reap "$tracer"
	assert_eq "$1: status" "$status" 0
	assert_match "$1: the kernel's lack is told" "$(cat "$tmp/stderr")" 'no kernel BTF'
}
marks_of() {	# PID, events
	grep -c "\"kind\":\"marker\".*\"pid\":$1," "$2"
}

# ---- everybody ----
truth=
start_target "$T/seed_loops" all 50
before=$target
new_truth
start_tracer record -a -o "$tmp/all.acltap"
release
reap "$before"
"$T/seed_loops" all 40 & linked=$!
wait "$linked"
"$T/dlopen_late" 20 3 "$T/jmp/libmsprofiler.so"
"$T/fork_exec" 4
stop_tracer "-a"
run_acltap export -f "$tmp/all.acltap" -o "$tmp/mine.ndjson" \
	-p "$(cut -f 3 "$truth" | grep -xE '[0-9]+' | sort -u | paste -sd ,)"
complete_tree "-a, a late library and a tree of processes" "$tmp/mine.ndjson"
run_acltap export -q "$tmp/all.acltap" -o "$tmp/all.ndjson"
assert_eq "-a: one that ran before" "$(marks_of "$before" "$tmp/all.ndjson")" 50
assert_eq "-a: one that started later" "$(marks_of "$linked" "$tmp/all.ndjson")" 40

# A library that acltap does not know: the program is held while it is found, or it is told.
mkdir "$tmp/elsewhere"
cp "$T"/jmp/libmsprofiler.so "$T"/jmp/libprofapi.so "$tmp/elsewhere"
truth=
for round in $(seq 20); do
	start_tracer record -f -a -o "$tmp/copy.ndjson"
	LD_LIBRARY_PATH=$tmp/elsewhere "$T/seed_loops" all 11 & copy=$!
	wait "$copy"
	kill -INT "$tracer"
	reap "$tracer"
	got=$(marks_of "$copy" "$tmp/copy.ndjson")
	[ "$got" != 11 ] || break
	grep -qE 'were not waited for|loaded the library while it ran' "$tmp/stderr" || break
	echo "# round $round: $got marks, and told"
done
if [ "$(printf '%s\n' 6.0 "$(uname -r)" | sort -V | head -n 1)" = 6.0 ]; then
	assert_eq "-a: a library from LD_LIBRARY_PATH (round $round)" "$got" 11
else	# no probe can hold a process there
	ok "-a: a library from LD_LIBRARY_PATH: $got of 11 marks"
fi

# ---- those of a name ----
cp "$T/fork_exec" "$tmp/wanted_tree"
trace_wanted "$tmp/name.ndjson"
stop_tracer "-n"
assert_eq "-n: one that ran before" "$(marks_of "$before" "$tmp/name.ndjson")" 5
assert_eq "-n: one that started later" "$(marks_of "$later" "$tmp/name.ndjson")" 6
assert_eq "-n: nobody else" "$(grep -c '"process":"seed_loops"' "$tmp/name.ndjson")" 0
new_truth
start_tracer record -n wanted_tree -o "$tmp/tree.ndjson"
"$tmp/wanted_tree" 4
stop_tracer "-n, a tree"
complete_tree "-n, a tree of processes" "$tmp/tree.ndjson"

# ---- children ----
new_truth
run_acltap record -o "$tmp/launched.ndjson" -- "$T/fork_exec" 4
assert_eq "a command: status" "$status" 0
complete_tree "a command and its children" "$tmp/launched.ndjson"
new_truth
start_target "$T/fork_exec" 4
attach_and_run -o "$tmp/attached.ndjson"
assert_eq "-p: status" "$status/$target_status" 0/0
complete_tree "-p and its children" "$tmp/attached.ndjson"
finish
