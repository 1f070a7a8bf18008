#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs the test layers (unit golden live vm fuzz; vm-more: all kernels) or test files named as
# arguments (tests/live/test_x.sh) and prints one closing line. Best first what takes longest.
# Every test program prints TAP lines; a skip passes only when tests/allowed-skips allows it.
# TEST_LIMIT: seconds that a test file may take.
set -u
shopt -s extglob nullglob
cd "$(dirname "$0")/.." || exit 1
export O=${O:-build}
log=$(mktemp) || exit 1
parts=$(mktemp -d) || exit 1
trap 'rm -rf "$log" "$parts"' EXIT

plan_met() {	# TAP file: as many results as it announced, or the whole test was skipped
	local plan n
	plan=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$1")
	n=$(grep -cE '^(not ok|ok)' "$1")
	[ "$plan" = "$n" ] || { [ -z "$plan" ] && [ "$n" -eq 1 ] && grep -q '^ok.*# SKIP' "$1"; }
}

run_one() {	# name, command...: TAP into the log; a crash or a plan not met is a failure
	local name=$1 out rc
	shift
	out=$(mktemp)
	"$@" >"$out" 2>"$out.err" </dev/null
	rc=$?
	# cmocka says "not ok 1 # SKIP test" of a skip, without a reason.
	sed -i -E "s|^not ok *[0-9]* *# SKIP (.*)|ok - \1 # SKIP cannot run: $name \1|" "$out"
	sed -nE "s|^(not ok\|ok) *[0-9]*( - )?|\1 $name: |p" "$out" >>"$log"
	if [ $rc -ne 0 ] && ! grep -q '^not ok' "$out"; then
		echo "not ok $name: exited with status $rc" >>"$log"
	elif ! grep -qE '^(not ok|ok)' "$out"; then
		echo "not ok $name: printed no result" >>"$log"
	elif ! plan_met "$out"; then
		echo "not ok $name: ended before its last test" >>"$log"
	fi
	if [ $rc -ne 0 ] || grep -q '^not ok' "$out"; then
		echo "---- $name failed (status $rc):"
		tail -n 60 "$out" "$out.err"
	fi
	rm -f "$out" "$out.err"
}

run_script() {	# tests/LAYER/test_NAME.sh
	local name=${1#tests/}
	echo "   $name"
	run_one "${name%.sh}" timeout "${TEST_LIMIT:-900}" bash "$1"
}

run_unit() {	# program
	case $1 in *.[od]) return ;; esac
	[ -f "tests/unit/${1##*/}.c" ] || return
	CMOCKA_MESSAGE_OUTPUT=TAP run_one "${1##*/}" timeout 600 "$1"
}

run_test() {	# script or program of a unit test
	case $1 in
	*.sh) run_script "$1" ;;
	*) run_unit "$1" ;;
	esac
}

each() {	# tests: one after the other
	local t
	for t; do
		run_test "$t"
	done
}

together() {	# runs the tests of alone and beside, as many at a time as there are CPUs
	local n=0
	if [ ${#alone[@]} -gt 0 ]; then
		(log=$parts/$n && each "${alone[@]}") &
	fi
	for t in "${beside[@]:+${beside[@]}}"; do
		[ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n
		n=$((n + 1))
		(log=$parts/$n && each "$t") &
	done
	wait
	cat "$parts"/* >>"$log"
}

interrupted() {	# background jobs do not hear Ctrl-C, and timeout has a process group of its own
	local job
	for job in $(jobs -rp); do
		# shellcheck disable=SC2046
		kill "$job" $(pgrep -P "$job") 2>/dev/null
	done
	exit 130
}

# Live tests look at the whole machine: one of them at a time. The others do not disturb them.
alone=() beside=()
for what in "$@"; do
	case $what in
	*/*) alone+=("$what") ;;
	live) alone+=(tests/live/test_*.sh) ;;
	vm-more) beside+=(tests/vm/{test,more}_*.sh) ;;
	unit) beside+=("$O"/san/unit/test_*) ;;
	*) beside+=(tests/"$what"/test_*.sh) ;;
	esac
done
trap interrupted INT TERM
together

allowed() {	# is the reason of this skip in tests/allowed-skips, and does its condition hold?
	local reason=$1 pattern condition
	while IFS=$'\t' read -r pattern condition; do
		case $pattern in '#'*|'') continue ;; esac
		if [[ $reason == $pattern ]] && bash -c "$condition" >/dev/null 2>&1; then
			return 0
		fi
	done <tests/allowed-skips
	return 1
}

passed=0 failed=0 skipped=0
while IFS= read -r line; do
	case $line in
	'not ok '*) failed=$((failed + 1)); echo "FAILED ${line#not ok }" ;;
	*'# SKIP'*)
		if allowed "${line##*# SKIP?( )}"; then
			skipped=$((skipped + 1)); echo "skipped ${line#ok }"
		else
			failed=$((failed + 1)); echo "FAILED (skip not allowed) ${line#ok }"
		fi ;;
	*) passed=$((passed + 1)) ;;
	esac
done <"$log"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
