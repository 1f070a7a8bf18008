#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Files that are not what they should be, captures cut anywhere, a full disk.
. "$(dirname "$0")/lib.sh"
[ -x "$ACLTAP" ] || die "$ACLTAP is not built"
seed=${ACLTAP_TEST_SEED:-$$}
RANDOM=$seed
echo "# seed $seed (ACLTAP_TEST_SEED)"

: >"$tmp/empty"
echo "no ELF" >"$tmp/text"
head -c 100 "$T/jmp/libmsprofiler.so" >"$tmp/cut.so"
for file in empty text cut.so; do
	run_acltap list "$tmp/$file"
	assert_eq "list of '$file' fails" "$status" 1
	assert_match "list of '$file' says why" "$(cat "$tmp/stderr")" "^acltap: .*$file"
done
run_acltap list "$tmp"
assert_eq "list of a folder fails" "$status" 1
run_acltap list "$T/jmp/libmsprofiler.so"
assert_eq "list of the library" "$status" 0
assert_match "list names the functions" "$(cat "$tmp/stdout")" 'aclprofRangeStart'
for file in empty text; do
	run_acltap export "$tmp/$file" -o "$tmp/x.csv"
	assert_eq "export of '$file' fails" "$status" 1
	check "export of '$file' leaves no output" test ! -e "$tmp/x.csv"
done

need_uprobes
run_acltap record -o "$tmp/full.acltap" -- "$T/threads" 20
assert_eq "a capture to be spoilt" "$status" 0
capture=$tmp/full.acltap
size=$(stat -c %s "$capture")
run_acltap export "$capture" -o "$tmp/full.ndjson"
assert_eq "its export" "$status" 0
whole=$(wc -l <"$tmp/full.ndjson")

cuts=$({ seq 0 7 200; seq $((size - 200)) 7 $((size - 1)); echo $((size - 1))
	for _ in $(seq 40); do echo $(((RANDOM * 32768 + RANDOM) % size)); done; } |
	awk -v size="$size" '$1 >= 0 && $1 < size' | sort -nu)
bad= outputs=0
for cut in $cuts; do
	head -c "$cut" "$capture" >"$tmp/cut.acltap"
	run_acltap export -f "$tmp/cut.acltap" -o "$tmp/cut.ndjson"
	[ "$status" -eq 1 ] || bad+=" $cut:status $status"
	grep -qE '^acltap: .*(incomplete|not a capture|cut)' "$tmp/stderr" || bad+=" $cut:not told"
	if [ -e "$tmp/cut.ndjson" ]; then
		outputs=$((outputs + 1))
		"$PYTHON" -c 'import json,sys
for line in open(sys.argv[1], encoding="utf-8"): json.loads(line)' "$tmp/cut.ndjson" 2>/dev/null ||
			bad+=" $cut:output broken"
		[ "$(wc -l <"$tmp/cut.ndjson")" -le $((whole + 20)) ] || bad+=" $cut:too many rows"
		rm "$tmp/cut.ndjson"
	fi
done
assert_eq "a capture cut at $(wc -w <<<"$cuts") places" "$bad" ""
check "what stands before a cut is exported" test "$outputs" -gt 0

bad=
for _ in $(seq 40); do
	at=$(((RANDOM * 32768 + RANDOM) % size))
	cp "$capture" "$tmp/flip.acltap"
	printf "\\x$(printf %02x $((RANDOM % 256)))" |
		dd of="$tmp/flip.acltap" bs=1 seek=$at conv=notrunc status=none
	cmp -s "$capture" "$tmp/flip.acltap" && continue
	run_acltap export -f "$tmp/flip.acltap" -o "$tmp/flip.ndjson"
	[ "$status" -eq 1 ] || bad+=" $at:status $status"
	[ -s "$tmp/stderr" ] || bad+=" $at:not told"
done
assert_eq "a capture with a wrong byte is noticed" "$bad" ""

# A disk that fills up while recording: an error with the capture named, which stays readable. There
# is room for a few blocks (1 MiB at most), not for all (10 MB).
mkdir "$tmp/small"
mount -t tmpfs -o size=4m tmpfs "$tmp/small" || die "cannot mount a tmpfs"
mounts+=("$tmp/small")
run_acltap record -o "$tmp/small/x.csv" -- "$T/seed_loops" all 20000
assert_eq "full disk: status" "$status" 125
assert_match "full disk: said" "$(cat "$tmp/stderr")" 'No space left on device'
assert_match "full disk: the capture is named" "$(cat "$tmp/stderr")" 'x\.csv\.acltap'
check "full disk: no half csv" test ! -e "$tmp/small/x.csv"
run_acltap export "$tmp/small/x.csv.acltap" -o "$tmp/rescued.csv"
assert_eq "full disk: the capture can be exported elsewhere, as incomplete" "$status" 1
check "full disk: what was recorded is there" test "$(csv_rows "$tmp/rescued.csv")" -gt 100

cat /dev/zero >"$tmp/small/fill" 2>/dev/null
run_acltap export "$capture" -o "$tmp/small/y.csv"
assert_eq "full disk: export fails" "$status" 1
check "full disk: no half export" test ! -e "$tmp/small/y.csv"
"$ACLTAP" list "$T/jmp/libmsprofiler.so" >/dev/full 2>"$tmp/stderr"
assert_eq "full stdout is an error" "$?" 1
assert_match "full stdout: why" "$(cat "$tmp/stderr")" \
	'^acltap: cannot write the list: No space left on device$'

# Text that is writable takes no probe: that must be said (S39).
run_acltap record -o "$tmp/rwx.csv" -- "$T/rwx"
assert_eq "writable text: the target's status" "$status" 0
new_truth
start_target "$T/rwx"
attach_and_run -o "$tmp/rwx2.csv"
assert_match "writable text: said" "$(cat "$tmp/stderr")" 'writable'
finish
