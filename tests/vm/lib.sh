# SPDX-License-Identifier: GPL-2.0-only
# For the tests in VMs: tests/vm/test_ARCH-KERNEL.sh (and more_ARCH-KERNEL.sh, which only
# `make vm-test` runs) sources it and calls vm_test. Each leaves a row for the table of
# scripts/vm-test.sh. VM_FULL=1: all live tests, not only the short ones.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../live/lib.sh"
export O
ROWS=${VM_ROWS:-$O/vm/rows}

# Of the live tests those that make sense without a compiler and the repository, and that do not
# depend on a fast CPU (kill9).
LIVE="check seed_attach threads fork_exec messages dlopen nullstamp signals exit_status outputs
	formats shell_wrapper trace stat unprobeable container any"

write_row() {	# architecture, name, the columns after them
	local IFS=$'\t'
	mkdir -p "$ROWS" && printf '%s\n' "$*" >"$ROWS/$1-${2//[ ()]/_}"
}

# What tracing makes use of, as acltap check said in the VM.
features() {	# file
	local what out=''
	while IFS=$'\t' read -r what name; do
		! grep -q "^has: .*$what" "$1" || out+=" $name"
	done <<-END
		uprobe_multi links	multi
		perf uprobes	perf
		attach cookies	cookies
		sleepable uprobe	sleepable
		type information	BTF
		raw tracepoints	tracepoints
	END
	out=${out# }
	echo "${out:--}"	# never empty: the columns are separated by tabs
}

report() {	# architecture, name, output of the VM, its status
	local arch=$1 name=$2 out=$3 status=$4 release passed failed skipped why
	release=$(sed -n 's/^kernel: //p' "$out")
	read -r passed failed skipped < <(sed -nE \
		's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$out" | tail -n 1)
	why=$(sed -n 's/^skipped .*# SKIP //p' "$out" | sort | uniq -c | sed -E 's/^ *([0-9]+) /\1x /' |
		paste -s -d ';')
	check "$arch $name: acltap check says that tracing is possible" \
		grep -q '^Tracing is possible' "$out"
	if [ "$status" -eq 0 ] && [ "${passed:-0}" -gt 0 ] && [ "$failed" -eq 0 ]; then
		ok "$arch $name ($release): $passed tests passed, $skipped skipped"
	else
		not_ok "$arch $name ($release): tests in the VM, status $status" "$(tail -n 60 "$out")"
		[ "${failed:-0}" -gt 0 ] || failed=1
	fi
	write_row "$arch" "$name" "$release" "${passed:-0}" "$failed" "${skipped:-0}" \
		"$(features "$out")" "$why"
}

cannot_be_had() {	# architecture, name, what vm-fetch.sh said
	write_row "$1" "$2" - - - - - "not to be had: $(tail -n 1 <<<"$3")"
	skip "kernel $2 for $1 cannot be had"
}

# acltap and the targets for another architecture, in a folder of their own.
cross_build() {	# architecture
	command -v "$1-linux-gnu-gcc" >/dev/null || skip "no compiler for $1"
	O=$O/$1
	T=$O/targets
	mkdir -p "$O" || die "cannot make $O"
	# One build for all kernels that are tried at the same time.
	flock "$O/build.lock" env -u MAKEFLAGS -u MFLAGS \
		make --no-print-directory ARCH="$1" O="$O" all targets >"$tmp/cross" 2>&1 && return
	! grep -q '^cross-sysroot.sh: cannot get' "$tmp/cross" || skip "no packages for $1"
	not_ok "build for $1" "$(tail -n 30 "$tmp/cross")"
	finish
}

vm_test() {	# architecture, kernel's name
	local arch=$1 name=$2 said rc test
	local -a tests=(tests/vm/inside/test_{adapts,smoke}.sh tests/live/test_ktypes.sh)
	command -v "qemu-system-$arch" >/dev/null || skip "no QEMU for $arch"
	command -v cpio >/dev/null || skip "no cpio"
	[ "$arch" = "$(uname -m)" ] || cross_build "$arch"
	[ -e "$T/seed_loops" ] || die "the targets are not built"
	said=$(scripts/vm-fetch.sh kernel "$arch" "$name" 2>&1 >/dev/null)
	rc=$?
	[ $rc -ne 69 ] || cannot_be_had "$arch" "$name" "$said"
	[ $rc -eq 0 ] || die "vm-fetch.sh: $said"
	[ ! -e "tests/vm/inside/test_$arch.sh" ] || tests+=("tests/vm/inside/test_$arch.sh")
	# One kernel is enough for what does not depend on the kernel, where time counts.
	if [ -n "${VM_FULL-}" ] || [ "$name" = 6.12 ]; then
		tests+=(tests/vm/inside/test_without_btf.sh)
	fi
	if [ -n "${VM_FULL-}" ]; then
		for test in $LIVE; do
			tests+=("tests/live/test_$test.sh")
		done
	fi
	scripts/vm-run.sh --arch "$arch" --time "${VM_FULL:+3}850" "$name" -- \
		bash tests/vm/inside/run.sh "${tests[@]}" >"$tmp/vm" 2>&1
	report "$arch" "$name" "$tmp/vm" $?
	finish
}
