#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The runner of the tests can fail: on failures, crashes, tests that say nothing or end early, and
# skips that are not allowed; and .ci/run passes that on. Tried on a copy with one small test.
. "$(dirname "$0")/lib.sh"
copy=$tmp/copy
unset MAKEFLAGS MFLAGS MAKELEVEL	# of the make that runs this test
mkdir -p "$copy/scripts" "$copy/tests/live" "$copy/.ci" || exit 1
cp scripts/run-tests.sh "$copy/scripts/" && cp .ci/run "$copy/.ci/" || exit 1
printf 'no moon\ttrue\nno sun\tfalse\n' >"$copy/tests/allowed-skips"
printf 'test:\n\t@scripts/run-tests.sh live\n' >"$copy/Makefile"

expect() {	# name, status, closing line, script of the test
	printf '#!/bin/bash\n%s\n' "$4" >"$copy/tests/live/test_a.sh"
	"$copy/.ci/run" >"$tmp/stdout" 2>"$tmp/stderr"
	assert_eq "$1" "$?: $(tail -n 1 "$tmp/stdout")" "$2: $3"
}

expect "all passed" 0 "2 passed, 0 failed, 0 skipped" 'echo "ok 1 - a"; echo "ok 2 - b"; echo 1..2'
expect "one failed" 2 "1 passed, 1 failed, 0 skipped" \
	'echo "ok 1 - a"; echo "not ok 2 - b"; echo 1..2; exit 1'
expect "one failed, status 0" 2 "0 passed, 1 failed, 0 skipped" 'echo "not ok 1 - b"; echo 1..1'
expect "an allowed skip" 0 "1 passed, 0 failed, 1 skipped" \
	'echo "ok 1 - a"; echo "ok 2 - b # SKIP no moon"; echo 1..2'
expect "nothing but a skip" 2 "0 passed, 0 failed, 1 skipped" 'echo "ok 1 - a # SKIP no moon"'
expect "a skip whose condition does not hold" 2 "1 passed, 1 failed, 0 skipped" \
	'echo "ok 1 - a"; echo "ok 2 - b # SKIP no sun"; echo 1..2'
expect "a skip of another reason" 2 "1 passed, 1 failed, 0 skipped" \
	'echo "ok 1 - a"; echo "ok 2 - b # SKIP no time"; echo 1..2'
expect "a skip without a reason" 2 "0 passed, 1 failed, 0 skipped" 'echo "ok 1 - a # SKIP"'
expect "cmocka's skip" 2 "0 passed, 1 failed, 0 skipped" 'echo "1..1"; echo "not ok 1 # SKIP a"'
expect "the end before the last test" 2 "1 passed, 1 failed, 0 skipped" 'echo "ok 1 - a"'
expect "no result" 2 "0 passed, 1 failed, 0 skipped" 'true'
expect "a crash" 2 "1 passed, 1 failed, 0 skipped" 'echo "ok 1 - a"; echo 1..1; kill -SEGV $$'

# Those in emulated machines run side by side: each result is there once.
mkdir -p "$copy/tests/vm" || exit 1
for t in a b c d; do
	echo "echo 'ok 1 - $t'; echo 'ok 2 - $t'; echo 1..2" >"$copy/tests/vm/test_$t.sh"
done
echo "echo 'ok 1 - more'; echo 'not ok 2 - more'; echo 1..2; exit 1" >"$copy/tests/vm/more_e.sh"
assert_eq "tests side by side" "$("$copy/scripts/run-tests.sh" vm | tail -n 1)" \
	"8 passed, 0 failed, 0 skipped"
out=$("$copy/scripts/run-tests.sh" vm-more)
assert_eq "one of them failed" "$?: $(tail -n 1 <<<"$out")" "1: 9 passed, 1 failed, 0 skipped"
assert_eq "which one" "$(grep -c '^FAILED vm/more_e: more$' <<<"$out")" 1

# Live tests run one after the other, and beside them those of other layers.
printf '%s\n' "echo begin >>$copy/order; sleep 0.2; echo end >>$copy/order" \
	'echo "ok 1 - live"; echo 1..1' |
	tee "$copy/tests/live/test_a.sh" >"$copy/tests/live/test_b.sh"
assert_eq "live tests beside others" "$("$copy/scripts/run-tests.sh" vm live | tail -n 1)" \
	"10 passed, 0 failed, 0 skipped"
assert_eq "live tests, each in its turn" "$(tr '\n' ' ' <"$copy/order")" "begin end begin end "

# Interrupted, it takes the tests with it.
echo "sleep 300 & echo \$! >$copy/sleeper; wait" >"$copy/tests/live/test_a.sh"
"$copy/scripts/run-tests.sh" live >/dev/null &
runner=$!
wait_for "$LIMIT" test -s "$copy/sleeper" || die "the test that hangs does not start"
kill -TERM $runner
wait $runner
assert_eq "an interrupted run" $? 130
check "nothing left of its test" wait_for "$LIMIT" is_gone "$(<"$copy/sleeper")"
rm -f "$copy"/tests/live/test_b.sh

echo 'test: ; false' >"$copy/Makefile"
expect "a build that fails" 2 "0 passed, 1 failed, 0 skipped" 'echo "ok 1 - a"; echo 1..1'
finish
