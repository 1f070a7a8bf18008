#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A thread has the name that it had at its first call, in every output that tells threads by name;
# whatever bytes it is made of, no file and no terminal is harmed.
. "$(dirname "$0")/lib.sh"
need_uprobes
can() { "$ACLTAP" export --help | grep -q "\\.$1"; }

# What tests/targets/threads.c calls its threads; one has the empty name, so it has none.
WANT=$("$PYTHON" -c 'print(sorted(["", "loader", "a name of 15 by", "\x1b[2J\ufffd,\"\n\t</b>"]))')

names_in_db() {	# with 30 events each
	"$PYTHON" - "$1" <<'END'
import sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
rows = list(db.execute("SELECT coalesce(thread, ''), count(*) FROM ACLTAP_EVENTS GROUP BY startTid"))
assert all(count == 30 for name, count in rows), rows
print(sorted(name for name, count in rows))
END
}

names_in_trace() {
	"$PYTHON" -B tests/golden/check_pftrace.py --dump "$1" | "$PYTHON" -c '
import json, re, sys
lines = (re.match(r"track thread: thread \S+ (\".*\") in process", line) for line in sys.stdin)
print(sorted(json.loads(line[1]) for line in lines if line))'
}

names_in_stat() {	# its CSV, whose Range is "PID/TID name"; PID
	"$PYTHON" - "$@" <<'END'
import csv, sys
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    rows = [row["Range"].partition(" ") for row in csv.DictReader(file, strict=True)]
assert all(ids.startswith(sys.argv[2] + "/") for ids, _, _ in rows), rows
print(sorted({ids: name for ids, _, name in rows}.values()))
END
}

check_names() {	# what, capture, PID
	local formats=() f
	for f in db pftrace; do
		can $f && formats+=(-o "$tmp/x.$f")
	done
	run_acltap export -q -f "$2" -o "$tmp/x.json" -o "$tmp/x.html" "${formats[@]}"
	assert_eq "$1: export" "$status" 0
	if can db; then
		assert_eq "$1: names in the database" "$(names_in_db "$tmp/x.db")" "$WANT"
	else
		skip_one "$1: names in the database" "built without libsqlite3"
	fi
	if can pftrace; then
		assert_eq "$1: names of the tracks" "$(names_in_trace "$tmp/x.pftrace")" "$WANT"
	else
		skip_one "$1: names of the tracks" "built without libprotobuf-c"
	fi
	run_acltap stat -q --by thread --format csv -o "$tmp/x.csv" -f "$2"
	assert_eq "$1: names in stat --by thread" "$(names_in_stat "$tmp/x.csv" "$3")" "$WANT"
	run_acltap stat -q --by thread "$2"
	assert_eq "$1: no control byte reaches the terminal" \
		"$(LC_ALL=C tr -d '\n\40-\176\200-\377' <"$tmp/stdout" | wc -c)" 0
	assert_match "$1: but the name does" "$(cat "$tmp/stdout")" '[0-9] a name of 15 by'
}

run_acltap record -o "$tmp/launched.acltap" -- "$T/threads" 3
assert_match "launched: the summary" "$(cat "$tmp/stderr")" '; nothing lost'
check_names launched "$tmp/launched.acltap" "$(sed -n 's/.*tracing PID \([0-9]*\).*/\1/p' "$tmp/stderr")"

start_target "$T/threads" 3
attach_and_run -o "$tmp/attached.acltap"
assert_eq "attached: status" "$status/$target_status" 0/0
check_names attached "$tmp/attached.acltap" "$target"

start_tracer record -a -o "$tmp/any.acltap"
"$T/threads" 3 &
target=$!
wait "$target"
kill -INT "$tracer"
reap "$tracer"
run_acltap stat -q --by thread --format csv -p "$target" -o "$tmp/any.csv" "$tmp/any.acltap"
assert_eq "-a: names in stat --by thread" "$(names_in_stat "$tmp/any.csv" "$target")" "$WANT"

# The threads of a part that was dropped are gone, those that live are not; see test_keep.
run_acltap stat -q --by thread --format csv -o "$tmp/live.csv" -- "$T/seed_loops" all 10
assert_match "live stat: the main thread has the program's name" "$(cat "$tmp/live.csv")" \
	'PushPop,[0-9]+/[0-9]+ seed_loops,'
finish
