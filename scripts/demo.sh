#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Called by `make demo`: traces a Python program that knows nothing of it, and shows what came out.
# Files go to $O/demo, which is made anew each time.
set -u
exec 2>&1	# in order, also in a pipe
cd "$(dirname "$0")/.." || exit 1
O=${O:-build}
OUT=$O/demo
PROGRAM=tests/targets/demo_train.py
export PYTHONPATH=$O/targets
unset LD_LIBRARY_PATH
export PATH=$PWD/$O:$PATH
case $O in /*) PATH=$O:$PATH ;; esac

show() {	# command...: as typed, then what it says
	echo "\$ $*"
	"$@"
}

if [ ! -e "$O/targets/acl.abi3.so" ]; then
	echo "demo: no Python module to trace: the headers of /usr/bin/python3 are missing"
	exit 1
fi
if ! verdict=$(acltap check 2>&1); then
	echo "This machine cannot trace. acltap check says:"
	awk '/^[A-Z]/ { wanted = /^Needed|^One of/ } wanted && /^ +(no|->) / && !seen[$0]++' \
		<<<"$verdict"
	echo
	echo "What would be probed in the library that $PROGRAM loads:"
	show acltap list "$O/targets/jmp/libmsprofiler.so" | cut -f 2-
	exit 1
fi
rm -rf "$OUT" || exit 1
show acltap record -o "$OUT" -- /usr/bin/python3 "$PROGRAM" || exit 1
csv=$(echo "$OUT"/mindstudio_profiler_output/msprof_tx_*.csv)
echo
echo "\$ cut -d, -f 2,3,5,8,9,11 $csv | head -n 5"
cut -d, -f 2,3,5,8,9,11 "$csv" | head -n 5
echo
echo "All of it is in $OUT. Open the .json in MindStudio Insight, ui.perfetto.dev or chrome://tracing."
