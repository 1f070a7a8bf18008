#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# --help of acltap and of each command: fits a screen, has every option and an example that holds.
. "$(dirname "$0")/lib.sh"
[ -x "$ACLTAP" ] || die "$ACLTAP is not built"
make --no-print-directory O="${O#"$ROOT"/}" doc >"$tmp/stdout" 2>"$tmp/stderr" || die "make doc failed"
LINES_MAX=40 COLUMNS_MAX=80

fits() {	# name; the text is that of the last run
	assert_eq "$1: status" "$status" 0
	assert_eq "$1: nothing on stderr" "$(cat "$tmp/stderr")" ""
	assert_eq "$1: at most $LINES_MAX lines" "$(tail -n +$((LINES_MAX + 1)) "$tmp/stdout")" ""
	assert_eq "$1: at most $COLUMNS_MAX columns" \
		"$(awk -v max=$COLUMNS_MAX 'length > max' "$tmp/stdout")" ""
}

run_acltap --help
fits "acltap --help"
commands=$(sed -nE 's/^  ([a-z]+) .*/\1/p' "$tmp/stdout")
# The generator of the manual has the table itself.
assert_eq "every command of the table is listed" "$commands" "$("$O/doc/gendoc" names)"

for c in $commands; do
	run_acltap "$c" --help
	fits "$c"
	help=$(cat "$tmp/stdout")
	assert_match "$c: usage" "$help" "^usage: acltap $c"
	# shellcheck disable=SC1091
	table=$(. "$O/doc/acltap.bash" && _acltap_options "$c" && echo "$opts")
	missing=
	for o in $table; do
		grep -qE -- "^ {2,6}(-., )?$o( |\$)|^ {2}$o, " <<<"$help" || missing+=" $o"
	done
	assert_eq "$c: every option of the table ($(wc -w <<<"$table"))" "$missing" ""
	examples=$(sed -nE 's/^(example:| {8}) (acltap .*)/\2/p' <<<"$help")
	assert_match "$c: an example" "$examples" "^acltap $c"
	unknown=
	for o in $(sed -E 's/ -- .*//' <<<"$examples" | grep -oE -- '(^| )--?[a-z-]+'); do
		[[ " $table " == *" $o "* ]] || unknown+=" $o"
	done
	assert_eq "$c: options of the example exist" "$unknown" ""
	run_acltap help "$c"
	assert_eq "$c: acltap help says the same" "$(cat "$tmp/stdout")" "$help"
done
finish
