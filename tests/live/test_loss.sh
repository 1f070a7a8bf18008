#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# When the ring is too small (S42): what arrived and what is said to be lost are together what was
# called, function by function; every output says so, and what a loss may have changed is not shown
# as if it were right.
. "$(dirname "$0")/lib.sh"
need_uprobes

# What the program says that it called, against the capture (what arrived, and the kernel side's own
# counts) and against the events made of it.
check_counts() {	# name, capture, events; the program's words are in $tmp/stdout
	check "$1: arrived + lost = called, for each function" \
		"$PYTHON" -B "$SRC/check_calls.py" "$tmp/stdout" "$2"
	check "$1: the events made of it" "$PYTHON" -B - "$2" "$3" <<'END'
import json, sys
from collections import Counter
sys.path.insert(0, "tests/targets")
import check_calls
NUMBERS = {name: func for name, func in check_calls.numbers().items()
           if name in ("aclprofSetStampTraceMessage", "aclprofPush", "aclprofPop")}
arrived, told, _ = check_calls.read_capture(sys.argv[1])
assert len(NUMBERS) == 3
rows = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
count = Counter()
for row in rows:
    if "count" in row:
        count[row["kind"], row.get("function")] += row["count"]
spans = [row for row in rows if row["kind"] == "push/pop"]
assert not any(kind in ("mismatch", "bad", "late", "orphan") for kind, _ in count), count
assert len(spans) == arrived[NUMBERS["aclprofPush"]], (len(spans), arrived)
for name, func in NUMBERS.items():
    assert count["loss", name] == told[func], (name, count, told)
assert {row["name"] for row in spans if row["status"] == "complete"} <= {"storm"}
# What did not end in what arrived has no duration: a thread's last pop, or its exit, was lost.
assert all((row["duration_ns"] is None) == (row["status"] != "complete") for row in spans)
# No giant: a range whose end was lost would reach into the next ones of its thread.
last = {}
for row in sorted((r for r in spans if r["status"] == "complete"), key=lambda r: r["start_ns"]):
    assert row["start_ns"] >= last.get(row["start_tid"], 0), row
    last[row["start_tid"]] = row["end_ns"]
END
}

# The other outputs of the same capture: each that can say what was lost does, function by function,
# and none has more complete ranges than the events.
can() { "$ACLTAP" export --help | grep -q "\\.$1"; }
outputs=(json html)
can db && outputs+=(db)
can pftrace && outputs+=(pftrace)
check_outputs() {	# name, events; the outputs are $tmp/l.*
	check "$1: .json has what is complete and nothing else" "$PYTHON" - "$tmp/l.json" "$2" <<'END'
import json, sys
got = sum(e["ph"] == "X" for e in json.load(open(sys.argv[1], encoding="utf-8")))
want = sum(json.loads(line).get("status") == "complete" for line in open(sys.argv[2], encoding="utf-8"))
assert got == want, (got, want)
END
	if can db; then
		check "$1: .db" "$PYTHON" - "$tmp/l.db" "$2" <<'END'
import json, sqlite3, sys
from collections import Counter
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
rows = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
want, statuses = Counter(), Counter(r["status"] for r in rows if "start_ns" in r)
for r in rows:
    if r["kind"] in ("loss", "lost_return", "lost_start"):
        want[r["kind"], r["function"]] += r["count"]
got = Counter()
for kind, function, count in db.execute("SELECT kind, function, count FROM ACLTAP_COUNTS "
                                        "WHERE kind IN ('loss', 'lost_return', 'lost_start')"):
    got[kind, function] += count
assert want and got == want, (got, want)
(told,), = db.execute("SELECT sum(count) FROM ACLTAP_LOSSES WHERE kind = 'loss' AND toNs >= fromNs")
assert told == sum(n for (kind, _), n in want.items() if kind == "loss"), (told, want)
assert Counter(dict(db.execute("SELECT status, count(*) FROM ACLTAP_EVENTS GROUP BY 1"))) == statuses
(rows,), = db.execute("SELECT count(*) FROM MSTX_EVENTS")
assert rows == statuses["complete"], (rows, statuses)
END
	else
		skip_one "$1: .db" "built without libsqlite3"
	fi
	if can pftrace; then
		check "$1: .pftrace" "$PYTHON" -B tests/golden/check_pftrace.py "$tmp/l.pftrace" "$2"
	else
		skip_one "$1: .pftrace" "built without libprotobuf-c"
	fi
	check "$1: .html" "$PYTHON" -B tests/golden/check_html.py "$tmp/l.html" "$2"
}

