#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The wrappers as gcc and clang compile them with the flags that change a prologue: traced at the
# chosen sites and at the entries, each program sees the same results and acltap the same events.
. "$(dirname "$0")/lib.sh"
need_uprobes
unset LD_LIBRARY_PATH

flags=(
	"-fcf-protection=none -fno-stack-protector"
	"-fcf-protection=full -fno-stack-protector"
	"-fcf-protection=none -fstack-protector-all"
	"-fcf-protection=full -fstack-protector-all -fno-omit-frame-pointer"
	"-fcf-protection=none -fstack-protector-all -fno-plt"
	"-fcf-protection=full -fno-plt -fno-omit-frame-pointer -fno-optimize-sibling-calls"
	"-fcf-protection=full -pg"
	"-fcf-protection=full -pg -mfentry"
	"-fcf-protection=full -fpatchable-function-entry=5"
	"-fcf-protection=none -fpatchable-function-entry=5 -fstack-protector-all"
	"-fcf-protection=full -mno-red-zone -fomit-frame-pointer"
)
common=6 # the first so many at every level, the others at -O2 and -Os

build() {	# compiler, flags...: one library more; a flag that the compiler lacks gives none
	local dir=$tmp/lib${#libs[@]} cc=$1
	shift
	mkdir -p "$dir"
	# shellcheck disable=SC2086
	"$cc" -std=gnu11 -D_GNU_SOURCE -w -shared -fPIC -Wl,-z,now "$@" -o "$dir/libmsprofiler.so" \
		"$SRC/lib/msprofiler.c" -L"$T/jmp" -lprofapi -Wl,-rpath,"$T/jmp" 2>/dev/null || return
	libs+=("$dir/libmsprofiler.so")
	about+=("$cc $*")
}

case $(uname -m) in
x86_64) ;;
*) flags=("${flags[@]//-fcf-protection=*([a-z])/}") ;;
esac
libs=() about=()
for cc in gcc clang; do
	command -v "$cc" >/dev/null || continue
	for i in "${!flags[@]}"; do
		for level in -O2 -Os -O0 -O1 -O3; do
			[ "$i" -lt $common ] || [ $level = -O2 ] || [ $level = -Os ] || continue
			# shellcheck disable=SC2086
			build $cc $level ${flags[i]}
		done
	done
done
n=${#libs[@]}
check "libraries to trace ($n)" test "$n" -ge 40

lib_options=()
for lib in "${libs[@]}"; do
	lib_options+=(--lib "$lib")
done

# Each library twice: the second time its pages were dropped and are mapped anew.
trace() {	# name, options...
	local name=$1
	shift
	new_truth
	run_acltap record -f -o "$tmp/$name.ndjson" "$@" "${lib_options[@]}" -- \
		"$T/dlopen_late" 0 $((2 * n)) "${libs[@]}"
	assert_eq "$name: the program's results are what they should be" "$status" 0
	compare_truth "$name: every event, with its arguments" "$tmp/$name.ndjson"
}

rows() {	# file: what must not depend on the site
	"$PYTHON" - "$1" <<'END'
import json, sys
for row in map(json.loads, open(sys.argv[1], encoding="utf-8")):
    print(row["kind"], row.get("name"), row.get("depth"), row.get("status"), row.get("count"))
END
}

trace auto
trace entry --probe-site=entry
trace returns --returns
check "the same events at the entries" cmp <(rows "$tmp/auto.ndjson") <(rows "$tmp/entry.ndjson")
bad=$("$PYTHON" - "$tmp/returns.ndjson" <<'END'
import json, sys
rows = map(json.loads, open(sys.argv[1], encoding="utf-8"))
rets = [row["ret"] for row in rows if row["kind"] in ("marker", "push/pop", "start/end")]
print(len(rets), sum(ret != 0 for ret in rets))
END
)
assert_eq "--returns: every call returned 0" "$bad" "$((3 * 2 * n)) 0"

# What was chosen: most are cheaper than the entry, and of several kinds.
"$ACLTAP" list "${libs[@]}" >"$tmp/list"
sites=$(awk -F'\t' '$4 == "entry" {split($5, op, " "); print op[1]}' "$tmp/list" | sort | uniq -c | sort -rn)
check "several kinds of instruction carry probes" test "$(wc -l <<<"$sites")" -ge 4
echo "# of ${#libs[@]} libraries:" $sites
finish
