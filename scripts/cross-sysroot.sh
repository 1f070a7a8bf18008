#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# usage: cross-sysroot.sh MACHINE FOLDER PACKAGE...: unpacks Debian packages of another machine
# (aarch64, x86_64), with all that they depend on, into FOLDER. Nothing is installed, no foreign
# architecture is added: apt works with lists, a cache and a status of its own, in FOLDER.apt, and
# takes the mirrors from this machine's configuration. No root needed. Does nothing when FOLDER
# already has these packages.
set -eu
[ $# -ge 3 ] || { sed -n 's/^# \(usage: .*)\), with.*/\1/p' "$0" >&2; exit 2; }
machine=$1 dir=$2
shift 2
case $machine in
aarch64) arch=arm64 ;;
x86_64) arch=amd64 ;;
*) echo "cross-sysroot.sh: unknown machine '$machine'" >&2; exit 2 ;;
esac
[ "$(cat "$dir/.packages" 2>/dev/null)" = "$arch $*" ] && exit 0
command -v apt-get >/dev/null || { echo "cross-sysroot.sh: needs apt-get (Debian)" >&2; exit 1; }

# shellcheck source=scripts/private-apt.sh
. "$(dirname "$0")/private-apt.sh"
mkdir -p "$dir.apt"
apt=$(cd "$dir.apt" && pwd)
log=$apt/log
make_private_apt "$apt" "$arch" </dev/null
private_apt() {
	apt-get -q -y -c "$apt/apt.conf" "$@" >>"$log" 2>&1
}

echo "unpacking $arch packages into $dir"
: >"$log"
# A mirror of somebody else's may fail: what counts is whether the packages are there.
private_apt update || true
rm -f "$apt"/cache/archives/*.deb
if ! private_apt install --no-install-recommends --download-only "$@"; then
	tail -n 15 "$log" >&2
	echo "cross-sysroot.sh: cannot get the $arch packages: $*" >&2
	exit 1
fi

rm -rf "$dir"
mkdir -p "$dir/usr"
for sub in bin sbin lib; do	# as Debian's own systems are laid out
	mkdir "$dir/usr/$sub"
	ln -s "usr/$sub" "$dir/$sub"
done
for deb in "$apt"/cache/archives/*.deb; do
	dpkg-deb --fsys-tarfile "$deb" |
		tar -x -C "$dir" --no-same-owner --keep-directory-symlink --exclude='./usr/share/doc' \
			--exclude='./usr/share/man' --exclude='./usr/share/locale'
done
# "/lib/x" means this folder's: else the linker would take the machine's own, or none.
find "$dir" -lname '/*' -printf '%p\n' | while IFS= read -r link; do
	ln -sfnr "$dir$(readlink "$link")" "$link"
done
rm -rf "$apt"
echo "$arch $*" >"$dir/.packages"