lossy=0
for size in 4K 64K 4M; do
	for threads in 1 4; do
		name="ring of $size, $threads threads"
		rm -f "$tmp"/l.*
		run_acltap record --strict --ring-size $size -o "$tmp/l.ndjson" -o "$tmp/l.csv" -o "$tmp/l.tsv" \
			-o "$tmp/l.acltap" -- "$T/storm" $threads 10000
		lost=$(events_count "$tmp/l.ndjson" loss)
		check_counts "$name" "$tmp/l.acltap" "$tmp/l.ndjson"
		assert_eq "$name: --strict says what was lost ($lost)" "$status" $((lost > 0 ? 3 : 0))
		[ "$lost" -gt 0 ] || continue
		lossy=$((lossy + 1))
		assert_match "$name: the summary says it" "$(cat "$tmp/stderr")" 'calls? lost'
		assert_eq "$name: .tsv says the same" \
			"$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "count") c = i }
				$1 == "loss" { n += $c } END { print n }' "$tmp/l.tsv")" "$lost"
		complete=$(events_count "$tmp/l.ndjson" push/pop status complete)
		assert_eq "$name: .csv has what is complete and nothing else" \
			"$(csv_rows "$tmp/l.csv" event_type push/pop)" "$complete"
		run_acltap export --strict -q "$tmp/l.acltap" -o "$tmp/l.again.ndjson"
		assert_eq "$name: export --strict" "$status" 3
		[ $threads -gt 1 ] || continue
		rm -f "$tmp"/l.again.*
		# shellcheck disable=SC2046
		run_acltap export --strict "$tmp/l.acltap" $(printf " -o $tmp/l.%s" "${outputs[@]}")
		assert_eq "$name: export --strict of all the others" "$status" 3
		assert_match "$name: export says it" "$(cat "$tmp/stderr")" 'calls? lost'
		check_outputs "$name" "$tmp/l.ndjson"
	done
done
# With the smallest ring something must have been lost, or nothing of this was tried.
assert_eq "some rings were too small" $((lossy > 0)) 1

# Records of processes, not of calls: told as that, and what is complete is what was done.
new_truth
run_acltap record --strict --ring-size 4K -o "$tmp/p.ndjson" -o "$tmp/p.acltap" -- "$T/forkstorm" 4 3 2
lost=$(events_count "$tmp/p.ndjson" lost_process function fork/exec/exit)
check "a storm of forks: records of processes were lost ($lost)" test "$lost" -gt 0
assert_eq "a storm of forks: --strict" "$status" 3
assert_eq "a storm of forks: the summary" \
	"$(sed -nE 's/^  ([0-9,]+) process records? lost: [0-9,]+ fork\/exec\/exit$/\1/p' "$tmp/stderr" | tr -d ,)" \
	"$lost"
check "a storm of forks: what is complete is what was done" \
	"$PYTHON" -B "$SRC/compare_truth.py" --complete "$truth" "$tmp/p.ndjson"
if can db; then
	run_acltap export -q "$tmp/p.acltap" -o "$tmp/p.db"
	assert_eq "a storm of forks: .db" "$("$PYTHON" -c '
import sqlite3, sys
print(*sqlite3.connect(sys.argv[1]).execute(
    "SELECT sum(count) FROM ACLTAP_LOSSES WHERE kind = \"lost_process\"").fetchone())' "$tmp/p.db")" "$lost"
fi
run_acltap export -q "$tmp/p.acltap" -o "$tmp/p.html"
check "a storm of forks: .html" "$PYTHON" -B tests/golden/check_html.py "$tmp/p.html" "$tmp/p.ndjson"
run_acltap stat --strict "$tmp/p.acltap"
assert_eq "a storm of forks: stat --strict" "$status" 3
assert_match "a storm of forks: stat tells it" "$(cat "$tmp/stderr")" 'process records lost: '

# S42: 8 threads, 64 KiB; ACLTAP_TEST_STORM=1000000 is the whole of it.
run_acltap record --ring-size 64K -o "$tmp/big.acltap" -o "$tmp/big.ndjson" -- \
	"$T/storm" 8 "${ACLTAP_TEST_STORM:-40000}"
assert_eq "8 threads: status" "$status" 0
check_counts "8 threads" "$tmp/big.acltap" "$tmp/big.ndjson"
finish
