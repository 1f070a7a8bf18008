#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Where files go: the default folder, single files, the capture beside them.
. "$(dirname "$0")/lib.sh"
need_uprobes
HEADER='Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,message,domain,Device Start_time(us),Device End_time(us)'

mkdir "$tmp/here"
(cd "$tmp/here" && "$ACLTAP" record -- "$T/threads" 3) >"$tmp/stdout" 2>"$tmp/stderr"
assert_eq "default: status" $? 0
assert_eq "default: nothing on stdout" "$(cat "$tmp/stdout")" ""
shopt -s nullglob
folders=("$tmp"/here/PROF_*)
assert_eq "default: one folder" "${#folders[@]}" 1
folder=${folders[0]-}
assert_match "default: its name" "$(basename "$folder")" '^PROF_[0-9]{14}_[0-9]+$'
check "default: the capture" test -s "$folder/capture.acltap"
csv=("$folder"/mindstudio_profiler_output/msprof_tx_*.csv)
json=("$folder"/mindstudio_profiler_output/msprof_tx_*.json)
assert_eq "default: one csv, one json" "${#csv[@]}/${#json[@]}" 1/1
if "$ACLTAP" export --help | grep -q '\.db'; then
	db=("$folder"/msprof_*.db)
	assert_match "default: one db, its name" "${db[*]##*/}" '^msprof_[0-9]{14}\.db$'
	assert_eq "default: rows of the db" "$("$PYTHON" -c 'import sqlite3, sys
print(*next(sqlite3.connect(sys.argv[1]).execute("SELECT count(*) FROM MSTX_EVENTS")))' "${db[0]-}")" 120
else
	skip_one "default: one db" "built without libsqlite3"
fi
assert_match "default: time in the names" "${csv[0]-} ${json[0]-}" \
	'msprof_tx_[0-9]{14}\.csv .*msprof_tx_[0-9]{14}\.json$'
assert_eq "default: header of the csv" "$(head -n 1 "${csv[0]-/dev/null}" | tr -d '\r')" "$HEADER"
assert_eq "default: rows of the csv" "$(csv_rows "${csv[0]-/dev/null}")" 120
assert_eq "default: no temporary file" "$(find "$tmp/here" -name '*.tmp*' -o -name '.*' -type f)" ""
check "default: the summary names the folder" grep -q "$(basename "$folder")" "$tmp/stderr"

run_acltap record -o "$tmp/dir" -- "$T/threads" 3
assert_eq "folder named: status" "$status" 0
check "folder named: the capture is in it" test -s "$tmp/dir/capture.acltap"
mkdir "$tmp/empty"
for slashed in "$tmp/empty/" "$tmp/new//"; do # as shells complete it
	run_acltap record -o "$slashed" -- "$T/threads" 3
	assert_eq "folder with a slash: status" "$status" 0
	check "folder with a slash: the capture is in it" test -s "$slashed/capture.acltap"
done
run_acltap record -o "$tmp/dir" -- "$T/threads" 3
assert_eq "folder not empty: refused" "$status" 125

run_acltap record -o "$tmp/a.csv" -- "$T/threads" 3
assert_eq "one file: status" "$status" 0
assert_eq "one file: nothing else is left" "$(cd "$tmp" && echo a.csv*)" a.csv
run_acltap record -o "$tmp/b.csv" -o "$tmp/b.ndjson" -o "$tmp/b.acltap" -- "$T/threads" 3
assert_eq "several files: status" "$status" 0
assert_eq "several files: what is there" "$(cd "$tmp" && echo b.*)" "b.acltap b.csv b.ndjson"
run_acltap export "$tmp/b.acltap" -o "$tmp/c.csv" -o "$tmp/c.ndjson"
assert_eq "export: status" "$status" 0
check "export gives the same csv again" cmp "$tmp/b.csv" "$tmp/c.csv"
check "export gives the same events again" cmp "$tmp/b.ndjson" "$tmp/c.ndjson"
run_acltap export "$tmp/dir" -o "$tmp/d.csv"
assert_eq "export of a folder: status" "$status" 0
assert_eq "export of a folder: rows" "$(csv_rows "$tmp/d.csv")" 120
run_acltap export "$tmp/b.acltap" -o "$tmp/b.csv"
assert_eq "export over an existing file: refused" "$status" 1

# One file by two ways, found before the command runs.
for again in "$tmp/twice.csv" "$tmp/./twice.csv" "$tmp/../${tmp##*/}/twice.csv"; do
	run_acltap record -f -o "$tmp/twice.csv" -o "$again" -- touch "$tmp/ran"
	assert_eq "given twice as ${again#"$tmp"}: refused" \
		"$status/$(grep -c 'is given twice' "$tmp/stderr")" 2/1
done
run_acltap export "$tmp/b.acltap" -o - -o -
assert_eq "export: - given twice: refused" "$status" 2
check "given twice: the command did not run" test ! -e "$tmp/ran"
run_acltap record -q -o "$tmp/no such folder/x.csv" -- true
assert_eq "no such folder: refused" "$status" 125

run_acltap record --dry-run -o "$tmp/dry.csv" -- "$T/short"
assert_eq "--dry-run: status" "$status" 0
check "--dry-run: no file" test ! -e "$tmp/dry.csv"
assert_match "--dry-run: the plan" "$(cat "$tmp/stdout" "$tmp/stderr")" 'aclprofRangeStart'
run_acltap record -q -o "$tmp/quiet.csv" -- "$T/short" 0
assert_eq "-q: no word" "$(cat "$tmp/stderr")" ""
mkdir "$tmp/full"
if unshare -T true 2>/dev/null; then
	unshare -T --fork --monotonic 1000 "$ACLTAP" record -f -o "$tmp/shifted.csv" -- true 2>"$tmp/stderr"
	assert_match "a time namespace: told" "$(cat "$tmp/stderr")" 'shifts the clock by 1000 s'
else
	skip_one "a time namespace: told" "no time namespaces"
fi
if mount -t tmpfs -o size=64k none "$tmp/full"; then
	mounts+=("$tmp/full")
	run_acltap record -q -o "$tmp/full/x.ndjson" -- sh -c '"$0" all 2000; exit 3' "$T/seed_loops"
	assert_eq "-q, full disk: the command's status is told" \
		"$status/$(grep -c "the command's exit status was 3" "$tmp/stderr")" 125/1
fi
finish
