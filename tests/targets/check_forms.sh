#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: check_forms.sh FORM DIR: fails when DIR's libmsprofiler.so and libprofapi.so are not
# compiled as FORM (jmp, stack, endbr, push, pac) demands, or are not stripped, unversioned, GNU-hashed.
set -eu
form=$1 lib=$2/libmsprofiler.so api=$2/libprofapi.so
export LC_ALL=C
objdump=${OBJDUMP:-objdump} readelf=${READELF:-readelf}
fail() { echo "check_forms: $form: $*" >&2; exit 1; }

# "name offset size" of the exported functions, by address
functions() {
	"$readelf" -W --dyn-syms "$1" |
		awk -v p="$2" '$4 == "FUNC" && $7 != "UND" && index($8, p) == 1 {print $2, $3, $8}' |
		sort
}
# The instructions of one exported function, without addresses, blanks made single, one a line.
code() {
	"$objdump" -d --no-show-raw-insn "$1" | sed 's/@*@Base//' | sed -n "/^[0-9a-f]* <$2>:/,/^\$/p" |
		sed -n 's/^ *[0-9a-f]*:[ \t]*//p' | sed -E 's/[ \t]+/ /g; s/ *#.*//; s/ +$//'
}

machine=$("$readelf" -h "$lib" | sed -n 's/ *Machine: *//p')
case $machine in
*X86-64*) jump=jmp call=call landing=endbr64 ;;
*AArch64*) jump=b call=bl landing='bti c' ;;
*) fail "unknown machine $machine" ;;
esac

"$readelf" -WS "$lib" | grep -qw .symtab && fail "has .symtab"
"$readelf" -Wd "$lib" | grep -q '(GNU_HASH)' || fail "no GNU hash"
"$readelf" -Wd "$lib" | grep -q '(HASH)' && fail "has a SysV hash"
"$readelf" -Wd "$lib" | grep -q 'SONAME.*\[libmsprofiler.so\]' || fail "wrong SONAME"
"$readelf" -W --dyn-syms "$lib" | grep -q 'aclprof.*@' && fail "versioned symbols"

case $jump:$form in
b:endbr|b:pac)
	"$readelf" -n "$lib" | grep -q 'AArch64 feature:.*BTI' || fail "its pages are not guarded" ;;
esac

mapfile -t funcs < <(functions "$lib" aclprof)
[ ${#funcs[@]} -ge 12 ] || fail "only ${#funcs[@]} exported functions"
previous_end=
for f in "${funcs[@]}"; do
	read -r addr size name <<<"$f"
	text=$(code "$lib" "$name")
	tail="^$jump [0-9a-f]+ <ProfAcl${name#aclprof}@plt>\$"
	case $form in
	jmp)
		grep -qE "$tail" <<<"$text" && [ "$(wc -l <<<"$text")" -eq 1 ] ||
			fail "$name is not one tail jump: $text"
		[ -z "$previous_end" ] || [ $((16#$addr)) -eq "$previous_end" ] ||
			fail "$name is padded"
		[ "$jump" = b ] || [ "$size" -eq 5 ] || fail "$name is $size bytes" ;;
	endbr)
		[ "$(head -n 1 <<<"$text")" = "$landing" ] || fail "$name: no $landing"
		sed -n 2p <<<"$text" | grep -qE "$tail" || fail "$name: no tail jump after it" ;;
	stack)
		tail -n 1 <<<"$text" | grep -qE "$tail" || fail "$name does not end in a tail jump"
		grep -q '__stack_chk_fail@plt' <<<"$text" || fail "$name checks no canary"
		[ "$jump" = b ] || { [ "$size" -eq 50 ] && grep -q '^je .*+0x29>' <<<"$text"; } ||
			fail "$name has not the vendor's shape" ;;
	push)
		[ "$jump" = b ] || [ "$(head -n 1 <<<"$text")" = 'push %rbp' ] ||
			fail "$name does not begin with push %rbp"
		grep -qE "^$call [0-9a-f]+ <ProfAcl${name#aclprof}@plt>\$" <<<"$text" ||
			fail "$name does not call its implementation" ;;
	pac)
		[ "$(head -n 1 <<<"$text")" = paciasp ] || fail "$name does not begin with paciasp"
		grep -qE "^bl [0-9a-f]+ <ProfAcl${name#aclprof}@plt>\$" <<<"$text" ||
			fail "$name does not call its implementation"
		[ "$(tail -n 2 <<<"$text")" = $'autiasp\nret' ] || fail "$name does not check" ;;
	*) fail "unknown form" ;;
	esac
	previous_end=$((16#$addr + size))
done

[ "$jump" = b ] && exit 0
while read -r _ _ name; do
	[ "$name" = ProfAclDestroyStamp ] && continue	# returns nothing to keep
	[ "$(code "$api" "$name" | head -n 1)" = 'push %rbx' ] || fail "$name: no push %rbx"
done < <(functions "$api" ProfAcl)
