#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The one list of packages (Debian names). deps.sh build|test|demo installs what is missing when
# root, else says what to install. Optional packages are tried, never required.
set -u
build="gcc libc6-dev clang llvm bpftool pkg-config libbpf-dev libelf-dev zlib1g-dev libcapstone-dev libsqlite3-dev"
tests="$build libcmocka-dev g++ python3-minimal python3 python3-dev musl-tools"
case ${1:-build} in
build) need=$build ;;
demo) need="$build python3-minimal python3-dev" ;;
test) need=$tests ;;
list) echo "$tests"; exit 0 ;;
*) echo "usage: deps.sh build|demo|test|list" >&2; exit 2 ;;
esac

missing=
for p in $need; do
	dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
	echo "acltap: missing packages:$missing" >&2
	echo "hint: run as root: apt-get install -y --no-install-recommends$missing" >&2
	exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt_install() { apt-get install -y --no-install-recommends $missing >"$log" 2>&1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt_install || { apt-get update >>"$log" 2>&1 && apt_install; } || {
	tail -n 15 "$log" >&2
	echo "acltap: could not install:$missing" >&2
	exit 1
}
