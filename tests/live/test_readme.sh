#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# README's commands run, and print what it shows.
. "$(dirname "$0")/lib.sh"
need_uprobes
[ -e "$T/acl.abi3.so" ] || skip "no Python headers"
O=$O scripts/check-readme.sh
