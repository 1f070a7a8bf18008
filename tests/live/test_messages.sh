#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Messages of every shape (S1 to S5): right, cut as documented, or told to be unreadable.
. "$(dirname "$0")/lib.sh"
need_uprobes
# The kernel's version says it, not acltap.
[ "$(printf '%s\n' 6.0 "$(uname -r)" | sort -V | head -n 1)" = 6.0 ] || export ACLTAP_CANNOT_FAULT=1

new_truth
run_acltap record -o "$tmp/m.ndjson" -o "$tmp/m.csv" -o "$tmp/m.json" -o "$tmp/m.acltap" -- \
	"$T/messages"
assert_eq "launched: status" "$status" 0
compare_truth "launched: every message" "$tmp/m.ndjson"
total=$(grep -vc '^#' "$truth")
assert_eq "the csv survives every message" "$(csv_rows "$tmp/m.csv" event_type marker)" "$total"
assert_eq "the csv has the text with commas" "$(csv_rows "$tmp/m.csv" message 'a,b,c')" 1
assert_eq "the csv has the text with quotes" "$(csv_rows "$tmp/m.csv" message 'say "hi"')" 1
assert_eq "the csv has the text with line ends" \
	"$(csv_rows "$tmp/m.csv" message $'new\nline\r\n')" 1
check "the json survives every message" "$PYTHON" - "$tmp/m.json" "$total" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)
marks = [e for e in events if e["ph"] == "X"]
assert len(marks) == int(sys.argv[2]), len(marks)
names = [e["name"] for e in marks]
for name in ('say "hi"', "back\\slash", "new\nline\r\n", "\x01\x02\x1f\x7f", "=cmd()", "中文", "null"):
    assert name in names, name
END
assert_match "the summary tells of unreadable messages" "$(cat "$tmp/stderr")" 'unreadable'
check "no control character reaches the terminal" \
	bash -c '! LC_ALL=C grep -qP "[\x00-\x08\x0b-\x1f\x7f]" "$0"' "$tmp/stderr"

new_truth
start_target "$T/messages"
attach_and_run -o "$tmp/attached.ndjson"
assert_eq "attached: status" "$status/$target_status" 0/0
compare_truth "attached: every message" "$tmp/attached.ndjson"

# Who joins by his own call could lend a page that never comes (S53): none is brought in.
new_truth
cp "$T/messages" "$tmp/joining"
start_tracer record -n joining -o "$tmp/joined.ndjson"
ACLTAP_CANNOT_FAULT=1 "$tmp/joining"
assert_eq "joining: status of the target" $? 0
kill -INT "$tracer"
reap "$tracer"
assert_eq "joining: status" "$status" 0
compare_truth "joining: every message, or unreadable" "$tmp/joined.ndjson"
finish
