#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Ranks recorded apart and together, merged, and what every output and table then says.
. "$(dirname "$0")/lib.sh"
need_uprobes
COUNT=300

# What a launcher such as torchrun does: a process for each rank, told who it is by variables.
launch() {	# ranks, command...: {} in it is the rank
	local ranks=$1 r pids=()
	shift
	for r in $ranks; do
		RANK=$r LOCAL_RANK=$((r % 2)) WORLD_SIZE=4 "${@//\{\}/$r}" </dev/null >/dev/null &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || return 1
	done
}

# Every row of some .ndjson but for what numbers the rows, sorted, as a checksum. Times count from
# the first of each process: alone, each capture follows its own reading of the wall clock.
rows_of() {	# files
	"$PYTHON" - "$@" <<'END'
import hashlib, json, sys
rows, first = [], {}
for path in sys.argv[1:]:
    rows += [r for r in map(json.loads, open(path, encoding="utf-8")) if "start_ns" in r]
for row in rows:
    first[row["pid"]] = min(first.get(row["pid"], row["start_ns"]), row["start_ns"])
for row in rows:
    del row["parent"]
    row["start_ns"] -= first[row["pid"]]
    row["end_ns"] -= first[row["pid"]]
lines = "\n".join(sorted(json.dumps(row, sort_keys=True) for row in rows))
print(len(rows), hashlib.sha256(lines.encode()).hexdigest())
END
}

ranks_of() {	# .ndjson: "rank=count ..."
	"$PYTHON" - "$1" <<'END'
import collections, json, sys
counts = collections.Counter()
for row in map(json.loads, open(sys.argv[1], encoding="utf-8")):
    if "start_ns" in row:
        counts[row["rank"]] += 1
print(*(f"{rank}={counts[rank]}" for rank in sorted(counts, key=str)))
END
}

# ---- Two acltap, a rank each; meanwhile on the same clock --------------------------------------
check "two ranks, recorded apart" launch "0 1" timeout "$LIMIT" "$ACLTAP" record -q \
	-o "$tmp/r{}.acltap" -- "$T/seed_loops" all $COUNT
for r in 0 1; do
	run_acltap export "$tmp/r$r.acltap" -q -o "$tmp/r$r.ndjson"
	assert_eq "rank $r knows who it is" "$(ranks_of "$tmp/r$r.ndjson")" "$r=$((3 * COUNT))"
done
run_acltap merge "$tmp/r0.acltap" "$tmp/r1.acltap" -o "$tmp/two.acltap" -o "$tmp/two.ndjson"
assert_eq "merge" "$status" 0
assert_eq "merged, all rows are what they were, to the nanosecond" \
	"$(rows_of "$tmp/two.ndjson")" "$(rows_of "$tmp/r0.ndjson" "$tmp/r1.ndjson")"
run_acltap merge --align "test msprof tx" "$tmp/r0.acltap" "$tmp/r1.acltap" -q \
	-o "$tmp/aligned.ndjson"
assert_eq "aligned by a name, one clock stays one clock" \
	"$(rows_of "$tmp/aligned.ndjson")" "$(rows_of "$tmp/two.ndjson")"
assert_eq "its capture was not asked for" "$(ls "$tmp"/aligned*)" "$tmp/aligned.ndjson"

# ---- One acltap on the launcher of both ----------------------------------------------------------
# shellcheck disable=SC2016 # the inner shell's variables
run_acltap record -q -o "$tmp/launched.ndjson" -- bash -c \
	'for r in 0 1; do RANK=$r "$0" all "$1" & done; wait' "$T/seed_loops" $COUNT
assert_eq "children of a launcher have their ranks" "$(ranks_of "$tmp/launched.ndjson")" \
	"0=$((3 * COUNT)) 1=$((3 * COUNT))"

# ---- One acltap on two running ranks ------------------------------------------------------------
mkfifo "$tmp/go2" "$tmp/go3"
start env RANK=2 LOCAL_RANK=0 ACLTAP_WAIT="$tmp/go2" "$T/seed_loops" all $COUNT
second=$pid
start env RANK=3 LOCAL_RANK=1 ACLTAP_WAIT="$tmp/go3" "$T/seed_loops" all $((COUNT + 1))
third=$pid
start_tracer record -p "$second,$third" -o "$tmp/r23.acltap"
for r in 2 3; do
	timeout "$LIMIT" bash -c 'echo go >"$0"' "$tmp/go$r"
done
reap "$tracer"
assert_eq "record -p of two ranks" "$status" 0

