#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# acltap trace (S52): each line while the program stands still, also into a pipe; text, JSON,
# filters, losses, colours, hostile names; a reader that goes away or stands still.
. "$(dirname "$0")/lib.sh"
need_uprobes

# ---- At once ------------------------------------------------------------------------------------
mkfifo "$tmp/in" || exit 1
shown_mark='\* D$'
has_marks() {
	[ "$(grep -c -- "$shown_mark" "$tmp/lines")" -eq "$1" ]
}

trace_steps() {	# name, number, options of trace...: each step has to be in the pipe before the next
	local name=$1 number=$2 step shown=0
	start bash -c 'exec "$0" <"$1" >"$2"' "$T/steps" "$tmp/in" "$tmp/steps.out"
	target=$pid
	exec 9>"$tmp/in"
	: >"$tmp/stderr"
	"$ACLTAP" trace "${@:3}" -p "$target" 2>"$tmp/stderr" </dev/null 9>&- | cat >"$tmp/lines" 9>&- &
	piped=$!
	background+=("$piped")
	wait_for "$LIMIT" grep -q '^acltap: tracing' "$tmp/stderr" || die "acltap does not trace"
	for step in $(seq 1 "$number"); do
		echo -n x >&9
		wait_for 20 has_marks "$step" || break
		shown=$step
	done
	assert_eq "$name: each step is shown before the next one begins" "$shown" "$number"
	exec 9>&-
	reap "$target"
	wait "$piped"
	assert_eq "$name: the trace ends with its target" "$?" 0
}

shown_mark='"name":"D"' trace_steps "json" 5 --json
assert_eq "json: all rows" "$(grep -c '^{.*}$' "$tmp/lines")" 25
trace_steps "text" 30
assert_eq "all lines" "$(wc -l <"$tmp/lines")" 150
assert_eq "nothing but lines of one form" "$(grep -vcE \
	'^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} [0-9]+ +((A|    B|  A|C) <[0-9.]+ [nmu]?s>( start/end)?|\* D)$' \
	"$tmp/lines")" 0
assert_eq "children before their parents, by depth" \
	"$(head -n 3 "$tmp/lines" | sed -E 's/.{32}//; s/ <.*//' | tr '\n' ,)" "    B,  A,A,"
assert_eq "times are in order" "$(cut -c1-15 "$tmp/lines" | sort -c 2>&1)" ""

# ---- Forms --------------------------------------------------------------------------------------
new_truth
run_acltap trace --json -o "$tmp/t.ndjson" -- "$T/threads"
assert_eq "json: status" "$status" 0
check "json: as many rows as were done, with the fields of .ndjson" "$PYTHON" - \
	"$tmp/t.ndjson" "$truth" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
truth = [l for l in open(sys.argv[2], encoding="utf-8") if not l.startswith("#")]
assert len(rows) == len(truth), (len(rows), len(truth))
fields = ("kind name start_ns end_ns duration_ns pid process start_tid end_tid depth parent status "
          "category category_name payload ret rank host host_pid").split()
for row in rows:
    assert list(row) == fields, row
    assert row["process"] == "threads", row
assert all(a["end_ns"] <= b["end_ns"] for a, b in zip(rows, rows[1:]))
END
run_acltap trace -m 'ha*' --exclude '*1' -o - -- "$T/threads"
assert_eq "filters" "$(sed -E 's/.*(hand [0-9]).*/\1/' "$tmp/stdout" | sort -u | xargs)" "hand 0 hand 2 hand 3"
assert_match "a range that another thread ended" "$(cat "$tmp/stdout")" 'start/end by [0-9]+$'
run_acltap trace -- "$T/short"
assert_eq "-- CMD: its status" "$status" 7
assert_eq "-- CMD: nothing on stdout" "$(cat "$tmp/stdout")" ""
assert_match "-- CMD: lines on stderr" "$(cat "$tmp/stderr")" ' brief <'
run_acltap trace -- "$T/crash" kill
assert_eq "killed: the command's status" "$status" 137
assert_match "killed: what was open" "$(cat "$tmp/stderr")" 'open push <unfinished after '
run_acltap trace -o - -- "$T/messages"
check "no control character reaches a terminal" \
	bash -c '! LC_ALL=C grep -qP "[\x00-\x08\x0b-\x1f\x7f]" "$0"' "$tmp/stdout"
assert_match "what could not be read is said" "$(cat "$tmp/stdout")" '<unreadable>$'
run_acltap trace --ring-size 4K -o - --strict -- "$T/storm" 2 20000
assert_eq "losses: --strict" "$status" 3
assert_match "losses are lines of their own" "$(cat "$tmp/stdout")" '-- [0-9,]+ calls of aclprofPush lost$'

# ---- Colours ------------------------------------------------------------------------------------
if command -v script >/dev/null; then
	colours() {	# environment...
		# No shell's job control: -c runs it as its child.
		env TERM=xterm "$@" script -qec "$ACLTAP trace -- $T/short" /dev/null \
			</dev/null 2>&1 | grep -c $'\033\\[36m'
	}
	assert_eq "colours on a terminal" "$(colours NO_COLOR=)" 2
	assert_eq "no colours with NO_COLOR" "$(colours NO_COLOR=1)" 0
	assert_eq "no colours on a dumb terminal" "$(colours NO_COLOR= TERM=dumb)" 0
else
	skip_one "colours" "no script command"
fi
assert_eq "no colours into a file" "$(grep -c $'\033' "$tmp/lines")" 0

# ---- Readers that go away, or stand still ---------------------------------------------------------
start_target "$T/seed_loops" all 20000
: >"$tmp/stderr"
{
	"$ACLTAP" trace -p "$target" 2>"$tmp/stderr" </dev/null
	echo $? >"$tmp/trace.status"
} | head -n 1 >"$tmp/lines" &
piped=$!
background+=("$piped")
wait_for "$LIMIT" grep -q '^acltap: tracing' "$tmp/stderr" || die "acltap does not trace"
release
wait "$piped"
wait_for "$LIMIT" test -s "$tmp/trace.status"
assert_eq "a closed pipe: status" "$(cat "$tmp/trace.status")" 1
assert_match "a closed pipe: said" "$(cat "$tmp/stderr")" "standard output.*Broken pipe"
assert_eq "a closed pipe: a line was read" "$(wc -l <"$tmp/lines")" 1
reap "$target"
assert_eq "a closed pipe: the target is well" "$status" 0

mkfifo "$tmp/still" || exit 1
sleep 1000 <>"$tmp/still" &
background+=($!)
start_target "$T/seed_loops" all 20000
: >"$tmp/stderr"
"$ACLTAP" trace -p "$target" >"$tmp/still" 2>"$tmp/stderr" </dev/null &
tracer=$!
background+=("$tracer")
wait_for "$LIMIT" grep -q '^acltap: tracing' "$tmp/stderr" || die "acltap does not trace"
release
reap "$target"
assert_eq "a reader that stands still: the target is well" "$status" 0
kill -TERM "$tracer"
reap "$tracer"
assert_eq "a reader that stands still: SIGTERM is heard" "$status" 1
run_acltap trace
assert_eq "usage error" "$status" 2
finish
