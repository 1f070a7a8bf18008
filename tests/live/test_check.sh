#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# acltap check (S48): the verdict, the missing rights by name, nothing left behind. And that the
# help of every command fits a screen.
. "$(dirname "$0")/lib.sh"
[ -x "$ACLTAP" ] || die "$ACLTAP is not built"

# Help: every command of the table, at most 40 lines of 80 columns, the options named.
"$ACLTAP" --help >"$tmp/help" || die "acltap --help fails"
mapfile -t commands < <(sed -nE 's/^  ([a-z]+) +[a-z].*/\1/p' "$tmp/help")
assert_match "help lists check" "${commands[*]}" '(^| )check( |$)'
for command in "${commands[@]}"; do
	"$ACLTAP" "$command" --help >"$tmp/help" 2>"$tmp/stderr"
	assert_eq "$command: help fits 80 columns" "$(awk 'length > 80' "$tmp/help")" ""
	assert_eq "$command: help fits 40 lines" \
		"$(awk 'END { print NR <= 40 ? "yes" : NR }' "$tmp/help")" yes
	assert_match "$command: help has an example" "$(cat "$tmp/help")" "^example: acltap $command"
	assert_eq "$command: help $command is the same" \
		"$("$ACLTAP" help "$command" | cksum)" "$(cksum <"$tmp/help")"
done
run_acltap check frobnicate
assert_eq "check takes no argument" "$status" 2
for arguments in --help --version "check --help" check; do
	# shellcheck disable=SC2086
	"$ACLTAP" $arguments >/dev/full 2>"$tmp/stderr"
	assert_eq "a full disk is noticed: $arguments" "$?" 1
	assert_match "a full disk is named: $arguments" "$(cat "$tmp/stderr")" 'No space left'
done

need_uprobes
run_acltap check
assert_eq "check: status" "$status" 0
assert_eq "check: stderr is empty" "$(cat "$tmp/stderr")" ""
assert_eq "check: a verdict" "$(tail -n 1 "$tmp/stdout")" "Tracing is possible."
assert_eq "check: every answer is yes, no, or what to do" \
	"$(grep -vE '^(  (yes|no )  .+|       -> .+|[A-Z].*|)$' "$tmp/stdout")" ""

# Programs are freed a little after their last descriptor.
left_behind() {
	"$BPFTOOL" prog 2>/dev/null | grep -q acltap_try ||
		"$BPFTOOL" map 2>/dev/null | grep -q acltap_try
}
nothing_left() { ! left_behind; }
BPFTOOL=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v bpftool)
if [ -n "$BPFTOOL" ]; then
	check "check: no program or map stays" wait_for "$LIMIT" nothing_left
else
	skip_one "check: no program or map stays" "there is no bpftool"
fi

# Root without some capabilities; SYS_ADMIN includes BPF and PERFMON, so it goes as well.
without() {	# capabilities to take away; sets status and out
	timeout "$LIMIT" setpriv --bounding-set "$1" "$ACLTAP" check >"$tmp/stdout" 2>"$tmp/stderr"
	status=$?
	out=$(cat "$tmp/stdout")
}
command -v setpriv >/dev/null || {
	skip_one "missing rights" "there is no setpriv"
	finish
}
without -sys_admin,-bpf,-perfmon,-kill,-sys_ptrace
assert_eq "no rights: status" "$status" 1
assert_eq "no rights: verdict" "$(tail -n 1 <<<"$out")" "Tracing is not possible."
for name in CAP_BPF CAP_PERFMON CAP_SYS_ADMIN CAP_SYS_PTRACE CAP_KILL; do
	assert_match "no rights: $name is missing" "$out" "^  no   $name$"
done
without -sys_admin,-perfmon
assert_eq "only BPF: status" "$status" 1
assert_match "only BPF: PERFMON is named" "$out" '-> missing CAP_PERFMON:'
assert_eq "only BPF: BPF is not called missing" "$(grep -c 'missing.*CAP_BPF' <<<"$out")" 0
without -sys_admin,-bpf
assert_match "only PERFMON: BPF is named" "$out" '-> missing CAP_BPF:'
without -sys_admin
assert_match "BPF and PERFMON: SYS_ADMIN is missing" "$out" '^  no   CAP_SYS_ADMIN$'
if grep -q '^  yes  uprobe_multi' <<<"$out"; then
	assert_eq "BPF and PERFMON: a uprobe_multi link is enough" "$status" 0
fi
finish
