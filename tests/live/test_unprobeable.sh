#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Code that the kernel puts no probe into is told, not passed over in silence (S39): text that was
# made writable, and a copy of it in memory that belongs to no file.
. "$(dirname "$0")/lib.sh"
need_uprobes
export LD_LIBRARY_PATH=$T/jmp

told() {	# name, what the text of the library is in the maps, the reason, arguments of rwx
	local name=$1 maps=$2 reason=$3
	shift 3
	start_target "$T/rwx" "$@"
	wait_for "$LIMIT" grep -q "$maps" "/proc/$target/maps" || die "the text is as it was"
	# Nothing of a library that begins with its text (arm64) lies in front of the copy: what is
	# left is to say that no library was seen.
	grep -m 1 libmsprofiler "/proc/$target/maps" | grep -q ' 00000000 ' ||
		reason='no process was seen to map a library'
	rm -f "$tmp/rwx.ndjson"
	attach_and_run -o "$tmp/rwx.ndjson"
	assert_match "$name: told" "$(cat "$tmp/stderr")" "$reason"
	assert_eq "$name: acltap and the target live" "$status/$target_status" 0/0
}

told "writable text" 'rwxp.*libmsprofiler' 'PID [0-9]*: .*cannot be seen.*writable'
told "anonymous text" 'r-xp 00000000 00:00 0 *$' \
	'PID [0-9]*: .*cannot be seen.*as a copy in anonymous memory' anonymous
finish
