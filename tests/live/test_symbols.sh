#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Libraries that are not what one expects (S38): the right function, each call once, or a message that
# names the reason; 32-bit programs (S40).
. "$(dirname "$0")/lib.sh"
need_uprobes

traced() {	# name, what to set in the environment..., command: all events, once
	local name=$1
	shift
	new_truth
	rm -f "$tmp/t.ndjson"
	run_acltap record -o "$tmp/t.ndjson" -- env ACLTAP_TRUTH="$truth" "$@"
	assert_eq "$name: status" "$status" 0
	compare_truth "$name: every event, once" "$tmp/t.ndjson"
}
listed() {	# file: what acltap would do with it
	run_acltap list "$1"
	cut -f 2- "$tmp/stdout"
}

# A library in front of the library: each of its functions is a jump to the one of the same name.
forward=$T/forward/libforward.so
in_front=(LD_PRELOAD="$forward" LD_LIBRARY_PATH="$T/acl1" "$T/threads" 10)
check "in front: the target is what it should be" env "${in_front[@]}"
traced "a library that only forwards" "${in_front[@]}"
traced "a library that only forwards, launched by a shell" sh -c '"$@"; exit $?' sh env "${in_front[@]}"
assert_match "a library that only forwards: list says it" "$(listed "$forward")" \
	'^aclprofPush.*none.*only jumps to the same function in another file$'
new_truth
export LD_PRELOAD=$forward LD_LIBRARY_PATH=$T/acl1
start_target "$T/threads" 10
unset LD_PRELOAD
wait_for "$LIMIT" grep -q libforward "/proc/$target/maps" || die "no library mapped"
LD_LIBRARY_PATH=$T/jmp attach_and_run -o "$tmp/front.ndjson"
assert_eq "a library that only forwards, attached: status" "$status/$target_status" 0/0
compare_truth "a library that only forwards, attached: every event, once" "$tmp/front.ndjson"
# Alone it is no library to trace, so nothing of it is called a failure.
run_acltap record -o "$tmp/alone.csv" --lib "$forward" -- true
assert_eq "a library that only forwards, alone: status" "$status" 0
use_form jmp

# Two versions of one name: what a program linked now reaches.
traced "two versions" LD_LIBRARY_PATH="$T/versions" "$T/versions/threads" 10
assert_match "two versions: list says which one" "$(listed "$T/versions/libmsprofiler.so")" \
	'^aclprofMark.*of several versions the default one$'
traced "versioned symbols" LD_LIBRARY_PATH="$T/acl1" "$T/threads" 10

# Nothing but what the dynamic loader needs.
mkdir "$tmp/bare" && cp "$T"/jmp/lib{profapi,msprofiler}.so "$tmp/bare/"
"$PYTHON" - "$tmp/bare/libmsprofiler.so" <<'END'
import struct, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(0x28)
    file.write(bytes(8))  # e_shoff
    file.seek(0x3a)
    file.write(struct.pack("<HHH", 0, 0, 0))  # e_shentsize, e_shnum, e_shstrndx
END
assert_eq "no section headers: none are left" \
	"$(readelf -S "$tmp/bare/libmsprofiler.so" 2>/dev/null | grep -c PROGBITS)" 0
traced "no section headers" LD_LIBRARY_PATH="$tmp/bare" "$T/threads" 10

# Functions that cannot be told apart, or whose address is unknown.
listed "$T/odd/libmsprofiler.so" >"$tmp/odd"
assert_match "equal code: said of one" "$(cat "$tmp/odd")" 'aclprofPush.*none.*shares its code with aclprofRangePop'
assert_match "equal code: said of the other" "$(cat "$tmp/odd")" 'aclprofRangePop.*none.*shares its code with aclprofPush'
assert_match "an indirect function: said" "$(cat "$tmp/odd")" 'aclprofPop.*none.*IFUNC'
assert_match "the others are probed" "$(cat "$tmp/odd")" '^aclprofMark.0x[0-9a-f]+.entry'
assert_match "what the library lacks is said (S41)" "$(cat "$tmp/odd")" '^not in this version:.*aclprofMarkEx'

LD_LIBRARY_PATH=$T/odd run_acltap record -o "$tmp/odd.csv" -- "$T/seed_loops" 1 10
assert_eq "and give their events" "$status/$(csv_rows "$tmp/odd.csv" event_type marker)" 0/10

# In the program itself: its symbol table is all there is.
cp "$T/seed_static" "$tmp/static"
run_acltap record -o "$tmp/s.csv" -- "$tmp/static" all 10
assert_eq "static, hidden symbols: rows" "$status/$(csv_rows "$tmp/s.csv")" 0/30
strip "$tmp/static"
run_acltap record -o "$tmp/s2.csv" -- "$tmp/static" all 10
assert_eq "static, stripped: the program's status" "$status" 0
assert_eq "static, stripped: no rows" "$(csv_rows "$tmp/s2.csv")" 0
assert_match "static, stripped: said" "$(cat "$tmp/stderr")" 'no process was seen to map a library with the traced functions'
run_acltap list "$tmp/static"
assert_match "static, stripped: list says it" "$(cat "$tmp/stdout" "$tmp/stderr")" 'none of the traced functions'

# Programs of 32 bits.
as --32 -o "$tmp/32.o" - <<'END' && ld -m elf_i386 -o "$tmp/32" "$tmp/32.o" || die "cannot make a 32-bit program"
	.globl _start, aclprofPush
	.type aclprofPush, @function
aclprofPush:
	ret
_start:	mov $29, %eax	# pause
	int $0x80
	jmp _start
END
run_acltap list "$tmp/32"
assert_eq "32-bit file: status" "$status" 1
assert_match "32-bit file: said" "$(cat "$tmp/stderr")" '32-bit'
run_acltap record -o "$tmp/l.csv" --lib "$tmp/32" -- true
assert_match "32-bit --lib: status" "$status" '^(1|125)$'
run_acltap record -o "$tmp/32l.csv" -- "$tmp/32"
assert_match "32-bit program, launched: said" "$(cat "$tmp/stderr")" "cannot trace '.*': 32-bit or of another processor"
start "$tmp/32" 2>/dev/null
if wait_for 5 eval '[ "$(readlink /proc/$pid/exe)" = "$tmp/32" ]'; then
	run_acltap record -d 200ms -o "$tmp/32.csv" -p "$pid"
	assert_match "32-bit process: said" "$(cat "$tmp/stderr")" '32-bit'
	assert_match "32-bit process: status" "$status" '^1$'
else
	skip_one "a 32-bit process" "no 32-bit programs"
fi

# One that came and went between two looks may have been there.
run_acltap record --no-stop -o "$tmp/came.csv" -- true
assert_match "--no-stop: what cannot be seen is said" "$(cat "$tmp/stderr")" \
	'hint: without --no-stop also one is seen that is soon unloaded again'
finish
