#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All VM tests with all that can run inside, the live tests on this machine's own kernel, then one
# table. Exit status 0 when nothing failed; kernels that cannot be had are rows too.
set -u
cd "$(dirname "$0")/.." || exit 1
export O=${O:-build}
case $O in
/*) ;;
*) O=$PWD/$O ;;
esac
export VM_ROWS=$O/vm/rows
mkdir -p "$O/vm" && rm -rf "$VM_ROWS" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0

VM_FULL=1 TEST_LIMIT=4000 scripts/run-tests.sh vm-more || bad=1

# This machine: the same columns, by the same means.
bash tests/vm/inside/run.sh live 2>&1 | tee "$tmp/own"
rc=${PIPESTATUS[0]}
[ "$rc" -eq 0 ] || bad=1
bash -c '. tests/vm/lib.sh; report "$1" "(this machine)" "$2" "$3"' - "$(uname -m)" "$tmp/own" "$rc" >/dev/null

echo
printf '%-32s %-8s %6s %6s %7s  %s\n' kernel machine passed failed skipped 'features; skipped because'
cat "$VM_ROWS"/* | sort -t "$(printf '\t')" -k 1,1r -k 2,2V |
	while IFS=$'\t' read -r arch name release passed failed skipped features why; do
		[ "$release" != - ] || release=$name
		printf '%-32s %-8s %6s %6s %7s  %s\n' "$release" "$arch" "$passed" "$failed" \
			"$skipped" "$features${why:+; $why}"
	done
exit $bad
