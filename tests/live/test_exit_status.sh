#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Exit statuses: those of the command, 125 to 127, 128 + signal, 0 to 3; no others.
. "$(dirname "$0")/lib.sh"
[ -x "$ACLTAP" ] || die "$ACLTAP is not built"

expect() {	# name, status, arguments of acltap
	local name=$1 want=$2
	shift 2
	run_acltap "$@"
	assert_eq "$name: $want" "$status" "$want"
}

for command in record export merge stat trace diff list check; do
	expect "$command --help" 0 $command --help
	assert_match "$command --help is on stdout" "$(cat "$tmp/stdout")" "usage: acltap $command"
	assert_eq "$command --help leaves stderr alone" "$(cat "$tmp/stderr")" ""
done
expect "--help" 0 --help
expect "--version" 0 --version

usage_error() {	# name, arguments
	local name=$1
	shift
	expect "$name" 2 "$@"
	assert_eq "$name: nothing on stdout" "$(cat "$tmp/stdout")" ""
	assert_match "$name: a message" "$(cat "$tmp/stderr")" '^(acltap: |usage: )'
}
usage_error "no command"
usage_error "unknown command" frobnicate
usage_error "unknown option" record --frobnicate -- true
usage_error "unknown option of acltap" --frobnicate
usage_error "nothing to trace" record
usage_error "no command after --" record --
usage_error "PID that is no number" record -p 12x
usage_error "PID 0" record -p 0
usage_error "PID and command" record -p $$ -- true
usage_error "bad duration" record -d 5parsecs -- true
usage_error "bad ring size" record --ring-size 12q -- true
usage_error "bad probe site" record --probe-site=exit -- true
usage_error "option without its value" record -o
usage_error "export of nothing" export
usage_error "export to nothing" export "$tmp/x.acltap"
usage_error "merge of nothing" merge -o "$tmp/x.csv"
usage_error "merge to nothing" merge "$tmp/x.acltap"
for command in "export $tmp/missing.acltap" "merge $tmp/missing.acltap"; do
	for outputs in "-o $tmp/x.CSV" "-o $tmp/x.acltap -o $tmp/y.acltap" "-o $tmp/d1 -o $tmp/d2"; do
		# shellcheck disable=SC2086
		usage_error "${command%% *} with outputs that cannot be meant, ${outputs//$tmp\//}" \
			$command $outputs
	done
done

expect "export of a missing file" 1 export "$tmp/missing.acltap" -o "$tmp/x.csv"
expect "list of a missing file" 1 list "$tmp/missing.so"

need_uprobes

launch() {	# name, status, command...
	local name=$1 want=$2
	shift 2
	rm -f "$tmp/x.csv"
	expect "$name" "$want" record -o "$tmp/x.csv" -- "$@"
}
launch "true" 0 true
launch "exit 7" 7 "$T/short"
launch "exit 1" 1 false
launch "exit 255" 255 sh -c 'exit 255'
launch "SIGSEGV" 139 "$T/crash" segv
launch "abort" 134 "$T/crash" abort
launch "SIGKILL" 137 "$T/crash" kill
launch "_exit" 9 "$T/crash" exit 9
launch "not found by path" 127 "$tmp/missing"
launch "not found in PATH" 127 acltap-no-such-command
touch "$tmp/plain"
launch "not executable" 126 "$tmp/plain"
launch "a directory" 126 "$tmp"
printf '#!/no/such/interpreter\n' >"$tmp/script"
chmod 755 "$tmp/script"
launch "missing interpreter" 127 "$tmp/script"

expect "output in a missing folder" 125 record -o "$tmp/missing/x.csv" -- true
echo mine >"$tmp/mine.csv"
expect "output exists" 125 record -o "$tmp/mine.csv" -- true
assert_eq "the file that exists is unchanged" "$(cat "$tmp/mine.csv")" mine
expect "output exists, -f" 0 record -f -o "$tmp/mine.csv" -- true
assert_match "-f replaces the file" "$(cat "$tmp/mine.csv")" '^Device_id,'

start sleep 0
reap "$pid"
expect "PID is gone" 1 record -p "$pid" -o "$tmp/gone.csv"
assert_match "PID is gone: it is named" "$(cat "$tmp/stderr")" "$pid.*No such process"

expect "--strict, nothing lost" 7 record --strict -o "$tmp/s1.csv" -- "$T/short"
expect "--strict, nothing lost" 0 record --strict -o "$tmp/s2.csv" -- "$T/short" 0
expect "--strict, messages unreadable" 3 record --strict -o "$tmp/s3.csv" -- "$T/messages"
expect "the same without --strict" 0 record -o "$tmp/s4.csv" -- "$T/messages"

# -d ends tracing, then waits for the command, which goes on.
expect "-d with a command" 5 record -d 200ms -o "$tmp/d.csv" -- sh -c 'sleep 2; exit 5'
start sleep 1000
expect "-d with a PID" 0 record -d 200ms -p "$pid" -o "$tmp/d2.csv"
check "the process goes on after -d" kill -0 "$pid"
for signal in INT TERM HUP; do
	start_tracer record -p "$pid" -o "$tmp/$signal.csv"
	kill -$signal "$tracer"
	reap "$tracer"
	assert_eq "SIG$signal ends tracing of a PID: 0" "$status" 0
	check "SIG$signal: the file is complete" test -s "$tmp/$signal.csv"
	check "SIG$signal: no capture is left" test ! -e "$tmp/$signal.csv.acltap"
done
finish
