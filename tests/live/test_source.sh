#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What `make check` finds in the sources: who includes whom, a pure core, the formatting.
. "$(dirname "$0")/lib.sh"
check "folders are layers, the core is pure" env O="$O" scripts/check-layers.sh
scripts/check-format.sh >"$tmp/stdout" 2>"$tmp/stderr"
case $? in
0) ok "the formatting is that of clang-format 14" ;;
77) skip_one "the formatting" "no clang-format 14" ;;
*) not_ok "the formatting is that of clang-format 14" "$(last_words)" ;;
esac
finish
