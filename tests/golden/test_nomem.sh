#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Without memory, whichever allocation is the first to fail, a command ends with a status of its own
# and a message, not by a signal.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0 failed=0
"${CC:-cc}" -shared -fPIC -O1 -o "$tmp/nomem.so" tests/golden/nomem.c
"$O/san/golden" --write "$tmp/x.acltap" tests/golden/lost.ev >&2

sweep() {	# command...: with the first, second, ... allocation missing, until it succeeds
	local at status=1 bad=
	n=$((n + 1))
	for ((at = 1; status != 0 && status != 3 && at < 2000; at++)); do
		status=0
		NOMEM_AT=$at LD_PRELOAD=$tmp/nomem.so "$@" >/dev/null 2>"$tmp/err" || status=$?
		[ $status -lt 126 ] || bad="$bad $at:$status"
		[ $status -eq 0 ] || [ -s "$tmp/err" ] || bad="$bad $at:silent"
	done
	[ $status -eq 0 ] || [ $status -eq 3 ] || bad="$bad never succeeded"
	[ -z "$bad" ] || { failed=1; echo "# allocation:status$bad"; }
	echo "${bad:+not }ok $n - ${*##*/}"
}

sweep "$O/acltap" stat "$tmp/x.acltap"
sweep "$O/acltap" stat --strict "$tmp/x.acltap"
sweep "$O/acltap" diff --strict "$tmp/x.acltap" "$tmp/x.acltap"
echo "1..$n"
exit $failed
