#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The formats that are no text, of live captures: other programs read them, and they say the same
# as the .ndjson of that capture. On a full disk nothing is left that looks whole.
. "$(dirname "$0")/lib.sh"
need_uprobes
# A build without a library has no such format.
can() { "$ACLTAP" export --help | grep -q "\\.$1"; }

for target in "threads 3" fork_exec behaviour "crash kill"; do
	# shellcheck disable=SC2086
	run_acltap record -q -o "$tmp/${target%% *}.acltap" -- $T/$target
	name=${target%% *}
	check "$name: a capture" test -s "$tmp/$name.acltap"
	run_acltap export -q "$tmp/$name.acltap" -o "$tmp/$name.ndjson" -o "$tmp/$name.csv"
	if can pftrace; then
		run_acltap export -q "$tmp/$name.acltap" -o "$tmp/$name.pftrace"
		check "$name: the trace agrees with the events" \
			"$PYTHON" -B tests/golden/check_pftrace.py "$tmp/$name.pftrace" "$tmp/$name.ndjson"
	else
		skip_one "$name: the trace agrees with the events" "built without libprotobuf-c"
	fi
	if can db; then
		run_acltap export -q "$tmp/$name.acltap" -o "$tmp/$name.db"
		check "$name: the database agrees with csv and events" "$PYTHON" - \
			"$tmp/$name.db" "$tmp/$name.csv" "$tmp/$name.ndjson" <<'END'
import csv, json, sqlite3, sys
from collections import Counter
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
assert list(db.execute("PRAGMA integrity_check")) == [("ok",)]
ns = lambda text: int(text.rstrip("\t").replace(".", ""))
rows = Counter((r["event_type"], r["message"], ns(r["Start_time(us)"]), ns(r["End_time(us)"]),
                int(r["pid"]), int(r["tid"]))
               for r in csv.DictReader(open(sys.argv[2], newline="", encoding="utf-8")))
got = Counter(db.execute(
    "SELECT k.name, s.value, startNs, endNs, endGlobalTid >> 32, endGlobalTid & 4294967295 "
    "FROM MSTX_EVENTS m JOIN STRING_IDS s ON s.id = message "
    "JOIN ENUM_MSTX_EVENT_TYPE k ON k.id = eventType"))
assert got == rows, (got - rows, rows - got)
events = [json.loads(line) for line in open(sys.argv[3], encoding="utf-8")]
keys = ("kind", "name", "start_ns", "end_ns", "duration_ns", "pid", "process", "start_tid",
        "end_tid", "depth", "status", "category", "category_name", "payload", "ret")
want = Counter(tuple(e[k] for k in keys) for e in events if "start_ns" in e)
got = Counter(db.execute(
    "SELECT kind, name, startNs, endNs, durationNs, pid, process, startTid, endTid, depth, status, "
    "category, categoryName, payload, ret FROM ACLTAP_EVENTS"))
assert want and got == want, (got - want, want - got)
(parents,), = db.execute("SELECT count(*) FROM ACLTAP_SPANS s JOIN ACLTAP_SPANS p "
                         "ON p.id = s.parent AND p.depth = s.depth - 1")
assert parents == sum(e.get("parent") is not None for e in events)
END
	else
		skip_one "$name: the database agrees with csv and events" "built without libsqlite3"
	fi
done

# More than a page of memory, which is what the smallest disk has: up to 64 KiB.
run_acltap record -o "$tmp/large.acltap" -- "$T/seed_loops" all 1000
mkdir "$tmp/full"
for format in db pftrace; do
	can $format || continue
	if mount -t tmpfs -o size=4k none "$tmp/full"; then
		mounts+=("$tmp/full")
		run_acltap export "$tmp/large.acltap" -o "$tmp/full/x.$format"
		assert_eq "full disk, $format: status" "$status" 1
		assert_match "full disk, $format: the reason" "$(cat "$tmp/stderr")" 'No space left'
		assert_eq "full disk, $format: nothing is left" "$(ls -A "$tmp/full")" ""
		umount "$tmp/full"
	else
		not_ok "full disk, $format: mount"
	fi
done
finish
