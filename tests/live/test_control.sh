#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Programs whose flow of control is not plain: ranges left by longjmp (S22), a stamp used again (S6),
# a pop without a push (S10), a stop before its start's return (S18), a signal handler inside
# a call, a storm of forks (S32), processes that share memory and thread numbers that are used again
# (S33, S12), a process number that is used again (S35), a seccomp filter (S46).
. "$(dirname "$0")/lib.sh"
need_uprobes

spans() {	# events file: kind, name, depth, status, one a line, in order of their start
	"$PYTHON" - "$1" <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
for row in sorted((r for r in rows if "start_ns" in r), key=lambda r: (r["start_ns"], r["depth"])):
    print(row["kind"], row["name"], row["depth"], row["status"], sep="|")
END
}

run_acltap record -o "$tmp/jump.ndjson" -- "$T/longjmp"
assert_eq "longjmp: status" "$status" 0
assert_eq "longjmp: a later pop closes the innermost range" "$(spans "$tmp/jump.ndjson")" \
"push/pop|outer|0|unfinished
push/pop|left by longjmp|1|unfinished
push/pop|left by longjmp|2|unfinished
push/pop|left by longjmp|3|complete
marker|outer|4|complete
push/pop|outer|3|complete"

names() {	# options...: of the two ranges on one stamp, and the orphans
	run_acltap record -f "$@" -o "$tmp/again.ndjson" -- "$T/corners" stamp
	echo "$status $(spans "$tmp/again.ndjson" | cut -d '|' -f 2-4 | xargs | tr -s '|' ',')" \
		"$(events_count "$tmp/again.ndjson" orphan function aclprofPop)"
}
assert_eq "a stamp used again has its text, as in the vendor's files; a pop without a push" \
	"$(names)" "0 a,0,complete a,0,complete 1"
assert_eq "a stamp used again, --lifecycle: no text" "$(names --lifecycle)" \
	"0 a,0,complete ,0,complete 1"

new_truth
run_acltap record -o "$tmp/race.ndjson" -- "$T/corners" race
assert_eq "stopped before the start has returned: status" "$status" 0
compare_truth "stopped before the start has returned: every range" "$tmp/race.ndjson"

# What the handler's calls overwrite must not be taken for the interrupted call's: its id is not
# known, so neither is which range the later stops end. The handler's own range is certain.
for how in "" --returns; do
	# shellcheck disable=SC2086
	run_acltap record $how -f -o "$tmp/handler.ndjson" --lib "$T/handler" -- "$T/handler"
	assert_eq "a signal handler in a call $how: status" "$status" 0
	assert_eq "a signal handler in a call $how: what is certain and what is not" \
		"$(spans "$tmp/handler.ndjson")" \
"start/end|signals|0|uncertain
start/end|signals|0|uncertain
marker|signals|0|complete
start/end|signals|0|complete"
done

new_truth
run_acltap record -o "$tmp/storm.ndjson" -- "$T/forkstorm" 4 4 6
assert_eq "a storm of forks: status" "$status" 0
compare_truth "a storm of forks: events of every thread of 341 processes" "$tmp/storm.ndjson"

new_truth
run_acltap record -o "$tmp/vm.ndjson" -- "$T/clonevm"
assert_eq "shared memory, numbers used again: status" "$status" 0
compare_truth "shared memory, numbers used again: events of each process and thread" "$tmp/vm.ndjson"
assert_eq "a thread's number was used again" "$(cat "$tmp/stdout")" "same number"

run_acltap record -o "$tmp/confined.ndjson" -- "$T/seccomped"
assert_eq "seccomp, launched: it survives" "$status/$(cat "$tmp/stdout")" 0/survived
assert_eq "seccomp, launched: every event" "$(spans "$tmp/confined.ndjson" | grep -c complete)" 15
start_target "$T/seccomped"
attach_and_run -o "$tmp/confined2.ndjson"
assert_eq "seccomp, attached: it survives" "$status/$target_status" 0/0
assert_eq "seccomp, attached: every event" "$(spans "$tmp/confined2.ndjson" | grep -c complete)" 15

# The number of a process that has ended is given to another one, while acltap waits for a third.
cat >"$tmp/reuse.sh" <<'END'
acltap=$1 program=$2 out=$3
mkfifo "$out.a" "$out.c"
ACLTAP_WAIT=$out.a "$program" 1 10 & a=$!
ACLTAP_WAIT=$out.c "$program" 1 10 & c=$!
"$acltap" record -o "$out.ndjson" -p $a,$c 2>"$out.err" & tracer=$!
until grep -q '^acltap: tracing' "$out.err"; do kill -0 $tracer || exit 9; sleep 0.05; done
echo go >"$out.a"
wait $a
for _ in $(seq 50); do
	echo $((a - 1)) >/proc/sys/kernel/ns_last_pid
	"$program" 1 10 & b=$!
	wait $b
	[ $b -ne $a ] || break
done
echo go >"$out.c"
wait $tracer || exit 8
[ $b -eq $a ] && echo reused
END
if unshare -pf --mount-proc true 2>/dev/null; then
	reused=$(timeout "$LIMIT" unshare -pf --mount-proc bash "$tmp/reuse.sh" "$ACLTAP" \
		"$T/seed_loops" "$tmp/reuse")
	assert_eq "a process number used again: it was" "$?/$reused" 0/reused
	assert_eq "a process number used again: none of the newcomer's marks" \
		"$(events_count "$tmp/reuse.ndjson" marker)" 20
else
	skip_one "a process number used again" "no PID namespaces"
fi
finish
