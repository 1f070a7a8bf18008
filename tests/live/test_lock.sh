#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A capture that is being recorded: nobody else records into it, and readers know. And what an
# ordinary user is told about processes that only root can read.
. "$(dirname "$0")/lib.sh"
need_uprobes

start sleep 1000
sleeper=$pid
start_tracer record -o "$tmp/x.csv" -p "$sleeper"
run_acltap record -f -o "$tmp/x.csv" -- "$T/seed_loops" all 3
assert_eq "a second recording with -f: status" "$status" 125
assert_match "a second recording with -f: why" "$(cat "$tmp/stderr")" \
	"x.csv.acltap': another acltap is recording into it"
wait_for "$LIMIT" test -s "$tmp/x.csv.acltap"
run_acltap export "$tmp/x.csv.acltap" -o "$tmp/now.csv" -o "$tmp/running.html"
assert_match "export while it is recorded: says so" "$(cat "$tmp/stderr")" 'its recording goes on'
kill -KILL "$tracer"
reap "$tracer"
run_acltap export -f "$tmp/x.csv.acltap" -o "$tmp/now.csv" -o "$tmp/truncated.html"
assert_match "export after a crash: says so" "$(cat "$tmp/stderr")" 'its recording crashed'
cp "$tmp/x.csv.acltap" "$tmp/damaged.acltap"
printf '\377\377\377' | dd of="$tmp/damaged.acltap" bs=1 seek=100 conv=notrunc status=none
run_acltap export "$tmp/damaged.acltap" -o "$tmp/damaged.html"
assert_match "export of a damaged one: says so" "$(cat "$tmp/stderr")" 'is damaged'
for how in running truncated damaged; do
	assert_eq "the page of a $how one knows it" "$(grep -o '^"cut":.*' "$tmp/$how.html")" \
		"\"cut\":\"$how\","
done
run_acltap record -f -o "$tmp/x.csv" -- "$T/seed_loops" all 3
assert_eq "recording over what a crash left: status" "$status" 0

# Another file is there by now.
start_tracer record -o "$tmp/gone.acltap" -p "$sleeper"
wait_for "$LIMIT" test -s "$tmp/gone.acltap"
rm "$tmp/gone.acltap" && echo mine >"$tmp/gone.acltap"
kill -INT "$tracer"
reap "$tracer"
assert_eq "a capture that was replaced: status" "$status" 1
assert_match "a capture that was replaced: said" "$(cat "$tmp/stderr")" \
	"gone.acltap' was removed or replaced while it was recorded"
assert_eq "a capture that was replaced: no word that it is there" \
	"$(grep -c 'what was recorded is in' "$tmp/stderr")" 0
assert_eq "a capture that was replaced: the new file stays" "$(cat "$tmp/gone.acltap")" mine

cp "$ACLTAP" "$tmp/acltap"
setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/acltap" list >"$tmp/stdout" 2>"$tmp/stderr"
assert_eq "list as an ordinary user: status" $? 0
assert_match "list as an ordinary user: how many could not be read" "$(cat "$tmp/stderr")" \
	'[1-9][0-9]* processes could not be read'
assert_eq "list as an ordinary user: no word that there is none" \
	"$(grep -c 'no process maps' "$tmp/stderr")" 0
finish
