#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory does not grow with the capture: what is not written through is sorted on the disk. All
# formats together, at a size where the sort has left the memory, and at twice that; and a capture
# in which no name occurs twice.
. "$(dirname "$0")/lib.sh"
[ -x "$ACLTAP" ] || die "$ACLTAP is not built"
make --no-print-directory O="${O#"$ROOT"/}" "${O#"$ROOT"/}/bench/bench_capture" >"$tmp/stdout" 2>"$tmp/stderr" ||
	die "cannot build bench_capture"
RANGES=800000 LIMIT_KIB=$((256 * 1024))

capture() {	# name, arguments of bench_capture
	"$O/bench/bench_capture" "$tmp/$1.acltap" "${@:2}" || die "bench_capture failed"
}

peak() {	# arguments of acltap: sets kib to the most memory it had at a time
	rm -f "$tmp"/x.*
	kib=$(timeout --foreground -k 10 600 "$PYTHON" - "$ACLTAP" "$@" <<'END'
import os, resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
if status:
    sys.exit(status)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
	) || kib=$((1 << 30))
}

assert_below() {	# name, number, limit
	if [ "$2" -lt "$3" ]; then
		ok "$1: $2"
	else
		not_ok "$1" "$2 is not below $3"
	fi
}

capture one $RANGES
capture two $((2 * RANGES))
capture names $RANGES $RANGES
suffixes=$("$ACLTAP" export --help | tr -s ' \n' ' ' | sed -nE 's/.*format by suffix: ([^;]*);.*/\1/p')
assert_match "suffixes of the formats" "$suffixes" '^\.csv (\.[a-z]+ ?)+$'
all=()
for suffix in $suffixes; do
	all+=(-o "$tmp/x$suffix")
done
peak export -q "$tmp/two.acltap" "${all[@]}"
assert_below "KiB for all formats" "$kib" $LIMIT_KIB
# The page keeps values for its table, up to a number that is not reached here.
streams=()
for suffix in ${suffixes/.html/}; do
	streams+=(-o "$tmp/x$suffix")
done
peak export -q "$tmp/one.acltap" "${streams[@]}"
one=$kib
peak export -q "$tmp/two.acltap" "${streams[@]}"
# Less than nine bytes a range.
assert_below "KiB more for twice as many ranges" $((kib - one)) 8192
peak export -q "$tmp/names.acltap" "${all[@]}"
assert_below "KiB for all formats, each name once" "$kib" $LIMIT_KIB
for by in name thread; do
	peak stat -q --by $by "$tmp/two.acltap"
	assert_below "KiB for stat by $by" "$kib" $LIMIT_KIB
done
peak stat -q "$tmp/names.acltap"
assert_below "KiB for stat, each name once" "$kib" $LIMIT_KIB
peak diff -q "$tmp/names.acltap" "$tmp/names.acltap"
assert_below "KiB for diff, each name once" "$kib" $LIMIT_KIB
peak merge -q -o "$tmp/x.acltap" "$tmp/one.acltap" "$tmp/two.acltap"
assert_below "KiB for merge" "$kib" $LIMIT_KIB
finish
