#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# acltap check tells the truth about this kernel, and tracing uses what there is: seen at the
# descriptors of the running acltap, not at what it says.
. "$(dirname "$0")/../../live/lib.sh"
need_uprobes
release=$(uname -r)

is_at_least() {	# version
	[ "$(printf '%s\n' "$1" "${release%%-*}" | sort -V | head -n 1)" = "$1" ]
}

"$ACLTAP" check >"$tmp/check"
expect() {	# what check calls it, the first version that has it
	local want=no
	! is_at_least "$2" || want=yes
	assert_eq "check: $1" "$(sed -nE "s/^  (yes|no )  .*$1.*/\1/p" "$tmp/check" | tr -d ' ')" $want
}
expect 'BPF ring buffer' 5.8
expect 'attach cookies' 5.15
expect 'sleepable uprobe programs' 6.0
expect 'uprobe_multi links' 6.6
expect 'kernel type information' 5.2
# Only 6.11 to 6.13 ever killed them, and stable updates mended 6.12.
expect 'return probes in programs with a seccomp filter' 0
check "check: the kernel's version" grep -qF "kernel $release on $(uname -m)" "$tmp/check"

# ---- rights ----
# Before 5.11 BPF memory is locked memory: a limit that cannot be lifted is named.
(
	ulimit -l 64
	exec setpriv --bounding-set -sys_resource "$ACLTAP" check
) >"$tmp/check" 2>&1
status=$?
if is_at_least 5.11; then
	assert_eq "a limit of locked memory does not matter" "$status" 0
else
	assert_eq "a limit of locked memory forbids tracing" "$status" 1
	check "and is named" grep -q "locked memory is limited" "$tmp/check"
fi

# ---- what it holds while it traces ----
start_target "$T/seed_loops" all 10
start_tracer record -p "$target" -o "$tmp/x.tsv"
programs=$(cat /proc/"$tracer"/fdinfo/* 2>/dev/null | grep -c '^prog_type:	2$')	# kprobe
multi=$(cat /proc/"$tracer"/fdinfo/* 2>/dev/null | grep -c '^link_type:	\(uprobe_multi\|12\)$')
perf=$(find /proc/"$tracer"/fd -lname '*\[perf_event\]*' | wc -l)
release
reap "$target"
reap "$tracer"
assert_eq "tracing: status" "$status" 0
counts="$programs programs, $multi uprobe_multi links, $perf perf events"
if is_at_least 6.6; then
	check "uprobe_multi links are used: $counts" test "$multi" -gt 0 -a "$perf" -eq 0
else
	check "a perf event for each probe: $counts" test "$multi" -eq 0 -a "$perf" -ge 7
fi
if is_at_least 5.15; then
	check "one program serves all functions: $counts" test "$programs" -le 4
else
	check "each function has its own program: $counts" test "$programs" -ge 7
fi

# ---- a text on a page that nobody has touched ----
run_acltap record -o "$tmp/m.tsv" -- "$T/messages"
assert_eq "messages: status" "$status" 0
read_texts=$(cut -f 2 "$tmp/m.tsv" | grep -cxE 'forward|backward|step')
if is_at_least 6.0; then
	assert_eq "texts on untouched pages are read" "$read_texts" 6
else
	assert_eq "texts on untouched pages are not read" "$read_texts" 0
	assert_match "and that is told" "$(cat "$tmp/stderr")" unreadable
fi
finish
