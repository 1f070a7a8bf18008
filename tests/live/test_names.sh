#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 100,000 events, each with a name of its own (S23), as programs make them that put arguments into
# names: every name is exact in every output, and memory stays within bounds.
. "$(dirname "$0")/lib.sh"
need_uprobes
COUNT=100000 LIMIT_KIB=$((192 * 1024))

# Runs acltap and says how much memory it had, or the largest of its children.
measured() {	# arguments of acltap; sets status and kib
	timeout --foreground -k 10 "$LIMIT" "$PYTHON" - "$ACLTAP" "$@" \
		>"$tmp/stdout" 2>"$tmp/stderr" <<'END_MEASURED'
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL).returncode
print("KiB", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
END_MEASURED
	status=$?
	kib=$(sed -n 's/^KiB //p' "$tmp/stderr")
}

has_names() {	# number; reads names, one a line
	"$PYTHON" -c '
import sys
from collections import Counter
count = int(sys.argv[1])
got, want = Counter(sys.stdin.read().splitlines()), Counter(f"name {i}" for i in range(count))
assert got == want, (len(got), list((got - want).items())[:5], list((want - got).items())[:5])' "$1"
}

column() {	# file, column: of a CSV, read by a strict reader
	"$PYTHON" -c '
import csv, sys
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file, strict=True):
        print(row[sys.argv[2]].rstrip("\t"))' "$@"
}

measured record -o "$tmp/n.csv" -o "$tmp/n.ndjson" -o "$tmp/n.acltap" -- "$T/names" $COUNT
assert_eq "record: status" "$status" 0
assert_match "record: nothing lost" "$(cat "$tmp/stderr")" '; nothing lost'
check "record: KiB of memory, $kib" test "${kib:-$LIMIT_KIB}" -lt $LIMIT_KIB
check "every name, in .csv" has_names $COUNT < <(column "$tmp/n.csv" message)
check "every name, in .ndjson" has_names $COUNT < <("$PYTHON" -c '
import json, sys
for row in map(json.loads, open(sys.argv[1], encoding="utf-8")):
    if "start_ns" in row:
        assert row["status"] == "complete", row
        print(row["name"])' "$tmp/n.ndjson")

measured stat -q --format csv -o "$tmp/s.csv" "$tmp/n.acltap"
assert_eq "stat: status" "$status" 0
check "stat: KiB of memory, $kib" test "${kib:-$LIMIT_KIB}" -lt $LIMIT_KIB
check "stat: a row for every name" has_names $COUNT < <(column "$tmp/s.csv" Range)
assert_eq "stat: each occurred once" "$(column "$tmp/s.csv" Instances | sort -u)" 1

measured stat -q --format csv -o "$tmp/live.csv" -- "$T/names" 20000
assert_eq "stat, live: status" "$status" 0
check "stat, live: KiB of memory, $kib" test "${kib:-$LIMIT_KIB}" -lt $LIMIT_KIB
check "stat, live: a row for every name" has_names 20000 < <(column "$tmp/live.csv" Range)
finish
