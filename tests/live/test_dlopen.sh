#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The library comes late and from where nobody could know: the first calls must be there all the same.
. "$(dirname "$0")/lib.sh"
need_uprobes
unset LD_LIBRARY_PATH

# Before 6.0 no probe can hold a process that was not launched (the kernel's version says it, not
# acltap): what it calls while its library is probed is missing, and that is said.
[ "$(printf '%s\n' 6.0 "$(uname -r)" | sort -V | head -n 1)" = 6.0 ] && holds=1 || holds=

complete_or_told() {	# name, events file
	if "$PYTHON" "$SRC/compare_truth.py" "$truth" "$2" >"$tmp/differs"; then
		ok "$1: complete or told"
	else
		assert_match "$1: complete or told" "$(cat "$tmp/stderr")" 'not seen|no process was seen to map'
	fi
}

in_time() {	# name, events file
	# On a busy machine the wait for the probes may run out: that is said.
	if grep -qE 'waited for its probes too long' "$tmp/stderr"; then
		ok "$1: late, and said"
	elif [ -n "$holds" ]; then
		compare_truth "$1: events from the first call on" "$2"
	else
		complete_or_told "$1" "$2"
	fi
}

late() {	# name, repetitions, libraries...: launched, then attached
	local name=$1 repeat=$2
	shift 2
	rm -f "$tmp"/late*.ndjson
	new_truth
	run_acltap record -o "$tmp/late1.ndjson" -- "$T/dlopen_late" 0 "$repeat" "$@"
	assert_eq "$name, launched: status" "$status" 0
	compare_truth "$name, launched: events from the first call on" "$tmp/late1.ndjson"

	new_truth
	start_target "$T/dlopen_late" 300 "$repeat" "$@"
	attach_and_run -o "$tmp/late2.ndjson"
	assert_eq "$name, attached: status" "$status/$target_status" 0/0
	in_time "$name, attached" "$tmp/late2.ndjson"
}

late "one library" 1 "$T/jmp/libmsprofiler.so"
late "loaded again and again" 20 "$T/jmp/libmsprofiler.so"

# Several copies in one process: all are probed at once when known before; else what another copy
# did before it was looked at is missing, and that is said (a process with a probed library is not
# stopped again: programs load hundreds of others behind it).
copies=("$T"/{jmp,stack,endbr,push}/libmsprofiler.so)
new_truth
run_acltap record -o "$tmp/copies.ndjson" --no-stop --lib "${copies[0]}" --lib "${copies[1]}" \
	--lib "${copies[2]}" --lib "${copies[3]}" -- "$T/dlopen_late" 0 12 "${copies[@]}"
assert_eq "several copies, known: status" "$status" 0
compare_truth "several copies, known: events from the first call on" "$tmp/copies.ndjson"
new_truth
run_acltap record -o "$tmp/copies2.ndjson" -- "$T/dlopen_late" 0 12 "${copies[@]}"
assert_eq "several copies, unknown: status" "$status" 0
complete_or_told "several copies, unknown" "$tmp/copies2.ndjson"
for i in $(seq 5); do
	new_truth
	ACLTAP_KEEP=1 run_acltap record -f -o "$tmp/kept.ndjson" -- "$T/dlopen_late" 0 4 "${copies[@]}"
	complete_or_told "several copies, all kept, run $i" "$tmp/kept.ndjson"
done
new_truth
ACLTAP_KEEP=1 start_target "$T/dlopen_late" 300 4 "${copies[@]}"
attach_and_run -f -o "$tmp/kept.ndjson"
complete_or_told "several copies, all kept, attached" "$tmp/kept.ndjson"
# Used at the same time they share nothing: neither stacks nor ids, be they of one file or of two.
# Before 5.15 a program is not told where its probe is, so that they are taken for one.
if [ "$(printf '%s\n' 5.15 "$(uname -r)" | sort -V | head -n 1)" = 5.15 ]; then
	for other in "${copies[1]}" "new:${copies[0]}"; do
		new_truth
		run_acltap record -f -o "$tmp/mixed.ndjson" --lib "${copies[0]}" \
			--lib "${copies[1]}" -- "$T/dlopen_late" 0 mix "${copies[0]}" "$other"
		assert_eq "two copies take turns, ${other%%/*}: status" "$status" 0
		compare_truth "two copies take turns, ${other%%/*}: events" "$tmp/mixed.ndjson"
	done
fi
hung=0
for _ in $(seq 20); do
	run_acltap record -f -o "$tmp/copies3.ndjson" -- "$T/dlopen_late" 0 12 "${copies[@]}"
	[ "$status" -eq 0 ] || hung=$((hung + 1))
done
assert_eq "several copies, 20 times: none fails or hangs" "$hung" 0

# What is not seen for that reason is no event, but --strict must know.
run_acltap record -f --no-stop --strict -o "$tmp/strict.ndjson" -- "$T/dlopen_late" 0 600 "${copies[0]}"
assert_eq "probed late, --strict: status" "$status" 3
assert_match "probed late, --strict: told" "$(cat "$tmp/stderr")" 'calls in the first .* are not seen'
new_truth
run_acltap record -f --no-stop --strict --lib "${copies[0]}" -o "$tmp/strict.ndjson" -- \
	"$T/dlopen_late" 0 100 "${copies[0]}"
assert_eq "probed before, --strict: status" "$status" 0

odd="$tmp/a b (deleted)"
mkdir "$odd" && cp "$T/jmp/libprofapi.so" "$odd/" &&
	cp "$T/jmp/libmsprofiler.so" "$odd/libmsprofiler.so" || die "cannot copy the library"
late "a folder with blanks, named (deleted)" 3 "$odd/libmsprofiler.so"

# A name that tells nothing, and a symlink to it.
cp "$T/jmp/libmsprofiler.so" "$odd/vendor.bin" && ln -s vendor.bin "$odd/link.so"
late "another file name behind a symlink" 3 "$odd/link.so"

# With --lib the file is known before, and nothing needs to be stopped.
new_truth
run_acltap record --no-stop --lib "$odd/vendor.bin" -o "$tmp/lib.ndjson" -- \
	"$T/dlopen_late" 0 5 "$odd/link.so"
assert_eq "--lib --no-stop: status" "$status" 0
compare_truth "--lib --no-stop: events from the first call on" "$tmp/lib.ndjson"

# The library's file is replaced while a process runs with it: the process has the old one.
mkdir "$tmp/replaced" && cp "$T"/jmp/lib{profapi,msprofiler}.so "$tmp/replaced/"
for how in replaced deleted; do
	new_truth
	LD_LIBRARY_PATH=$tmp/replaced start_target "$T/threads" 5
	wait_for "$LIMIT" grep -q libmsprofiler "/proc/$target/maps" || die "no library mapped"
	rm "$tmp/replaced/libmsprofiler.so"
	[ $how = deleted ] || cp "$T/push/libmsprofiler.so" "$tmp/replaced/"
	attach_and_run -o "$tmp/$how.ndjson"
	assert_eq "library $how: status" "$status/$target_status" 0/0
	compare_truth "library $how: events of the process" "$tmp/$how.ndjson"
done
finish
