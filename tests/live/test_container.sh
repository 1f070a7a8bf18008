#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# acltap inside a PID namespace of its own counts processes as the user there does (S49).
. "$(dirname "$0")/lib.sh"
need_uprobes
unshare -pf --mount-proc true 2>/dev/null || skip "no PID namespaces"

inside() {	# arguments of acltap
	unshare -pf --mount-proc timeout -k 10 "$LIMIT" "$ACLTAP" "$@" \
		>"$tmp/stdout" 2>"$tmp/stderr" </dev/null
	status=$?
}

new_truth
inside record -o "$tmp/in.ndjson" -- sh -c "'$T/threads' 3; '$T/seed_loops' 1 10"
assert_eq "launched in a container: status" "$status" 0
assert_eq "launched in a container: PIDs of that container, of children too" \
	"$("$PYTHON" -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
print(all(r["pid"] < 100 for r in rows if "pid" in r and r["kind"] != "call"),
      sum(r["kind"] == "marker" for r in rows))' "$tmp/in.ndjson")" "True 34"

# From outside, a process in a container is traced under the number it has outside.
new_truth
start_target unshare -pf --mount-proc "$T/threads" 20
attach_and_run -o "$tmp/out.ndjson"
assert_eq "attached from outside: status" "$status/$target_status" 0/0
assert_eq "attached from outside: marks" \
	"$(grep -c '"kind":"marker"' "$tmp/out.ndjson")" 160
assert_eq "attached from outside: all of one process, under its outer PID" \
	"$(sed -n 's/.*"kind":"marker".*"pid":\([0-9]*\),.*/\1/p' "$tmp/out.ndjson" | sort -u | wc -l)" 1
# Another library lies at the same path in the target's mount namespace (S37): the target's counts.
mkdir "$tmp/lib" "$tmp/other"
cp "$T"/jmp/lib{profapi,msprofiler}.so "$tmp/lib/"
cp "$T"/endbr/lib{profapi,msprofiler}.so "$tmp/other/"
new_truth
start_target unshare -m bash -c 'mount --bind "$0" "$1" && LD_LIBRARY_PATH=$1 exec "$2" 10' \
	"$tmp/other" "$tmp/lib" "$T/threads"
wait_for 20 grep -q libmsprofiler "/proc/$target/maps" || die "the library was not mapped"
attach_and_run -o "$tmp/mnt.ndjson"
assert_eq "own mount namespace: status" "$status/$target_status" 0/0
compare_truth "own mount namespace: events are those of the target" "$tmp/mnt.ndjson"

# An overlay: what the process maps has another device and inode than the file that is probed.
mkdir "$tmp/upper" "$tmp/work" "$tmp/merged"
if mount -t overlay overlay -o "lowerdir=$tmp/lib,upperdir=$tmp/upper,workdir=$tmp/work" \
	"$tmp/merged" 2>/dev/null; then
	mounts+=("$tmp/merged")
	new_truth
	LD_LIBRARY_PATH=$tmp/merged start_target "$T/threads" 5
	wait_for 20 grep -q merged/libmsprofiler "/proc/$target/maps" || die "the library was not mapped"
	attach_and_run -o "$tmp/overlay.ndjson"
	assert_eq "overlay, attached: status" "$status/$target_status" 0/0
	compare_truth "overlay, attached: events of the target" "$tmp/overlay.ndjson"
	new_truth
	LD_LIBRARY_PATH=$tmp/merged run_acltap record -o "$tmp/overlay2.ndjson" -- "$T/threads" 5
	assert_eq "overlay, launched: status" "$status" 0
	compare_truth "overlay, launched: events of the target" "$tmp/overlay2.ndjson"
else
	skip_one "overlay" "no overlay file system"
fi

# A chroot with a dynamic loader of its own, launched.
if command -v chroot >/dev/null; then
	root=$tmp/root
	mkdir -p "$root/lib64" "$root/lib" "$root/tmp"
	cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/" 2>/dev/null
	cp -L "$T/seed_loops" "$root/" && cp -L "$T"/jmp/lib{profapi,msprofiler}.so "$root/lib/"
	for lib in libc.so.6 libpthread.so.0; do
		cp -L "$(ldconfig -p | sed -n "s/.*$lib (libc6,x86-64).* => //p" | head -n 1)" \
			"$root/lib/" 2>/dev/null
	done
	if LD_LIBRARY_PATH= chroot "$root" /seed_loops 1 1 2>/dev/null; then
		run_acltap record -o "$tmp/root.ndjson" -- chroot "$root" /seed_loops all 20
		assert_eq "chroot, launched: status" "$status" 0
		assert_eq "chroot, launched: every event" \
			"$(grep -cE '"kind":"(marker|push/pop|start/end)"' "$tmp/root.ndjson")" 60
	fi
fi

# acltap list, where the first process of the namespace is the only one that it may not read.
cp "$ACLTAP" "$tmp/acltap"
list_as() {	# arguments of setpriv
	timeout -k 10 "$LIMIT" unshare -pf --mount-proc sh -c 'setpriv "$@"; :' sh "$@" \
		"$tmp/acltap" list 2>"$tmp/stderr"
}
list_as --reuid 65534 --regid 65534 --clear-groups
assert_eq "list: one that may not be read" "$(cat "$tmp/stderr")" \
	"acltap: nothing found, but 1 process could not be read, or not all that it maps
hint: run as root, or with CAP_SYS_PTRACE and CAP_SYS_ADMIN"
list_as --bounding-set -sys_ptrace
assert_match "list: what root lacks" "$(tail -n 1 "$tmp/stderr")" '^hint: root lacks CAP_SYS_PTRACE here$'
finish
