#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Code that the kernel puts no probe into is told, not passed over in silence (S39).
. "$(dirname "$0")/lib.sh"
need_uprobes
export LD_LIBRARY_PATH=$T/jmp

start_target "$T/rwx"
wait_for 20 grep -q 'rwxp.*libmsprofiler' "/proc/$target/maps" || die "the text was not made writable"
attach_and_run -o "$tmp/rwx.ndjson"
assert_match "writable text: told" "$(cat "$tmp/stderr")" "PID $target: .*cannot be seen.*writable"
assert_eq "writable text: acltap lives" "$status/$target_status" 0/0
finish
