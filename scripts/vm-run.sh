#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots a kernel in QEMU with acltap as built in $O, the targets and the live tests, runs a command
# there and returns its exit status. Needs no root.
#
#   vm-run.sh [--arch ARCH] [--time SECONDS] [--cpus N] [--memory MB] [--kvm] KERNEL -- COMMAND...
#
# KERNEL: a name that vm-fetch.sh knows (5.10, 6.1, 6.12, 7) or the file of a kernel image. ARCH:
# as uname -m says (default: this machine's). The CPU is emulated unless --kvm: under some
# hypervisors an openable /dev/kvm does not work. The command runs in the folder /acltap.
# Exit status: the command's; 69 when the kernel cannot be had, 124 when the time (default 300 s)
# is over, 125 when the VM failed.
set -u
cd "$(dirname "$0")/.." || exit 1
case ${O:=build} in
/*) ;;
*) O=$PWD/$O ;;
esac
export O
arch=$(uname -m) limit=300 cpus=1 memory=768 accel=tcg

die() {
	echo "vm-run: $*" >&2
	exit 125
}

usage() {
	sed -n 's/^#   //p' "$0" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--arch) arch=${2?}; shift 2 ;;
	--time) limit=${2?}; shift 2 ;;
	--cpus) cpus=${2?}; shift 2 ;;
	--memory) memory=${2?}; shift 2 ;;
	--kvm) accel=kvm; shift ;;
	-*) usage ;;
	*) break ;;
	esac
done
[ $# -ge 3 ] && [ "$2" = -- ] || usage
kernel=$1
shift 2

case $arch in
x86_64)
	qemu=(qemu-system-x86_64 -machine q35 -cpu max) tty=ttyS0 package=qemu-system-x86 ;;
aarch64)
	# The architecture's own pointer authentication would take most of the time.
	qemu=(qemu-system-aarch64 -machine virt -cpu "max,pauth-impdef=on")
	tty=ttyAMA0 package=qemu-system-arm ;;
*)	die "unknown architecture: $arch" ;;
esac
[ $accel = tcg ] || qemu=("${qemu[@]:0:3}" -cpu host)
command -v "${qemu[0]}" >/dev/null || die "${qemu[0]} is not installed (Debian: $package)"
command -v cpio >/dev/null || die "cpio is not installed"

tmp=$(mktemp -d) || exit 125
trap 'rm -rf "$tmp"' EXIT
case $kernel in
*/*)	image=$kernel ;;
*)	image=$(scripts/vm-fetch.sh kernel "$arch" "$kernel") || exit ;;
esac
[ -r "$image" ] || die "no kernel image '$image'"

marker="vm-run-$$-$RANDOM ended with status"
mkdir -p "$tmp/own/vm" || exit 125
printf '%q ' "$@" >"$tmp/own/vm/command"
echo "$marker" >"$tmp/own/vm/marker"
scripts/vm-image.sh "$arch" "$tmp/initrd" || die "cannot make the initramfs"
(cd "$tmp/own" && find . | cpio -o -H newc -R 0:0 --quiet) >>"$tmp/initrd" || exit 125

# QEMU ends with status 0 also when the kernel panics: only the marker counts. What comes after it
# is not shown; the empty line before it, which keeps it apart, neither.
show() {	# the console as it comes
	local line blank=0
	while IFS= read -r line || [ -n "$line" ]; do
		line=${line%$'\r'}
		case $line in
		"$marker "*)
			echo "${line##* }" >"$tmp/status"
			break ;;
		'')	blank=$((blank + 1)) ;;
		*)	for (( ; blank > 0; blank--)); do echo; done
			printf '%s\n' "$line" ;;
		esac
	done
	cat >/dev/null
}

timeout --foreground -k 5 "$limit" "${qemu[@]}" -accel $accel -smp "$cpus" -m "$memory" \
	-display none -nodefaults -no-user-config -no-reboot -serial stdio \
	-kernel "$image" -initrd "$tmp/initrd" \
	-append "console=$tty quiet loglevel=1 panic=-1 oops=panic" \
	</dev/null 2>"$tmp/errors" | show
rc=${PIPESTATUS[0]}
[ -s "$tmp/status" ] && exit "$(cat "$tmp/status")"
tail -n 5 "$tmp/errors" >&2
if [ "$rc" -eq 124 ] || [ "$rc" -eq 137 ]; then
	echo "vm-run: not done after $limit s" >&2
	exit 124
fi
die "the VM ended without a result (QEMU's status: $rc)"
