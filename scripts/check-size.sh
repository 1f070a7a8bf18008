#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Advice, never a failure: functions over 60 lines (needs Universal Ctags) and files over 500.
set -u
cd "$(dirname "$0")/.." || exit 1
mapfile -t files < <(git ls-files 'user/*.[ch]' 'bpf/*.[ch]')
wc -l "${files[@]}" | awk '$2 != "total" && $1 > 500 { print "check-size: " $2 ": " $1 " lines" }'
if ctags --version 2>/dev/null | grep -q 'Universal Ctags'; then
	ctags -x --kinds-C=f --language-force=C --fields=+ne --_xformat='%N %F %n %e' "${files[@]}" |
		awk '$4 - $3 >= 60 {
			print "check-size: " $2 ":" $3 ": " $1 "() has " $4 - $3 + 1 " lines"
		}'
else
	echo "check-size: functions not measured, there is no Universal Ctags"
fi
exit 0