# ---- All four, from a capture that was merged before and one more -------------------------------
run_acltap merge "$tmp/two.acltap" "$tmp/r23.acltap" -o "$tmp/all"
assert_eq "merge with what was merged, into a directory" "$status" 0
run_acltap export "$tmp/all" -q -o "$tmp/all.ndjson" -o "$tmp/all.tsv" -o "$tmp/all.csv"
assert_eq "each rank has its rows" "$(ranks_of "$tmp/all.ndjson")" \
	"0=$((3 * COUNT)) 1=$((3 * COUNT)) 2=$((3 * COUNT)) 3=$((3 * COUNT + 3))"
assert_eq "rows of the .csv" "$(csv_rows "$tmp/all.csv")" $((12 * COUNT + 3))
assert_eq "rank in the .tsv" "$(awk -F '\t' 'NR > 1 { n[$18]++ } END { print n[3] }' "$tmp/all.tsv")" \
	$((3 * COUNT + 3))
check "the .json is JSON" "$PYTHON" -c \
	'import json, sys; json.load(open(sys.argv[1]))' "$(echo "$tmp"/all/*/*.json)"
db=$(echo "$tmp"/all/*.db)
if [ -e "$db" ]; then
	query() { "$PYTHON" -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row, sep="|")' "$db" "$1"; }
	assert_eq "ranks in the database" \
		"$(query "SELECT rank, localRank FROM ACLTAP_PROCESSES ORDER BY rank" | tr '\n' ' ')" \
		"0|0 1|1 2|0 3|1 "
	assert_eq "captures in the database" "$(query "SELECT count(*) FROM ACLTAP_SOURCES")" 3
	assert_eq "one host" "$(query "SELECT count(*) FROM HOST_INFO")" 1
else
	skip_one "the database" "built without libsqlite3"
fi

run_acltap stat "$tmp/all" --by rank --sort name --format csv
assert_eq "stat --by rank" "$(cut -d , -f 3,9,10 "$tmp/stdout" | tail -n 3 | tr '\n' ' ')" \
	"$((COUNT + 1)),PushPop,rank 3 $((COUNT + 1)),StartEnd,rank 3 $((COUNT + 1)),Marker,rank 3 "
run_acltap stat "$tmp/all" --ranks --format csv
assert_eq "stat --ranks: columns after all others" "$(head -n 1 "$tmp/stdout" | cut -d , -f 15-18)" \
	"Uncertain,Ranks,Min Total Rank,Min Total (ns)"
assert_eq "stat --ranks: all four" "$(cut -d , -f 16 "$tmp/stdout" | tail -n +2 | sort -u)" 4
run_acltap stat "$tmp/all" --format csv
assert_eq "stat has its columns" "$(head -n 1 "$tmp/stdout" | tr , '\n' | wc -l)" 15
run_acltap diff "$tmp/two.acltap" "$tmp/all"
assert_eq "diff reads them" "$status" 0

# ---- What is refused ------------------------------------------------------------------------------
run_acltap merge "$tmp/r0.acltap" "$tmp/two.acltap" -o "$tmp/x.acltap"
assert_eq "the same recording twice" "$status" 1
assert_match "it says which" "$(cat "$tmp/stderr")" "r0.acltap' and '.*two.acltap' hold the same"
run_acltap merge --align "test msprof tx" "$tmp/r0.acltap" "$tmp/r23.acltap" -o "$tmp/x.acltap"
assert_eq "a name with other counts" "$status" 1
assert_match "it says where" "$(cat "$tmp/stderr")" \
	"r23.acltap' has it $((3 * COUNT)) to $((3 * COUNT + 3)) times in its 2 processes"
run_acltap merge "$tmp/r0.acltap" "$tmp/r1.acltap" -f -o "$tmp/r1.acltap"
assert_eq "an input as the output" "$status" 1
run_acltap merge "$tmp/r0.acltap" "$tmp/r1.acltap"
assert_eq "no output" "$status" 2
assert_eq "nothing was left" "$(ls "$tmp" | grep -c '^x')" 0

# ---- What is damaged is taken up to there ---------------------------------------------------------
head -c $(($(stat -c %s "$tmp/r1.acltap") - 40)) "$tmp/r1.acltap" >"$tmp/cut.acltap"
run_acltap merge "$tmp/r0.acltap" "$tmp/cut.acltap" -o "$tmp/cut.ndjson"
assert_match "a capture without its end is told" "$(cat "$tmp/stderr")" "cut.acltap' .*incomplete"
assert_eq "and is a failure, as in every command" "$status" 1
check "what it holds is merged all the same" test -s "$tmp/cut.ndjson"
run_acltap merge "$tmp/r0.acltap" "$tmp/cut.acltap" --strict -q -f -o "$tmp/cut.merged.acltap"
assert_eq "and --strict changes nothing" "$status" 1
run_acltap export "$tmp/cut.merged.acltap" --strict -q -o "$tmp/cut2.ndjson"
assert_eq "also when it is exported later" "$status" 3
finish
