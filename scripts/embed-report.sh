#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# embed-report.sh FOLDER: the HTML page in FOLDER as C source on stdout (see sink/html_page.h).
# page.html names where style, script and data go; style and script are allowed by their hash, so
# that nothing else in the page can run.
set -eu
dir=$1
scripts=(text data table histogram view draw timeline details page)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

{
	printf '(function () {\n"use strict";\n'
	for name in "${scripts[@]}"; do cat "$dir/$name.js"; done
	printf '})();\n'
} >"$tmp/script"
cp "$dir/page.css" "$tmp/style"

# An array of char is the same on all machines when it is ASCII; the rest would end the element.
if LC_ALL=C grep -n '[^ -~	]' "$tmp/script" "$tmp/style" "$dir/page.html" >&2 ||
	grep -niE '</?script|</?style|<!--' "$tmp/script" "$tmp/style" >&2; then
	echo "embed-report.sh: only ASCII, and no tags in script and style" >&2
	exit 1
fi

hash_of() {	# file
	printf 'sha256-%s' "$(printf "$(sha256sum <"$1" | cut -c 1-64 | sed 's/../\\x&/g')" | base64)"
}

sed -e "s|@style-hash@|$(hash_of "$tmp/style")|" -e "s|@script-hash@|$(hash_of "$tmp/script")|" \
	"$dir/page.html" >"$tmp/page"
! grep -qE '@(style|script)-hash@' "$tmp/page"

element() {	# name: the page with that file where the line says so
	local line
	while IFS= read -r line; do
		[ "$line" = "@$1@" ] || { printf '%s\n' "$line"; continue; }
		printf '<%s>' "$1"
		cat "$tmp/$1"
		printf '</%s>\n' "$1"
	done
}

element style <"$tmp/page" | element script >"$tmp/whole"
sed '/^@data@$/,$d' "$tmp/whole" >"$tmp/head"
sed '1,/^@data@$/d' "$tmp/whole" >"$tmp/tail"
[ -s "$tmp/head" ] && [ -s "$tmp/tail" ]

array() {	# name, file
	printf 'const char %s[] = {\n' "$1"
	od -An -v -tu1 "$2" | sed 's/  */,/g; s/^,//; s/$/,/'
	printf '};\nconst size_t %s_size = sizeof(%s);\n' "$1" "$1"
}

echo '/* Made by scripts/embed-report.sh. */'
echo '#include "sink/html_page.h"'
array html_page_head "$tmp/head"
array html_page_tail "$tmp/tail"
