#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The vendor's example, launched: every call is in the output, for each form of the library.
. "$(dirname "$0")/lib.sh"
need_uprobes
COUNT=5000

check_three_loops() {	# name, csv file, expected rows of each kind
	local kind
	for kind in marker push/pop start/end; do
		assert_eq "$1: $kind rows" "$(csv_rows "$2" event_type $kind)" "$3"
	done
	assert_eq "$1: each has the message" "$(csv_rows "$2" message 'test msprof tx')" $((3 * $3))
}

for form in jmp stack endbr push; do
	use_form $form
	run_acltap record -o "$tmp/$form.csv" -- "$T/seed_loops" all $COUNT
	assert_eq "C, form $form: status" "$status" 0
	check_three_loops "C, form $form" "$tmp/$form.csv" $COUNT
done

use_form jmp
for program in seed_nopie seed_static musl/seed_loops; do
	[ -e "$T/$program" ] || { skip_one "$program" "no musl compiler"; continue; }
	rm -f "$tmp/p.csv"
	LD_LIBRARY_PATH=$([ $program = seed_nopie ] && echo "$T/jmp") \
		run_acltap record -o "$tmp/p.csv" -- "$T/$program" all $COUNT
	assert_eq "$program: status" "$status" 0
	check_three_loops "$program" "$tmp/p.csv" $COUNT
done

run_acltap record --probe-site=entry -o "$tmp/entry.csv" -- "$T/seed_loops" all $COUNT
assert_eq "--probe-site=entry: status" "$status" 0
check_three_loops "--probe-site=entry" "$tmp/entry.csv" $COUNT

# As long as in the example. Should events be lost, each must be accounted for.
if [ -e "$T/acl.abi3.so" ]; then
	run_acltap record -o "$tmp/py.ndjson" -- "$PYTHON" "$SRC/seed_loops.py"
	assert_eq "Python, full length: status" "$status" 0
	for pair in marker:aclprofMark push/pop:aclprofPush start/end:aclprofRangeStart; do
		rows=$(events_count "$tmp/py.ndjson" ${pair%:*})
		lost=$(events_count "$tmp/py.ndjson" loss function ${pair#*:})
		assert_eq "Python, full length: ${pair%:*} rows + lost ($lost)" $((rows + lost)) 200000
	done
else
	skip_one "Python" "no Python headers"
fi
finish
