#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The probes keep at most 48 bytes on the stack: see bpf/maps.bpf.h.
. "$(dirname "$0")/lib.sh"
command -v llvm-objdump >/dev/null || die "llvm-objdump is missing"
n=0
while read -r function bytes; do
	n=$((n + 1))
	assert_eq "$function: $bytes bytes of stack, at most 48" "$((bytes <= 48))" 1
done < <(scripts/bpf-stack.sh "$O/gen/events.bpf.o")
assert_eq "every function of the object was looked at" "$((n >= 5))" 1
finish
