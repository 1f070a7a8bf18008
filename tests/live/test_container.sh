#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# acltap inside a PID namespace of its own counts processes as the user there does (S49).
. "$(dirname "$0")/lib.sh"
need_uprobes
unshare -pf --mount-proc true 2>/dev/null || skip "no PID namespaces"

inside() {	# arguments of acltap
	unshare -pf --mount-proc timeout -k 10 "$LIMIT" "$ACLTAP" "$@" \
		>"$tmp/stdout" 2>"$tmp/stderr" </dev/null
	status=$?
}

new_truth
inside record -o "$tmp/in.ndjson" -- sh -c "'$T/threads' 3; '$T/seed_loops' 1 10"
assert_eq "launched in a container: status" "$status" 0
assert_eq "launched in a container: PIDs of that container, of children too" \
	"$("$PYTHON" -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
print(all(r["pid"] < 100 for r in rows if "pid" in r and r["kind"] != "call"),
      sum(r["kind"] == "marker" for r in rows))' "$tmp/in.ndjson")" "True 34"

# From outside, a process in a container is traced under the number it has outside.
new_truth
start_target unshare -pf --mount-proc "$T/threads" 20
attach_and_run -o "$tmp/out.ndjson"
assert_eq "attached from outside: status" "$status/$target_status" 0/0
assert_eq "attached from outside: marks" \
	"$(grep -c '"kind":"marker"' "$tmp/out.ndjson")" 160
assert_eq "attached from outside: all of one process, under its outer PID" \
	"$(sed -n 's/.*"kind":"marker".*"pid":\([0-9]*\),.*/\1/p' "$tmp/out.ndjson" | sort -u | wc -l)" 1
finish
