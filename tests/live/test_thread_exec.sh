#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Threads other than the main one that execute a program leave nothing behind in the map of threads,
# in a PID namespace neither (S12): a later thread of that number would begin with their state.
. "$(dirname "$0")/lib.sh"
need_uprobes
command -v bpftool >/dev/null || die "bpftool is missing"

try() {	# name, command before acltap...
	local name=$1 left
	shift
	rm -f "$tmp/done" "$tmp/go"
	new_truth
	"$@" timeout -k 10 "$LIMIT" "$ACLTAP" record -f -o "$tmp/exec.ndjson" -- \
		sh -c "'$T/thread_exec' 50; touch '$tmp/done'
			while [ ! -e '$tmp/go' ]; do sleep 0.1; done" >/dev/null 2>"$tmp/stderr" &
	background+=($!)
	wait_for "$LIMIT" test -e "$tmp/done"
	left=$(bpftool -j map dump name threads |
		"$PYTHON" -c 'import json, sys; print(len(json.load(sys.stdin)))')
	touch "$tmp/go"
	wait "${background[-1]}"
	assert_eq "$name: status" $? 0
	assert_eq "$name: events" "$(grep -c '"kind":"marker"' "$tmp/exec.ndjson")" 51
	assert_eq "$name: states left behind" "$left" 0
}

try "here" env
if unshare -pf --mount-proc true 2>/dev/null; then
	try "in a PID namespace" unshare -pf --mount-proc
else
	skip_one "in a PID namespace" "no PID namespaces"
fi
finish
