#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# make help, install and uninstall: what they say and what they leave.
. "$(dirname "$0")/lib.sh"
[ -x "$ACLTAP" ] || die "$ACLTAP is not built"

run_make() {	# arguments; sets status; what was built already is not built again
	make --no-print-directory O="${O#"$ROOT"/}" "$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
	status=$?
}

run_make help
assert_eq "make help: status" "$status" 0
for target in all demo test install uninstall help; do
	assert_match "make help names $target" "$(cat "$tmp/stdout")" "^  make $target +[a-z]"
done
assert_eq "make help fits 110 columns" "$(awk 'length > 110' "$tmp/stdout")" ""

# The whole tree that is installed must be ours to remove: nothing else in it is touched.
root="$tmp/a root"
theirs="./usr/bin/other
./usr/share/man/man1/acltap-theirs.1"
for file in $theirs; do
	mkdir -p "$root/${file%/*}" && echo theirs >"$root/$file" || exit 1
done
commands=$("$ACLTAP" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
ours="./usr/bin/acltap
./usr/share/bash-completion/completions/acltap
./usr/share/man/man1/acltap.1
./usr/share/zsh/site-functions/_acltap
$(for c in $commands; do echo "./usr/share/man/man1/acltap-$c.1"; done)"
run_make install DESTDIR="$root" PREFIX=/usr
assert_eq "make install: status" "$status" 0
assert_eq "make install: the files" "$(cd "$root" && find . ! -type d | sort)" \
	"$(sort <<<"$theirs
$ours")"
assert_eq "what was installed runs" "$("$root/usr/bin/acltap" --version)" "$("$ACLTAP" --version)"
assert_eq "its mode" "$(stat -c %a "$root/usr/bin/acltap")" 755
assert_eq "the modes of what is read" \
	"$(cd "$root" && for f in $ours; do stat -c %a "$f"; done | sort | uniq -c | xargs)" \
	"$(($(wc -w <<<"$ours") - 1)) 644 1 755"
run_make install DESTDIR="$root" PREFIX=/usr
assert_eq "make install again: status" "$status" 0
run_make uninstall DESTDIR="$root" PREFIX=/usr
assert_eq "make uninstall: status" "$status" 0
assert_eq "make uninstall: the files" "$(cd "$root" && find . ! -type d | sort)" "$theirs"
run_make uninstall DESTDIR="$root" PREFIX=/usr
assert_eq "make uninstall of nothing: status" "$status" 0

run_make install DESTDIR="$tmp/default"
check "PREFIX is /usr/local by default" test -x "$tmp/default/usr/local/bin/acltap"
run_make install DESTDIR=/proc/none
assert_eq "a place that cannot be written: status" "$status" 2
finish
