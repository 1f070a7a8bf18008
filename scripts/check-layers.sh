#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Folders are layers (see user/README.md): who may include whom, which folder may use which
# library, and that the core has neither input and output nor state of its own. The last needs
# the core's objects in $O; `make check` builds them.
set -u
cd "$(dirname "$0")/.." || exit 1
O=${O:-build}
bad=0

complain() {
	echo "check-layers: $*"
	bad=1
}

includes() {	# folder, folders it may include from; headers of include/ have no folder
	local found
	found=$(grep -nE '^#include "[a-z]+/' user/"$1"/*.[ch] 2>/dev/null |
		grep -vE "#include \"($2)/")
	[ -z "$found" ] || complain "user/$1 may include only from: ${2//|/, }"$'\n'"$found"
}

only_in() {	# folder, pattern of headers that nobody else may include
	local found
	found=$(grep -nE "^#include [<\"]($2)" user/*.c user/*/*.[ch] | grep -v "^user/$1/")
	[ -z "$found" ] || complain "only user/$1 may include this:"$'\n'"$found"
}

includes util 'util'
includes core 'core|util'
includes store 'store|core|sink|util' # replay feeds a capture to the outputs; never the other way
includes sink 'sink|core|util'
includes view 'view|sink|core|util'
includes discover 'discover|core|util'
includes live 'live|discover|store|core|util|sink'
includes doc 'doc|cmd|util'
only_in live 'bpf/|.*\.skel\.h'
only_in discover 'gelf\.h|libelf\.h|capstone/'
only_in sink 'sqlite3\.h'

# Whatever else prints or ends the process is called by user/cmd only.
found=$(grep -nE '(^|[^_[:alnum:]])(printf|puts|putchar|vprintf|exit) *\(' user/{util,core,store,sink,view,discover}/*.c)
[ -z "$found" ] || complain "only user/cmd prints data and exits:"$'\n'"$found"

# The core and util may use memory and each other, nothing else.
allowed='malloc|calloc|realloc|reallocarray|free|mem(cpy|move|set|cmp|chr|rchr|mem)|strdup|strndup'
allowed+='|sqrt|erfc|fmax|fmin|fnmatch|str(n?len|n?cmp|r?chr|str|spn|cspn)|qsort|bsearch|v?snprintf'
allowed+='|__[a-z]+_chk|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_'
shopt -s nullglob
core=("$O"/user/core/*.o)
if [ ${#core[@]} -eq 0 ]; then
	complain "no objects in $O/user/core: run make check"
else
	# Defined in the core, or in those files of util that are as pure as it (checked alike).
	pure=("${core[@]}" "$O"/user/util/{str,map,crc}.o)
	for i in "${!pure[@]}"; do [ -e "${pure[i]}" ] || unset "pure[i]"; done
	known=$(nm --defined-only -g "${pure[@]}" | awk 'NF == 3 { print $3 }')
	for o in "${pure[@]}"; do
		found=$(nm -u "$o" | awk '{ print $2 }' | grep -vxE "$allowed" |
			grep -vxF "$known" | tr '\n' ' ')
		[ -z "$found" ] || complain "${o#"$O"/} uses what a pure file must not: $found"
	done
fi

# Writable variables: none anywhere below cmd and live but the level of the messages.
for o in "$O"/user/{core,store,sink,view,discover,util}/*.o; do
	[ "${o##*/}" != log.o ] || continue
	found=$(size -A "$o" | awk '$1 ~ /^\.(t?data|t?bss)$/ && $2 > 0 { print $1 }' | tr '\n' ' ')
	[ -z "$found" ] || complain "${o#"$O"/} has variables that outlive a call: $found"
done
[ $bad -eq 0 ] && echo "check-layers: ok"
exit $bad
