#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Prints the stack of each function of a BPF object in bytes: "<function> <bytes>". The deepest
# access below r10 counts, as for the verifier.
llvm-objdump -d --no-show-raw-insn "$1" | awk '
	/^[0-9a-f]+ <LBB/ { next }
	/^[0-9a-f]+ <.*>:/ { f = $2; if (!(f in m)) m[f] = 0 }
	{
		line = $0
		while (match(line, /r10 - [0-9]+|r10 \+ -[0-9]+/)) {
			n = substr(line, RSTART, RLENGTH)
			sub(/r10 (- |\+ -)/, "", n)
			if (n + 0 > m[f]) m[f] = n + 0
			line = substr(line, RSTART + RLENGTH)
		}
	}
	/r[0-9] = r10/ { copy = $(NF - 2) }
	/r[0-9] \+= -[0-9]+/ { n = $NF; sub(/-/, "", n); if (n + 0 > m[f] && n + 0 <= 512) m[f] = n + 0 }
	END { for (f in m) print f, m[f] }'
