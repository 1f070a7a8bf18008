# What may stand for the value of an option, with before in front of each.
_acltap_complete_value()
{
	local kind=$1 cur=$2 before=$3 list
	case $kind in
	file)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	pids)
		list=/proc/[0-9]*	# a pattern, not the files yet
		case $cur in
		*,*) before=$before${cur%,*}, cur=${cur##*,} ;;
		esac
		# shellcheck disable=SC2086
		set -- $list
		mapfile -t COMPREPLY < <(compgen -W "${*#/proc/}" -- "$cur") ;;
	user)
		mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
	word*)
		mapfile -t COMPREPLY < <(compgen -W "${kind#word}" -- "$cur") ;;
	esac
	COMPREPLY=("${COMPREPLY[@]/#/$before}")
}

# After "--" stands another command line, the first word of which is word $1.
_acltap_complete_command()
{
	local cur=${COMP_WORDS[COMP_CWORD]}
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$1"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [ "$COMP_CWORD" -eq "$1" ]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	else
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}

# The option before the word to complete, and what is there of its value. "=" is a word of its own
# unless COMP_WORDBREAKS was changed. Sets option, cur and before.
_acltap_option()
{
	local prev=${COMP_WORDS[COMP_CWORD - 1]}
	option=$prev before=
	if [[ $cur == = ]]; then
		cur=
	elif [[ $prev == = ]]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $cur == --*=* ]]; then
		option=${cur%%=*} before=${cur%%=*}= cur=${cur#*=}
	elif [[ $prev == -[!-]?* ]]; then
		option=-${prev: -1}	# letters may be joined
	fi
}

_acltap()
{
	local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
	local opts= args= kind= option before i
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$_acltap_commands help --help --version" -- "$cur")
		return
	fi
	if [ "$command" = help ]; then
		[ "$COMP_CWORD" -gt 2 ] ||
			mapfile -t COMPREPLY < <(compgen -W "$_acltap_commands" -- "$cur")
		return
	fi
	_acltap_options "$command"
	for ((i = 2; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" = -- ] || continue
		[[ $args != *command* ]] || _acltap_complete_command $((i + 1))
		return
	done
	_acltap_option
	_acltap_value "$command:$option"
	if [ -n "$kind" ]; then
		_acltap_complete_value "$kind" "$cur" "$before"
	elif [[ $args == *files* && $cur != -* ]]; then
		_acltap_complete_value file "$cur" ""
	else
		[[ $args != *command* ]] || opts+=" --"
		mapfile -t COMPREPLY < <(compgen -W "$opts" -- "$cur")
	fi
}
complete -F _acltap acltap
