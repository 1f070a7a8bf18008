#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a terminal shows meanwhile: the line of a recording, the bar of an export that takes longer
# than a second; nothing of either where there is no terminal or under -q.
. "$(dirname "$0")/lib.sh"
need_uprobes
command -v script >/dev/null || skip "no script command"
make --no-print-directory O="${O#"$ROOT"/}" "${O#"$ROOT"/}/bench/bench_capture" >"$tmp/stdout" 2>"$tmp/stderr" ||
	die "cannot build bench_capture"

on_terminal() {	# file, command line: as it would be seen there; in the background, sets pid
	start script -qefc "$2" "$1" >/dev/null 2>&1
}

# ---- Recording ------------------------------------------------------------------------------------
mkfifo "$tmp/in" || exit 1
start bash -c 'exec "$0" <"$1" >/dev/null' "$T/steps" "$tmp/in"
target=$pid
exec 9>"$tmp/in"
on_terminal "$tmp/seen" "$ACLTAP record -p $target -o $tmp/r.csv" 9>&-
wait_for "$LIMIT" grep -q 'acltap: tracing' "$tmp/seen" || die "acltap does not trace"
printf xxxxxxxxxx >&9	# each is five events
wait_for "$LIMIT" grep -qa '50 events, [0-9,]*/s' "$tmp/seen"
line=$(tr '\r' '\n' <"$tmp/seen" | grep -a '50 events' | tail -n 1 | sed 's/.*\x1b\[K//')
exec 9>&-
reap "$pid"
assert_match "the line of a recording" "$line" \
	'^50 events, [0-9,]+/s, 0 lost, 0 open, capture [0-9.]+ ([KM]i)?B, [0-9.]+ [KMGTP]iB free$'
check "free is what the file system says" "$PYTHON" - "$tmp" "$line" <<'END'
import os, re, sys
st = os.statvfs(sys.argv[1])
number, unit = re.search(r"([0-9.]+) (.)iB free", sys.argv[2]).groups()
shown = float(number) * 1024 ** (1 + "KMGTP".index(unit))
free = st.f_bavail * st.f_frsize
assert abs(shown - free) < 0.2 * free, (shown, free)	# others write, too
END
assert_match "the summary takes its place" "$(cat "$tmp/seen")" $'\r\x1b\\[K50 events: '

# ---- Exporting ------------------------------------------------------------------------------------
"$O/bench/bench_capture" "$tmp/c.acltap" 200000 || die "bench_capture failed"
mkfifo "$tmp/slow.ndjson" || exit 1
slow_export() {	# shell command line that exports to the FIFO, which is read after a while
	start bash -c 'exec <"$0"; sleep 2; exec cat >/dev/null' "$tmp/slow.ndjson"
	reader=$pid
	on_terminal "$tmp/seen" "$1"
	reap "$pid"
	reap "$reader"
}
# bash opens the FIFO, acltap fills it and waits: more than a second has then gone by.
slow_export "$ACLTAP export $tmp/c.acltap -o $tmp/slow.ndjson"
assert_match "the bar of an export" "$(tr '\r' '\n' <"$tmp/seen")" \
	'(reading|writing) \[#+\.*\] [0-9]+%$'
assert_match "the summary takes the place of the bar" "$(cat "$tmp/seen")" \
	$'\r\x1b\\[K200,000 events: '
slow_export "stty cols 20; $ACLTAP export $tmp/c.acltap -o $tmp/slow.ndjson"
assert_eq "a narrow terminal: no more than fits" "$(tr '\r' '\n' <"$tmp/seen" |
	sed -n 's/^\x1b\[K\([rw][a-z]*ing\)/\1/p' | awk 'length > m { m = length } END { print m }')" 19
slow_export "$ACLTAP export -q $tmp/c.acltap -o $tmp/slow.ndjson"
assert_eq "no bar under -q" "$(grep -acF '[#' "$tmp/seen")" 0
slow_export "$ACLTAP export $tmp/c.acltap -o $tmp/slow.ndjson 2>$tmp/stderr"
assert_match "no terminal: the summary" "$(cat "$tmp/stderr")" '^200,000 events: '
assert_eq "no terminal: no bar" "$(grep -c $'\r\\|\\[#' "$tmp/stderr")" 0
finish
