#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Manual pages and completion: whole, in agreement with --help, and accepted by the programs that
# read them.
. "$(dirname "$0")/lib.sh"
[ -x "$ACLTAP" ] || die "$ACLTAP is not built"
make --no-print-directory O="${O#"$ROOT"/}" doc >"$tmp/stdout" 2>"$tmp/stderr" || die "make doc failed"
commands=$("$ACLTAP" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
BASH_FILE=$O/doc/acltap.bash
ZSH_FILE=$O/doc/_acltap

options_of() {	# command: its options as --help has them, one a line
	"$ACLTAP" "$1" --help | sed -nE 's/^  (-.), (--[a-z-]+)[ =].*/\1\n\2/p; s/^  (-.)[ ].*/\1/p; s/^      (--[a-z-]+) .*/\1/p'
}

# ---- Manual pages ---------------------------------------------------------------------------------
assert_eq "a page for each command, and one for all" "$(cd "$O/doc/man1" && echo * | tr ' ' '\n')" \
	"$( (for c in $commands; do echo "acltap-$c.1"; done; echo acltap.1) | sort)"
for page in "$O"/doc/man1/*.1; do
	name=${page##*/}
	if command -v groff >/dev/null; then
		assert_eq "$name: groff has nothing to say" \
			"$(groff -ww -b -man -Tutf8 -z "$page" 2>&1)" ""
	else
		skip_one "$name: groff" "no groff"
	fi
	if command -v mandoc >/dev/null; then
		assert_eq "$name: mandoc has nothing to say" "$(mandoc -T lint -W warning "$page")" ""
	else
		skip_one "$name: mandoc" "no mandoc"
	fi
	missing=
	for other in $(grep -o 'acltap\\-[a-z]*\\fR(1)\|acltap\\-[a-z]* (1)' "$page" | sed 's/\\-/-/; s/\\fR//; s/ //; s/(1)//'); do
		[ -e "$O/doc/man1/$other.1" ] || missing+=" $other"
	done
	assert_eq "$name: pages that it names exist" "$missing" ""
done
for c in $commands; do
	missing=
	for o in $(options_of "$c"); do
		grep -qF "\\fB${o//-/\\-}\\fR" "$O/doc/man1/acltap-$c.1" || missing+=" $o"
	done
	assert_eq "acltap-$c.1 has every option" "$missing" ""
	check "acltap.1 has $c" grep -qF "\\fBacltap\\-$c\\fR(1)" "$O/doc/man1/acltap.1"
done
for prose in user/doc/man/*.man; do
	c=$(basename "$prose" .man)
	check "$prose is of a command" grep -qxF "$c" <<<"$commands
acltap"
done

# ---- bash -----------------------------------------------------------------------------------------
check "bash: the file is a script" bash -n "$BASH_FILE"
in_bash() {	# words...; the last one is being completed; one completion a line
	bash --norc --noprofile -c '. "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) &&
		_acltap && printf "%s\n" "${COMPREPLY[@]}"' "$BASH_FILE" "$@"
}
assert_eq "bash: commands" "$(in_bash acltap '')" "$commands
help
--help
--version"
assert_eq "bash: a command begun" "$(in_bash acltap rec)" "record"
assert_eq "bash: help" "$(in_bash acltap help '')" "$commands"
for c in $commands; do
	assert_eq "bash: options of $c" "$(in_bash acltap "$c" - | grep -vx -e -- | sort)" \
		"$(options_of "$c" | sort)"
done
assert_eq "bash: an option begun" "$(in_bash acltap stat --form)" "--format"
assert_eq "bash: words" "$(in_bash acltap stat --format '' | xargs)" "table csv json"
assert_eq "bash: a word behind =" "$(in_bash acltap stat --format = c)" "csv"
assert_eq "bash: right behind =" "$(in_bash acltap stat --format = | xargs)" "table csv json"
assert_eq "bash: = in the word" "$(in_bash acltap stat --format=j)" "--format=json"
assert_eq "bash: an option without a value" "$(in_bash acltap stat -q --form)" "--format"
assert_eq "bash: joined letters" "$(in_bash acltap record -qo user/main)" "user/main.c"
assert_eq "bash: a file" "$(in_bash acltap export user/main)" "user/main.c"
assert_eq "bash: no file where none is wanted" "$(in_bash acltap record user/main)" ""
assert_eq "bash: a number" "$(in_bash acltap stat --top '')" ""
assert_eq "bash: PIDs" "$(in_bash acltap record -p $$)" "$$"
assert_eq "bash: a list of PIDs" "$(in_bash acltap record -p 1,$$)" "1,$$"
assert_eq "bash: the command to run" "$(in_bash acltap record -o x -- bash | grep -xm 1 bash)" "bash"
assert_eq "bash: its arguments" "$(in_bash acltap record -- ls user/main)" "user/main.c"
assert_eq "bash: nothing follows -- there" "$(in_bash acltap list -- bas)" ""

# What the one unique completion makes of the line; the shell itself is asked.
type_in_bash() {	# keys
	"$PYTHON" tests/live/drive_shell.py "$LIMIT" \
		". '$BASH_FILE'; bind -x '\"\\C-g\": printf \"<%s>\" \"\$READLINE_LINE\"'" \
		"$1" bash --norc --noprofile -i
}
assert_eq "bash, typed: a command" "$(type_in_bash $'acltap rec\t')" "acltap record "
assert_eq "bash, typed: option, word, file" \
	"$(type_in_bash $'acltap stat --form\tcs\t--by=pro\t user/mai\t')" \
	"acltap stat --format csv --by=process  user/main.c "

# ---- zsh ------------------------------------------------------------------------------------------
if command -v zsh >/dev/null; then
	check "zsh: the file is a script" zsh -n "$ZSH_FILE"
	type_in_zsh() {	# keys
		"$PYTHON" tests/live/drive_shell.py "$LIMIT" "fpath=('$O/doc' \$fpath); autoload -U compinit; compinit -u -D; unsetopt PROMPT_SP; show() { print -nr -- \"<\$BUFFER>\" }; zle -N show; bindkey '^G' show; setopt NO_LIST_AMBIGUOUS" \
			"$1" zsh -f -i
	}
	assert_eq "zsh, typed: a command" "$(type_in_zsh $'acltap rec\t')" "acltap record "
	assert_eq "zsh, typed: option, word, file" \
		"$(type_in_zsh $'acltap stat --form\tcs\t--by pro\tuser/mai\t')" \
		"acltap stat --format=csv --by process user/main.c "
	assert_eq "zsh, typed: a repeated option" "$(type_in_zsh $'acltap record -o a --outp\tb -- ')" \
		"acltap record -o a --output=b -- "
	assert_eq "zsh, typed: the command to run" \
		"$(type_in_zsh $'acltap record -- tests/live/drive_sh\tuser/mai\t')" \
		"acltap record -- tests/live/drive_shell.py user/main.c "
	for c in $commands; do
		for o in $(options_of "$c"); do
			grep -qE -- "(^|[^a-z-])$o[^a-z-]" <(sed -n "/^_acltap_${c}()/,/^}/p" "$ZSH_FILE") ||
				echo "$o"
		done >"$tmp/missing"
		assert_eq "zsh: options of $c" "$(cat "$tmp/missing")" ""
	done
else
	skip_one "zsh" "no zsh"
fi
finish
