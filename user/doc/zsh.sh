# Behind "--" stands another command line.
_acltap_after_dashes()
{
	local i=${words[(ie)--]}
	(( i < CURRENT )) || return 1
	shift $i words
	(( CURRENT -= i ))
	_normal
	return 0
}

if (( CURRENT == 2 )); then
	_describe -t commands command _acltap_commands
	_arguments '(- *)'{-h,--help}'[the commands]' '(- *)--version[the version]'
	return
fi
shift words
(( CURRENT-- ))
if [[ $words[1] == help ]]; then
	(( CURRENT > 2 )) || _describe -t commands command _acltap_commands
elif (( $+functions[_acltap_$words[1]] )); then
	_acltap_$words[1]
fi
