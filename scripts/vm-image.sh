#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Makes the initramfs of vm-run.sh: what the tests need of this system (or of the packages of
# another architecture), the tests, and acltap as built in $O. Needs no root.
#
#   vm-image.sh ARCH FILE
#
# The part that is the same for all runs is kept in $O/vm until this script changes. The tests lie
# in /acltap with their build folder /acltap/build; /init runs /vm/command and prints the line
# "/vm/marker STATUS" at the end: vm-run.sh appends these two.
set -u
cd "$(dirname "$0")/.." || exit 1
case ${O:=build} in
/*) ;;
*) O=$PWD/$O ;;
esac
[ $# -eq 2 ] || { echo "usage: vm-image.sh ARCH FILE" >&2; exit 2; }
arch=$1 out=$2
V=$O/vm
TRIPLET=$arch-linux-gnu
# The rest comes from busybox, su as well: the other one wants PAM.
PROGRAMS="bash dash timeout stdbuf env mkfifo mktemp tail head sort wc cut tr cat sleep stat seq
	readlink realpath basename dirname sed grep mawk mount umount unshare nsenter setpriv
	setsid script bpftool prlimit chrt taskset flock xargs find cmp diff comm cksum od dd"

die() {
	echo "vm-image: $*" >&2
	exit 1
}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# Where a library of that architecture lies in $root; nothing when it is not there.
find_library() {	# name
	local dir
	for dir in "$root/usr/lib/$TRIPLET" "$root/lib/$TRIPLET"; do
		[ -e "$dir/$1" ] && { echo "$dir/$1"; return; }
	done
}

# Shared libraries and interpreters of programs, by what stands in the files: ldd would run them.
# Capstone is named in acltap only, which brings it in by itself.
add_needs() {	# folder of the image, files
	local image=$1 lib file from
	shift
	for file; do
		for lib in $(readelf -d "$file" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
			grep -aoE 'libcapstone\.so\.[0-9]+' "$file"); do
			[ ! -e "$image/usr/lib/$TRIPLET/$lib" ] || continue
			from=$(find_library "$lib")
			[ -n "$from" ] || continue	# the target's own: found by its run path
			cp -L "$from" "$image/usr/lib/$TRIPLET/$lib" || exit 1
			add_needs "$image" "$from"
		done
		lib=$(readelf -l "$file" 2>/dev/null | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
		if [ -n "$lib" ] && [ ! -e "$image$lib" ] && [ -e "$root$lib" ]; then
			cp -L "$root$lib" "$image$lib" || exit 1
		fi
	done
}

add_programs() {	# folder of the image
	local name from
	for name in $PROGRAMS; do
		for from in "$root"/usr/bin/$name "$root"/bin/$name "$root"/usr/sbin/$name; do
			[ -e "$from" ] || continue
			cp -L "$from" "$1/usr/bin/$name" || exit 1
			break
		done
	done
	cp -L "$root/bin/busybox" "$1/usr/bin/busybox" || die "no busybox for $arch"
	ln -s dash "$1/usr/bin/sh"
	ln -s mawk "$1/usr/bin/awk"
	cp "$root/usr/libexec/coreutils/libstdbuf.so" "$1/usr/libexec/coreutils/" || exit 1
}

add_python() {	# folder of the image
	local lib version
	lib=$(echo "$root"/usr/lib/python3.[0-9]*)
	version=${lib##*/}
	cp -L "$root/usr/bin/$version" "$1/usr/bin/python3" || die "no Python for $arch"
	mkdir -p "$1/usr/lib/$version" || exit 1
	tar -C "$lib" -cf - --exclude='config-*' --exclude=test --exclude=idlelib --exclude=lib2to3 \
		--exclude=ensurepip --exclude=distutils --exclude=pydoc_data --exclude=asyncio \
		--exclude=xml --exclude=email --exclude=unittest --exclude=multiprocessing \
		--exclude='*_codecs_??*' --exclude='_test*' --exclude='*_ssl*' . |
		tar -C "$1/usr/lib/$version" -xf - || exit 1
	# Packages bring no compiled modules, and compiling takes long in emulation.
	[ ! -x "/usr/bin/$version" ] || "/usr/bin/$version" -m compileall -q \
		--invalidation-mode unchecked-hash "$1/usr/lib/$version" >/dev/null
}

pack() {	# folder of the image, file
	(cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$2" || die "cpio failed"
}

make_base() {	# file
	local image=$tmp/base dir
	mkdir -p "$image"/{vm,proc,sys,dev,run,tmp,root,etc,home,usr/bin,usr/libexec/coreutils} \
		"$image/usr/lib/$TRIPLET" "$image/usr/lib64" || exit 1
	for dir in bin lib lib64; do
		ln -s usr/$dir "$image/$dir"
	done
	ln -s bin "$image/usr/sbin"
	ln -s bin "$image/sbin"
	echo 'root:x:0:0:root:/root:/bin/bash
nobody:x:65534:65534:nobody:/:/bin/sh' >"$image/etc/passwd"
	echo 'root:x:0:
nogroup:x:65534:' >"$image/etc/group"
	add_programs "$image"
	add_python "$image"
	install -m 755 tests/vm/init "$image/init" || exit 1
	# libc loads it at the end of a thread.
	cp -L "$(find_library libgcc_s.so.1)" "$image/usr/lib/$TRIPLET/" || exit 1
	mapfile -t files < <(find "$image/usr" -type f \( -perm -u+x -o -name '*.so*' \))
	add_needs "$image" "${files[@]}"
	pack "$image" "$1.new" && mv "$1.new" "$1"
}

# The tests, acltap as built, the targets, and the BPF object that a test loads by itself.
make_tests() {	# file
	local image=$tmp/tests
	mkdir -p "$image/acltap/build/gen" "$image/usr/lib/$TRIPLET" "$image/lib64" || exit 1
	[ -x "$O/acltap" ] || die "$O/acltap is not built"
	cp "$O/acltap" "$image/acltap/build/" && cp -r "$O/targets" "$image/acltap/build/" || exit 1
	cp "$O/gen/follow.bpf.o" "$image/acltap/build/gen/" || exit 1
	mkdir "$image/acltap/tests" &&
		cp -r tests/{live,targets,vm,soak,allowed-skips} "$image/acltap/tests/" &&
		cp -r scripts "$image/acltap/" || exit 1
	# What reads outputs again.
	mkdir "$image/acltap/tests/golden" &&
		cp tests/golden/*.py "$image/acltap/tests/golden/" || exit 1
	find "$image" -name '*.d' -delete
	ln -s usr/lib "$image/lib"
	mapfile -t files < <(find "$image/acltap/build" -type f -perm -u+x)
	add_needs "$image" "${files[@]}"
	rm "$image/lib"
	rmdir "$image/lib64" 2>/dev/null
	pack "$image" "$1"
}

root=$(scripts/vm-fetch.sh root "$arch") || exit
root=${root%/}
base=$V/base-$arch.cpio
mkdir -p "$V" || exit 1
exec 9>"$base.lock" && flock 9
if [ ! -e "$base" ] || [ "$0" -nt "$base" ] || [ tests/vm/init -nt "$base" ]; then
	make_base "$base"
fi
make_tests "$tmp/tests.cpio"
cat "$base" "$tmp/tests.cpio" >"$out" || die "cannot write $out"
