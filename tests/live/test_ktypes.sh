#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is cut out of the kernel's types leads to the same programs as all of them: those that
# acltap loads are compared with those that bpftool makes of the same object.
. "$(dirname "$0")/lib.sh"
need_uprobes
PATH=$PATH:/usr/sbin:/usr/local/sbin
command -v bpftool >/dev/null || skip "there is no bpftool"
[ -s /sys/kernel/btf/vmlinux ] || skip "the kernel does not tell its types"

# Without what differs from one load to the next.
instructions() {	# a program as bpftool names it
	bpftool prog dump xlated "$@" | sed -E 's/^ *[0-9]+: //; /^; /d; s/map\[id:[0-9]+\]/map/'
}

program_of() {	# name, PID: the id of a program that the process holds
	local id
	sed -n 's/^prog_id:\t*//p' /proc/"$2"/fdinfo/* 2>/dev/null | sort -un | while read -r id; do
		bpftool prog show id "$id" | grep -q "name $1 " && echo "$id"
	done
}

start_target "$T/threads" 2
start_tracer record -v -n threads -o "$tmp/out.ndjson" # which needs all of them
assert_eq "not all types were read" "$(grep -c 'all types of the kernel' "$tmp/stderr")" 0
mkdir "$tmp/bpf"
mount -t bpf none "$tmp/bpf" || die "cannot mount a file system for BPF"
mounts+=("$tmp/bpf")
bpftool prog loadall "$O/gen/follow.bpf.o" "$tmp/bpf/all" 2>"$tmp/stderr" ||
	 die "bpftool cannot load the object"
for name in on_fork on_exec on_exit on_rename; do
	instructions id "$(program_of $name "$tracer")" >"$tmp/ours"
	instructions pinned "$tmp/bpf/all/$name" >"$tmp/all"
	assert_eq "$name: more than a few instructions" "$(($(wc -l <"$tmp/ours") > 50))" 1
	check "$name: the same instructions with all types" diff "$tmp/ours" "$tmp/all"
done
release
reap "$target"
kill -INT "$tracer"
reap "$tracer"
finish
