#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The one list of packages (Debian names). deps.sh build|test|demo|vm installs what is missing when
# root, else says what to install; deps.sh list prints all. Without an optional package something
# smaller is missing: the comment says what; its absence is no failure. deps.sh cross is for
# `make ARCH=...`, and deps.sh sysroot prints the packages of the other machine.
set -u
build="gcc libc6-dev pkg-config clang bpftool libbpf-dev libelf-dev zlib1g-dev"
# Cheap probe sites (else every probe is at the entry), the .db and .pftrace outputs.
build_optional="libcapstone-dev libsqlite3-dev libprotobuf-c-dev protobuf-c-compiler"
demo="$build python3-minimal python3 python3-dev"
tests="$demo libcmocka-dev binutils llvm"
# What reads manual pages and completion; targets with another C library; a second decoder of
# .pftrace; libFuzzer; a browser for .html; CI recipes.
tests_optional="musl-tools protobuf-compiler libclang-rt-14-dev groff-base mandoc zsh chromium
	python3-yaml"
# To build for arm64 (scripts/cross.mk).
cross="gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
# Tests in emulated machines.
vm="qemu-system-x86 qemu-system-arm busybox-static cpio"
case ${1:-build} in
build) need=$build optional=$build_optional ;;
demo) need=$demo optional=$build_optional ;;
test) need=$tests optional="$build_optional $tests_optional $vm $cross" ;;
vm) need="$tests $vm $cross" optional="$build_optional $tests_optional" ;;
cross) need="$build $cross" optional=$build_optional ;;
sysroot)
	tr ' ' '\n' <<<"$tests $build_optional libpython3-dev" | grep -E '^z?lib.*-dev$'
	echo libstdc++6	# of the sanitizers
	exit 0 ;;
list) echo "$tests $build_optional $tests_optional $vm $cross"; exit 0 ;;
*) echo "usage: deps.sh build|demo|test|vm|cross|sysroot|list" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "acltap: not a Debian; needed are what Debian calls: $need" >&2
	exit 0	# the build says what it misses
fi

missing_of() {	# packages: those that are not installed
	local p
	for p; do
		dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || echo "$p"
	done
}

# shellcheck disable=SC2086
mapfile -t missing < <(missing_of $need)
# shellcheck disable=SC2086
mapfile -t wanted < <(missing_of $optional)
[ $((${#missing[@]} + ${#wanted[@]})) -gt 0 ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
	[ ${#missing[@]} -gt 0 ] || exit 0
	echo "acltap: missing packages: ${missing[*]}" >&2
	echo "hint: run as root: apt-get install -y --no-install-recommends ${missing[*]}" >&2
	exit 1
fi

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
apt_install() {	# the package lists of a new machine are missing or old
	local try
	for try in 1 2; do
		apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1 && return 0
		[ $try -eq 2 ] || apt-get update >>"$log" 2>&1 || return 1
	done
	return 1
}

echo "installing: ${missing[*]} ${wanted[*]}"
apt_install "${missing[@]}" "${wanted[@]}" && exit 0
if [ ${#missing[@]} -gt 0 ] && ! apt_install "${missing[@]}"; then
	tail -n 15 "$log" >&2
	echo "acltap: could not install: ${missing[*]}" >&2
	exit 1
fi
mapfile -t wanted < <(missing_of "${wanted[@]}")
[ ${#wanted[@]} -eq 0 ] || echo "not installed (optional): ${wanted[*]}"
