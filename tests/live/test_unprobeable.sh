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
	wait_for "$LIMIT" bash -c "$maps" "/proc/$target/maps" || die "the text is as it was"
	rm -f "$tmp/rwx.ndjson"
	attach_and_run -o "$tmp/rwx.ndjson"
	assert_match "$name: told" "$(cat "$tmp/stderr")" "PID $target: .*cannot be seen.*$reason"
	assert_eq "$name: acltap and the target live" "$status/$target_status" 0/0
}

told "writable text" 'grep -q "rwxp.*libmsprofiler" "$0"' writable
# Between two mappings of the library lies one that belongs to nobody.
told "anonymous text" 'grep -A 1 "r--p.*libmsprofiler" "$0" | grep -q "r-xp 00000000 00:00 0 *$"' \
	'as a copy in anonymous memory' anonymous
finish
