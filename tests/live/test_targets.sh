#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The targets themselves: without them being right, no other live test proves anything.
. "$(dirname "$0")/lib.sh"

for form in jmp stack endbr push; do
	check "library has the form $form" "$SRC/check_forms.sh" $form "$T/$form"
	use_form $form
	check "behaviour of the library, form $form" "$T/behaviour"
	check "with profiling off, form $form" env ACLTAP_FAKE_PROF=off "$T/behaviour"
	check "the example in C, form $form" "$T/seed_loops" all 100
done
for wrong in jmp:stack stack:endbr endbr:push push:jmp; do
	check "check_forms.sh finds that ${wrong#*:} is not ${wrong%:*}" \
		bash -c '! "$0" "$@" 2>/dev/null' "$SRC/check_forms.sh" ${wrong%:*} "$T/${wrong#*:}"
done
if [ -e "$T/acl.abi3.so" ]; then
	check "the example in Python" "$PYTHON" "$SRC/seed_loops.py" all 100
else
	skip_one "the example in Python" "no Python headers"
fi
check "compare_truth.py finds what is wrong" "$PYTHON" "$SRC/check_compare_truth.py"
finish
