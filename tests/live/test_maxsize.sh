#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# --max-size ends a recording; with --last it goes on and keeps the last part, also when killed.
. "$(dirname "$0")/lib.sh"
need_uprobes

size() {	# files: bytes of all
	cat "$@" | wc -c
}

run_acltap record --max-size 1M -o "$tmp/first.acltap" -- "$T/storm" 1 20000
assert_eq "--max-size: status of the command" "$status" 0
assert_match "--max-size: said" "$(cat "$tmp/stderr")" 'largest size: recording ends'
assert_match "--max-size: whole, nothing lost" "$(cat "$tmp/stderr")" 'nothing lost'
bytes=$(size "$tmp/first.acltap")
assert_eq "--max-size: $bytes bytes are about that" "$((bytes >= 1 << 20 && bytes < 20 << 20))" 1
run_acltap record --last -o "$tmp/x.csv" -- true
assert_eq "--last alone: usage error" "$status" 2

run_acltap record --max-size 4M --last -o "$tmp/last.acltap" -o "$tmp/last.ndjson" -- \
	"$T/storm" 1 60000
assert_eq "--last: status" "$status" 0
bytes=$(size "$tmp/last.acltap")
assert_eq "--last: $bytes bytes are at most that" "$((bytes > 1 << 20 && bytes <= 5 << 20))" 1
check "--last: one file" test ! -e "$tmp/last.acltap.older"
assert_eq "--last: kept and dropped calls add up" "$(events_count "$tmp/last.ndjson" mismatch)" 0
kept=$(events_count "$tmp/last.ndjson" push/pop)
dropped=$(events_count "$tmp/last.ndjson" loss function aclprofPush)
assert_eq "--last: some is kept, some dropped ($kept, $dropped)" \
	"$((kept > 0 && dropped > 0 && kept + dropped <= 60000))" 1
assert_match "--last: the process is named" "$(tail -n 1 "$tmp/last.ndjson" | head -c 2000)
$(grep -m 1 push/pop "$tmp/last.ndjson")" '"process":"storm"'

# What was set, and what began, in the part that was dropped.
run_acltap record --max-size 4M --last -o "$tmp/once.acltap" -o "$tmp/once.ndjson" -- \
	"$T/storm" 1 60000 once
assert_eq "--last, set once: status" "$status" 0
assert_eq "--last, set once: kept and dropped calls add up" \
	"$(events_count "$tmp/once.ndjson" mismatch)" 0
kept=$(events_count "$tmp/once.ndjson" push/pop)
assert_eq "--last, set once: most is dropped, some is kept ($kept)" "$((kept > 0 && kept < 50000))" 1
assert_eq "--last, set once: all that is kept has its name" \
	"$(events_count "$tmp/once.ndjson" push/pop name storm status complete)" "$kept"
assert_eq "--last: a stop whose start was dropped is a lost start" \
	"$(events_count "$tmp/once.ndjson" lost_start function aclprofRangeStop)" 1
assert_eq "--last: nobody is blamed for it" "$(events_count "$tmp/once.ndjson" orphan)" 0

# What fits is kept as a whole, and is whole.
run_acltap record --max-size 2G --last -o "$tmp/fits.acltap" -o "$tmp/fits.ndjson" -- "$T/storm" 1 100
assert_eq "--last: all fits: status" "$status" 0
assert_eq "--last: all fits: nothing is damaged" "$(grep -c 'damaged' "$tmp/stderr")" 0
assert_eq "--last: all fits: no loss" "$(events_count "$tmp/fits.ndjson" loss)" 0
run_acltap export "$tmp/fits.acltap" -o "$tmp/fits.csv"
assert_eq "--last: all fits: export's status" "$status" 0

# Killed at any moment: the last part can be read.
start_target "$T/storm" 1 1000000000
start_tracer record --max-size 4M --last -o "$tmp/killed.csv" -p "$target"
release
wait_for "$LIMIT" test -e "$tmp/killed.csv.acltap.older"
kill -KILL "$tracer"
reap "$tracer"
kill -KILL "$target"
reap "$target" 2>/dev/null
run_acltap export "$tmp/killed.csv.acltap" -o "$tmp/killed.ndjson"
assert_match "killed: the capture says so" "$(cat "$tmp/stderr")" 'its recording crashed'
assert_eq "killed: events of the last part" \
	"$(($(events_count "$tmp/killed.ndjson" push/pop) > 0))" 1
bytes=$(size "$tmp"/killed.csv.acltap*)
assert_eq "killed: $bytes bytes are at most that" "$((bytes <= 6 << 20))" 1

# What a crash left is overwritten only when asked, whichever of the two names it has.
mv "$tmp/killed.csv.acltap" "$tmp/aside"
run_acltap record --max-size 4M --last -o "$tmp/killed.csv" -- true
assert_eq "the older part alone: refused" "$status" 125
assert_match "the older part alone: said" "$(cat "$tmp/stderr")" 'killed.csv.acltap.older'
check "the older part alone: untouched" test -s "$tmp/killed.csv.acltap.older"
run_acltap record -f -o "$tmp/killed.csv" -- true
check "-f removes it, also without --last" test ! -e "$tmp/killed.csv.acltap.older"
finish
