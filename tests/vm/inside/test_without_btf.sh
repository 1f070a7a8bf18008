#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A kernel without type information: processes are traced all the same, launched and by PID, and
# children are found in user space; what is missing is told.
. "$(dirname "$0")/../../live/lib.sh"
need_uprobes
COUNT=200

[ -s /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF anyway"
: >"$tmp/empty"
mount --bind "$tmp/empty" /sys/kernel/btf/vmlinux || die "cannot hide the type information"
mounts+=(/sys/kernel/btf/vmlinux)
assert_match "check: told" "$("$ACLTAP" check)" '^  no   kernel type information'


run_acltap record -o "$tmp/launched.tsv" -- "$T/seed_loops" all $COUNT
assert_eq "launched: status" "$status" 0
assert_eq "launched: rows" "$(awk 'NR > 1' "$tmp/launched.tsv" | wc -l)" $((3 * COUNT))
assert_match "launched: told" "$(cat "$tmp/stderr")" 'no kernel BTF: children .* found late'

start_target "$T/seed_loops" all $COUNT
attach_and_run -o "$tmp/attached.tsv"
assert_eq "by PID: status, which ends by itself" "$status/$target_status" 0/0
assert_eq "by PID: rows" "$(awk 'NR > 1' "$tmp/attached.tsv" | wc -l)" $((3 * COUNT))

# Children that call: of a launched shell, and one that is started when acltap is there already.
new_truth
run_acltap record -o "$tmp/child.ndjson" -- bash -c '"$0" 5; exit $?' "$T/threads"
assert_eq "a child that was launched: status" "$status" 0
compare_truth "a child that was launched: its events" "$tmp/child.ndjson"

# The child of a PID runs on while its library is probed, so it waits before its first call.
new_truth
mkfifo "$tmp/go2" || exit 1
start_target bash -c 'read -r go <"$ACLTAP_WAIT"; ACLTAP_WAIT=$1 "$0" 5; exit $?' "$T/threads" \
	"$tmp/go2"
start_tracer record -p "$target" -o "$tmp/child2.ndjson"
release
wait_for "$LIMIT" grep -q 'loaded the library' "$tmp/stderr"
timeout "$LIMIT" bash -c 'echo go >"$0"' "$tmp/go2"
reap "$target"
target_status=$status
reap "$tracer"
assert_eq "a child of a PID: status" "$status/$target_status" 0/0
compare_truth "a child of a PID: its events" "$tmp/child2.ndjson"

# Somebody else's process with the same library is none.
start_target "$T/seed_loops" 1 10
start "$T/seed_loops" all $COUNT
other=$pid
attach_and_run -o "$tmp/mine.tsv"
reap "$other"
assert_eq "another process: nothing of it" "$(awk 'NR > 1' "$tmp/mine.tsv" | wc -l)" 10
finish
