#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What acltap has otherwise for itself its command gets as it was, and acltap works with whatever it
# was started with: ignored signals, a low limit of open files.
. "$(dirname "$0")/lib.sh"
need_uprobes

ignoring_children() {	# command...: started with SIGCHLD ignored
	timeout --foreground -k 10 "$LIMIT" "$PYTHON" -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])' "$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
	status=$?
}
ignoring_children "$ACLTAP" record -o "$tmp/x.ndjson" -- sh -c '"$0" all 5; exit 7' \
	"$T/seed_loops"
assert_eq "SIGCHLD ignored: the command's status" "$status" 7
assert_eq "SIGCHLD ignored: events" "$(grep -c '"kind"' "$tmp/x.ndjson")" 15
# Not those that the C library keeps for itself (32, 33): whoever makes a thread sets them.
ignored() {
	echo "$((16#$(awk '/^SigIgn/ { print $2 }' "$tmp/stdout") & 0x7fffffff))"
}
ignoring_children "$ACLTAP" record -o "$tmp/i.ndjson" -- grep SigIgn /proc/self/status
traced=$(ignored)
ignoring_children grep SigIgn /proc/self/status
assert_eq "SIGCHLD ignored: it is for the command, too" "$traced" "$(ignored)"
ignoring_children "$ACLTAP" record -d 50ms -o "$tmp/d.ndjson" -- sh -c 'sleep 0.5; exit 8'
assert_eq "SIGCHLD ignored, ended before the command: its status" "$status" 8
ignoring_children "$ACLTAP" check
ignored=$(cat "$tmp/stdout")
run_acltap check
assert_eq "SIGCHLD ignored: check says the same" "$ignored" "$(cat "$tmp/stdout")"

# A library in many files, each with descriptors of its own; with and without links for many probes.
copies=()
for i in $(seq 40); do
	mkdir "$tmp/$i" && cp "$T/jmp/libmsprofiler.so" "$tmp/$i" && copies+=("$tmp/$i/libmsprofiler.so")
done
few=64
limited() {	# name, number of copies
	new_truth
	(
		ulimit -Sn $few || exit 1
		run_acltap record -f -o "$tmp/files.ndjson" -- sh -c '
			ulimit -n; exec "$@"' sh "$T/dlopen_late" 0 "$2" "${copies[@]:0:$2}"
		exit "$status"
	)
	assert_eq "$1: status" "$?" 0
	assert_eq "$1: the command's limit" "$(head -n 1 "$tmp/stdout")" $few
	compare_truth "$1: every event" "$tmp/files.ndjson"
}
limited "few open files" 40
export ACLTAP_WITHOUT=uprobe_multi
limited "few open files, a link for each probe" 4	# that many take time to go
export ACLTAP_WITHOUT=
finish
