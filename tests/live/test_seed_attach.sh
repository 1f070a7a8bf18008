#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The vendor's example, already running when acltap attaches: nothing was set up beforehand.
. "$(dirname "$0")/lib.sh"
need_uprobes
COUNT=5000

check_attached() {	# name, csv file
	assert_eq "$1: status of acltap, which ends by itself" "$status" 0
	assert_eq "$1: status of the target" "$target_status" 0
	for kind in marker push/pop start/end; do
		assert_eq "$1: $kind rows" "$(csv_rows "$2" event_type $kind)" $COUNT
	done
}

for form in jmp stack endbr push; do
	use_form $form
	start_target "$T/seed_loops" all $COUNT
	attach_and_run -o "$tmp/$form.csv"
	check_attached "C, form $form" "$tmp/$form.csv"
done

use_form jmp
if [ -e "$T/acl.abi3.so" ]; then
	mkfifo "$tmp/mapped" || exit 1
	start env ACLTAP_WAIT_MAPPED="$tmp/mapped" "$PYTHON" "$SRC/seed_loops.py" all $COUNT
	target=$pid
	wait_for "$LIMIT" grep -q libmsprofiler.so "/proc/$target/maps" || die "no library mapped"
	mv "$tmp/mapped" "$tmp/go"
	attach_and_run -o "$tmp/py.csv"
	check_attached "Python, library mapped" "$tmp/py.csv"

	# The library is loaded by import, after acltap has attached.
	start_target "$PYTHON" "$SRC/seed_loops.py" all $COUNT
	wait_for "$LIMIT" grep -q python "/proc/$target/maps"
	attach_and_run -o "$tmp/late.csv"
	check_attached "Python, before import acl" "$tmp/late.csv"
else
	skip_one "Python" "no Python headers"
fi

# A process that ends while acltap attaches, or soon after (S34): told or traced, never a hang.
for ms in 001 005 010 020 040 060 080 100 150 200 300; do
	: >"$tmp/steps"
	sleep 0.$ms | "$T/steps" >"$tmp/steps" &
	pid=$!
	run_acltap record -f -o "$tmp/brief.csv" -p "$pid"
	if [ "$status" -eq 1 ]; then
		assert_match "gone $ms ms later: said" "$(cat "$tmp/stderr")" "PID $pid: No such process"
		check "gone $ms ms later: no output" test ! -e "$tmp/brief.csv"
	else
		assert_eq "gone $ms ms later: acltap ends by itself" "$status" 0
		check "gone $ms ms later: the file is complete" csv_rows "$tmp/brief.csv"
		rm "$tmp/brief.csv"
	fi
done

# Another process that maps the same library is no target.
start_target "$T/seed_loops" 1 100
start "$T/storm" 1 300000 >/dev/null
other=$pid
attach_and_run -o "$tmp/one.ndjson"
assert_eq "-p A: only A's events" "$(events_count "$tmp/one.ndjson" marker)" 100
assert_eq "-p A: none of B's" "$(events_count "$tmp/one.ndjson" push/pop)" 0
reap "$other"
assert_eq "B ends well" "$status" 0
finish
