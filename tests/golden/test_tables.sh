#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What stat and diff print, byte for byte: a capture is made of each event script, and the tool
# reads it. CASE.stat is the table with its histograms, CASE.threads that by thread, of those with
# names; diff/ has the two scripts that are compared.
# With --update writes the expected files, to be read before they are committed.
set -eu
cd "$(dirname "$0")/../.."
export TZ=UTC
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
here=tests/golden
n=0 failed=0

compare() {	# expected file, command...: its standard output, and that it succeeds
	local want=$1 status=0
	shift
	n=$((n + 1))
	"$@" >"$tmp/got" 2>"$tmp/err" || status=$?
	if [ "${update-}" ]; then
		cp "$tmp/got" "$want"
	elif ! diff -u "$want" "$tmp/got" >"$tmp/diff"; then
		sed 's/^/# /' "$tmp/diff"
		status=1
	fi
	[ $status -eq 0 ] || { failed=1; sed 's/^/# /' "$tmp/err"; }
	[ $status -eq 0 ] && echo "ok $n - ${want#"$here/"}" || echo "not ok $n - ${want#"$here/"}"
}

capture() {	# event script, capture
	"$O/san/golden" --write "$2" "$1" >&2 || { echo "not ok $((n + 1)) - capture of $1"; exit 1; }
}

[ "${1-}" != --update ] || update=1
for script in $here/*.ev; do
	case=${script%.ev}
	capture "$script" "$tmp/x.acltap"
	compare "$case.stat" "$O/acltap" stat --hist "$tmp/x.acltap"
	compare "$case.stat.csv" "$O/acltap" stat --format csv "$tmp/x.acltap"
	compare "$case.stat.json" "$O/acltap" stat --format json "$tmp/x.acltap"
	grep -q ' fact thread ' "$script" || continue
	compare "$case.threads" "$O/acltap" stat --by thread "$tmp/x.acltap"
	compare "$case.threads.csv" "$O/acltap" stat --by thread --format csv "$tmp/x.acltap"
done
capture $here/diff/before.ev "$tmp/a.acltap"
capture $here/diff/after.ev "$tmp/b.acltap"
compare $here/diff/diff.txt "$O/acltap" diff "$tmp/a.acltap" "$tmp/b.acltap"
for format in csv json; do
	compare $here/diff/diff.$format "$O/acltap" diff --format $format "$tmp/a.acltap" "$tmp/b.acltap"
done
echo "1..$n"
exit $failed
