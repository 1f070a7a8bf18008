#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Jobs are started by scripts: what acltap launches is a shell, and the program comes by exec, as a
# child, or below another program that watches its children (S28, S54).
. "$(dirname "$0")/lib.sh"
need_uprobes
COUNT=500

wrapped() {	# name, command...: must end with 0 and give all rows
	local name=$1
	shift
	rm -f "$tmp/x.csv"
	run_acltap record -o "$tmp/x.csv" -- "$@"
	assert_eq "$name: status" "$status" 0
	assert_eq "$name: rows" "$(csv_rows "$tmp/x.csv")" $COUNT
}

program=("$T/seed_loops" 2 $COUNT)
if [ -e "$T/acl.abi3.so" ]; then
	program=("$PYTHON" "$SRC/seed_loops.py" 2 $COUNT)
fi
line=$(printf '%q ' "${program[@]}")

wrapped "script that execs" sh "$SRC/run_sh.sh" exec "${program[@]}"
wrapped "script with a child" sh "$SRC/run_sh.sh" child "${program[@]}"
wrapped "the script itself" "$SRC/run_sh.sh" exec "${program[@]}"
wrapped "sh -c" sh -c "$line; exit \$?"
wrapped "three shells deep" sh -c "sh -c 'sh \"\$0\" child \"\$@\"; exit \$?' \"\$0\" \"\$@\"" \
	"$SRC/run_sh.sh" "${program[@]}"
wrapped "pipeline" sh -c "$line | cat"
wrapped "env" env FOO=1 "${program[@]}"
wrapped "bash -m" bash -m -c "$line; exit \$?"
if command -v script >/dev/null; then
	wrapped "script -c" script -qec "$line" /dev/null
else
	skip_one "script -c" "no script command"
fi
if command -v su >/dev/null; then
	wrapped "su -c" su -m -s /bin/sh -c "$line" root
else
	skip_one "su -c" "no su command"
fi

# The same where the library's place cannot be known before it is loaded.
late() {	# name, shell command...
	local name=$1
	shift
	rm -f "$tmp/x.ndjson"
	new_truth
	LD_LIBRARY_PATH='' run_acltap record -o "$tmp/x.ndjson" -- "$@"
	assert_eq "late library, $name: status" "$status" 0
	compare_truth "late library, $name: events" "$tmp/x.ndjson"
}
line="$(printf '%q ' "$T/dlopen_late" 50 3 "$T/jmp/libmsprofiler.so")"
late "sh -c" sh -c "$line; exit \$?"
late "bash -m" bash -m -c "$line; exit \$?"
command -v script >/dev/null && late "script -c" script -qec "$line" /dev/null
command -v su >/dev/null && late "su -c" su -m -s /bin/sh -c "$line" root

run_acltap record -o "$tmp/status.csv" -- sh "$SRC/run_sh.sh" child "$T/short" 42
assert_eq "status through a script" "$status" 42
run_acltap record -o "$tmp/status2.csv" -- sh -c "$T/crash segv; exit \$?"
assert_eq "status of a child that died by a signal" "$status" 139
finish
