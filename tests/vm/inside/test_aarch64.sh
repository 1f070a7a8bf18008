#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is arm64's own: which instruction carries the probe in each form of the library, and that
# every call arrives with its texts, stamps and ids from there as well as from the entry. The forms
# endbr and pac lie on guarded pages, and pac signs its return addresses.
. "$(dirname "$0")/../../live/lib.sh"
need_uprobes
[ "$(uname -m)" = aarch64 ] || die "this is no arm64 machine"

before_6_6() {
	[ "$(printf '%s\n' 6.6 "$(uname -r)" | sort -V | head -n 1)" != 6.6 ]
}

site() {	# form, function, purpose, site option: bytes behind the entry, instruction
	local entry
	entry=$("$ACLTAP" list --probe-site=entry "$T/$1/libmsprofiler.so" |
		awk -F'\t' -v f="$2" -v p="$3" '$2 == f && $4 == p { print $3 }')
	"$ACLTAP" list --probe-site="$4" "$T/$1/libmsprofiler.so" |
		awk -F'\t' -v f="$2" -v p="$3" '$2 == f && $4 == p { print $3, $5 }' |
		while read -r at name rest; do
			[ "$name" != hint ] || name="hint ${rest%% *}"	# before Capstone 5
			echo "+$((at - entry)) $name"
		done
}

# Calls are emulated as well, but only where no shadow stack can follow them.
call() {	# where it is, what to probe otherwise
	if before_6_6; then
		echo "+$1 bl"
	else
		echo "+0 $2"
	fi
}

# "hint 0x19" and "paciasp", "hint 0x22" and "bti" are the same instructions.
named() {
	sed -E 's/hint #0x19/paciasp/; s/hint #0x22/bti/'
}

while read -r form best returns entry; do
	use_form "$form"
	best=${best//_/ }
	assert_eq "form $form: where a call is seen" \
		"$(site $form aclprofMark entry auto | named)" "$best"
	assert_eq "form $form: where a return is prepared" \
		"$(site $form aclprofCreateStamp return auto | named)" "${returns//_/ }"
	assert_eq "form $form: with --probe-site=entry" \
		"$(site $form aclprofMark entry entry | named)" "+0 $entry"
done <<END
jmp +0_b +0_b b
stack +0_adrp +0_adrp adrp
endbr +4_b +4_b bti
push $(call 8 stp | tr ' ' _) +0_stp stp
pac $(call 12 paciasp | tr ' ' _) +0_paciasp paciasp
END

traced() {	# name, option of acltap, target and its arguments
	local name=$1 option=$2 out=$tmp/out.ndjson
	shift 2
	rm -f "$out"
	new_truth
	run_acltap record "$option" --lifecycle -o "$out" -- "$@"
	assert_eq "$name: status" "$status" 0
	compare_truth "$name: every call as it was" "$out"
}

for form in jmp stack endbr push pac; do
	use_form "$form"
	traced "form $form" --probe-site=auto "$T/threads" 2
	case $form in
	endbr|push|pac)	# the entry is another instruction, and single-stepped
		traced "form $form, entry" --probe-site=entry "$T/threads" 2 ;;
	esac
done
new_truth
start_target "$T/threads" 2
attach_and_run -o "$tmp/attached.ndjson"
assert_eq "form pac, attached: status" "$status/$target_status" 0/0
compare_truth "form pac, attached: every call as it was" "$tmp/attached.ndjson"
ACLTAP_FAKE_PROF=off traced "form pac, failures" --probe-site=auto "$T/nullstamp" 3

use_form jmp
traced "texts, pages of $("$PYTHON" -c "import os; print(os.sysconf('SC_PAGESIZE'))")" --probe-site=auto \
	"$T/messages"

# Less than a page where pages are large.
run_acltap record --ring-size 4K -o "$tmp/small.ndjson" -- "$T/seed_loops" 1 500
assert_eq "the smallest ring: status" "$status" 0
rows=$(events_count "$tmp/small.ndjson" marker)
lost=$(events_count "$tmp/small.ndjson" loss function aclprofMark)
assert_eq "the smallest ring: marks and losses ($lost)" $((rows + lost)) 500
check "the smallest ring: some arrive" test "$rows" -gt 0
finish
