#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Other compilers than the usual ones: clang for the user space; every other LLVM that is installed
# for the BPF programs, which must load and trace; gcc for BPF.
. "$(dirname "$0")/lib.sh"
D=$O/compilers
COUNT=100
mkdir -p "$D" || exit 1

build() {	# folder, variables of make...: no warning either
	local dir=$1
	shift
	env -u MAKEFLAGS -u MFLAGS make --no-print-directory -j2 O="$dir" "$@" all >"$tmp/make" 2>&1 &&
		! grep -iE 'warning|error' "$tmp/make" && return
	tail -n 20 "$tmp/make"
	return 1
}

check "clang compiles the user space without a warning" \
	build "$D/clang" CC=clang CFLAGS=-O0 WERROR=1
check "and what it made runs" "$D/clang/acltap" --version

# What does not contain the BPF programs is taken from the usual build.
build_bpf() {	# clang
	rm -rf "${D:?}/$1" && mkdir -p "$D/$1" && cp -a "$O"/{user,gen,flags} "$D/$1/" &&
		rm -f "$D/$1"/gen/*.bpf.o "$D/$1"/gen/*.skel.h "$D/$1"/user/live/*.o &&
		build "$D/$1" CLANG="$1"
}

usual=$(readlink -f "$(command -v clang)")
others=0
for clang in /usr/bin/clang-[0-9]*; do
	[[ ${clang##*/} =~ ^clang-[0-9]+$ && $(readlink -f "$clang") != "$usual" ]] || continue
	others=$((others + 1))
	name=${clang##*/}
	[ -e "$O/acltap" ] || die "$O/acltap is not built"
	check "$name compiles the BPF programs without a warning" build_bpf "$name"
	most=$(scripts/bpf-stack.sh "$D/$name/gen/events.bpf.o" | sort -k 2,2n | tail -n 1)
	assert_eq "$name: at most 48 bytes of stack ($most)" "$((${most##* } <= 48))" 1
	if ! "$ACLTAP" check >/dev/null 2>&1; then
		skip_one "$name: tracing" "acltap check says this machine cannot trace"
		continue
	fi
	ACLTAP=$D/$name/acltap run_acltap record -o "$tmp/$name.tsv" -- "$T/seed_loops" all $COUNT
	assert_eq "$name: status" "$status" 0
	assert_eq "$name: every range" "$(($(wc -l <"$tmp/$name.tsv") - 1))" $((3 * COUNT))
	rm -rf "${D:?}/$name"
done
[ $others -gt 0 ] || skip_one "BPF programs by another LLVM" "no other clang"

# gcc 12 refuses a function of six arguments even where it is to be inlined.
six='static inline __attribute__((always_inline)) int f(int a, int b, int c, int d, int e, int g)
{ return a + b + c + d + e + g; } int h(int *p) { return f(*p, p[1], p[2], p[3], p[4], p[5]); }'
if bpf-gcc -O2 -x c -c -o /dev/null - <<<"$six" 2>/dev/null; then
	arch=$(uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
	for object in events follow; do
		check "gcc compiles $object" bpf-gcc -g -O2 "-D__TARGET_ARCH_$arch" \
			-Iinclude -Ibpf -idirafter /usr/include \
			-idirafter "/usr/include/$(uname -m)-linux-gnu" \
			-c "bpf/$object.bpf.c" -o "$tmp/$object.o"
	done
else
	skip_one "BPF programs by gcc" "no gcc for BPF that inlines six arguments"
fi
finish
