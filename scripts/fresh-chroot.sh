#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Proves that nothing but make and git has to be typed on a new machine: makes a Debian 12 without
# anything else in a folder (debootstrap, as root, downloads some 500 MB in all), clones this
# repository's HEAD into it and runs `make demo` and `make test` there. Not part of `make test`.
#
#   fresh-chroot.sh [TARGET...]    make's targets; default: demo test
#
# DIR=folder (default /var/tmp/acltap-fresh; removed at the end unless KEEP=1), MIRROR=URL.
# With KEEP=1 a next run clones anew into the same system: fast, but no longer a proof.
set -u
src=$(cd "$(dirname "$0")/.." && pwd) || exit 1
DIR=${DIR:-/var/tmp/acltap-fresh}
[ $# -gt 0 ] || set -- demo test

die() {
	echo "fresh-chroot: $*" >&2
	exit 1
}

# Every mount is made in a mount namespace of its own: they go with this process, come what may.
if [ -z "${FRESH_CHROOT_INSIDE-}" ]; then
	[ "$(id -u)" -eq 0 ] || die "needs root"
	command -v debootstrap >/dev/null || die "debootstrap is not installed"
	case $DIR in
	/*/*) ;;
	*) die "DIR must be an absolute path below another folder" ;;
	esac
	[ -e "$DIR" ] && [ ! -e "$DIR/.acltap-fresh" ] && die "$DIR exists and is not mine"
	FRESH_CHROOT_INSIDE=1 DIR=$DIR unshare --mount --propagation private "$0" "$@"
	rc=$?
	[ -n "${KEEP-}" ] || rm -rf --one-file-system "$DIR"
	exit $rc
fi

if [ ! -e "$DIR/.acltap-fresh.done" ]; then
	mkdir -p "$DIR" && touch "$DIR/.acltap-fresh" || exit 1
	debootstrap --variant=minbase bookworm "$DIR" ${MIRROR:+"$MIRROR"} >"$DIR.log" 2>&1 || {
		tail -n 15 "$DIR.log" >&2
		die "debootstrap failed"
	}
	rm -f "$DIR.log"
	touch "$DIR/.acltap-fresh.done"
fi
mount --rbind /proc "$DIR/proc" && mount --rbind /sys "$DIR/sys" &&
	mount --rbind /dev "$DIR/dev" || die "cannot mount"
cp -L /etc/resolv.conf "$DIR/etc/resolv.conf" || exit 1
rm -rf "$DIR/root/acltap"
git clone -q --no-hardlinks "$src" "$DIR/root/acltap" || die "cannot clone $src"

inside() {	# command...
	echo "fresh-chroot: # $*"
	env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		TERM="${TERM:-dumb}" chroot "$DIR" /bin/sh -c "cd /root/acltap && $*"
}

# What README asks for, and then only make.
inside apt-get install -y make git >/dev/null || die "cannot install make and git"
bad=0
for target; do
	inside make "$target"
	rc=$?
	echo "fresh-chroot: make $target: status $rc"
	[ $rc -eq 0 ] || bad=1
done
exit $bad
