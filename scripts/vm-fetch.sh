#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Gets Debian packages for the VM tests and unpacks them below the build folder; nothing is
# installed. Prints a path.
#
#   vm-fetch.sh kernel ARCH NAME       the kernel's image (NAME: see kernels() below)
#   vm-fetch.sh root ARCH              the folder in which programs and libraries of ARCH lie
#
# ARCH as uname -m says. The mirrors are those of this machine; its own package lists are neither
# used nor changed. What is there is not fetched again (remove $O/vm to do so). Exit status 69 when
# the mirror has no such suite or package, or does not answer.
set -u
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=scripts/private-apt.sh
. scripts/private-apt.sh
case ${O:=build} in
/*) ;;
*) O=$PWD/$O ;;
esac
V=$O/vm
UNAVAILABLE=69
# What tests need inside a VM of another architecture.
PROGRAMS="bash dash busybox-static coreutils findutils diffutils grep sed mawk mount util-linux
	bsdutils bpftool python3-minimal libpython3-stdlib libbpf1 zlib1g libcapstone4 libsqlite3-0
	libprotobuf-c1 libgcc-s1"

die() {	# status, words
	local rc=$1
	shift
	echo "vm-fetch: $*" >&2
	exit "$rc"
}

deb_arch() {
	case $1 in
	x86_64) echo amd64 ;;
	aarch64) echo arm64 ;;
	*) die 2 "unknown architecture: $1" ;;
	esac
}

kernels() {	# name, suites, meta package (@ = Debian's name of the architecture)
	cat <<-END
	5.10	bullseye bullseye-security	linux-image-cloud-@
	6.1	bookworm bookworm-security	linux-image-cloud-@
	6.12	bookworm bookworm-security	linux-image-6.12-cloud-@
	6.12-16k	trixie	linux-image-@-16k
	7	trixie-backports	linux-image-cloud-@
	END
}

# The mirror from which this machine gets its own suite, or that suite's updates. A machine without
# the updates: where they lie beside the suite, as on Debian's own servers.
mirror() {	# "" or "-security"
	local own uri
	own=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	uri=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' \
		2>/dev/null | awk -v suite="$own$1" '$1 == suite { print $2; exit }')
	if [ -z "$uri" ] && [ -n "$1" ]; then
		uri=$(mirror "")
		uri=${uri:+${uri%/}$1}
	fi
	echo "$uri"
}

sources() {	# suites
	local suite uri key=/usr/share/keyrings/debian-archive-keyring.gpg
	for suite; do
		case $suite in
		*-security) uri=$(mirror -security) ;;
		*) uri=$(mirror "") ;;
		esac
		[ -n "$uri" ] || die $UNAVAILABLE "this machine's apt names no mirror for $suite"
		[ ! -e "$key" ] || uri="[signed-by=$key] $uri"
		echo "deb $uri $suite main"
	done
}

# A configuration of apt with folders of its own; its files stand in $apt.
make_apt() {	# Debian architecture, suites
	local arch=$1 suites
	shift
	suites=$*
	apt=$V/apt-$arch-${suites// /_}
	mkdir -p "$apt" || exit 1
	sources "$@" >"$apt/sources.list" || exit
	make_private_apt "$apt" "$arch" <<-END || exit 1
	APT::Get::List-Cleanup "false";
	Dir::Etc::sourcelist "$apt/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferences "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	END
}

own_apt() {	# program, arguments
	local program=$1
	shift
	"$program" -c "$apt/apt.conf" "$@"
}

update() {
	echo "vm-fetch: reading the package lists of $(basename "$apt")" >&2
	own_apt apt-get update -q -o APT::Update::Error-Mode=any >"$apt/log" 2>&1 || {
		tail -n 5 "$apt/log" >&2
		die $UNAVAILABLE "the mirror does not answer for $(basename "$apt")"
	}
	touch "$apt/updated"
}

unpack() {	# package[=version], folder
	local dir=$apt/debs
	rm -rf "$dir" && mkdir -p "$dir" "$2" || exit 1
	echo "vm-fetch: getting $1" >&2
	(cd "$dir" && own_apt apt-get download -q "$1" >"$apt/log" 2>&1) || {
		tail -n 5 "$apt/log" >&2
		return 1
	}
	dpkg -x "$dir"/*.deb "$2" && rm -rf "$dir"
}

# The next package on the way from a meta package to the one that has the image.
next_of() {	# package=version
	own_apt apt-cache show "$1" 2>/dev/null | sed -n 's/^Depends: //p' | head -n 1 |
		tr ',' '\n' | sed 's/^ *//' | grep -E '^linux-(image|binary)-' | head -n 1 |
		sed -E 's/ *\(= *([^)]*)\)/=\1/; s/ .*//'
}

# The newest version whose files the mirror still has.
get_kernel() {	# meta package, folder
	local version package next
	for version in $(own_apt apt-cache madison "$1" | awk '{ print $3 }'); do
		package=$1=$version
		while next=$(next_of "$package") && [ -n "$next" ]; do
			package=$next
		done
		unpack "$package" "$2" && image_in "$2" && return 0
	done
	return 1
}

image_in() {	# folder: keeps nothing but the image
	local image
	for image in "$1"/boot/vmlinu[xz]-* "$1"/usr/lib/modules/*/vmlinuz; do
		[ -e "$image" ] || continue
		mv "$image" "$1/image" && rm -rf "${1:?}"/{boot,lib,usr,etc}
		return
	done
	return 1
}

kernel() {	# architecture, name
	local arch suites meta dir=$V/kernel-$1-$2
	arch=$(deb_arch "$1") || exit
	IFS=$'\t' read -r _ suites meta < <(kernels | grep "^$2	") || die 2 "unknown kernel: $2"
	if [ ! -e "$dir/done" ]; then
		rm -rf "$dir"
		# shellcheck disable=SC2086
		make_apt "$arch" $suites
		update
		get_kernel "${meta/@/$arch}" "$dir" ||
			die $UNAVAILABLE "no kernel $2 for $1 in: $suites"
		touch "$dir/done"
	fi
	echo "$dir/image"
}

root() {	# architecture
	local dir=$V/root-$1
	[ "$1" = "$(uname -m)" ] && dir=/
	# shellcheck disable=SC2086
	[ $dir = / ] || scripts/cross-sysroot.sh "$1" "$dir" $PROGRAMS >&2 || exit $UNAVAILABLE
	echo $dir
}

[ $# -ge 2 ] || die 2 "usage: vm-fetch.sh kernel ARCH NAME | root ARCH"
mkdir -p "$V" || exit 1
exec 9>"$V/fetch.lock" && flock 9
case $1 in
kernel|root) "$@" ;;
*) die 2 "unknown: $1" ;;
esac
