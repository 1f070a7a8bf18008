#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each fuzz target on what once broke it, then on inputs that libFuzzer makes, FUZZ_SECONDS each and
# two at a time. An input that breaks one is kept in $O/fuzz/found; put it into regress/TARGET/.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${O:=build}" "${FUZZ_SECONDS:=30}"
F=$O/fuzz
here=tests/fuzz
seed=${FUZZ_SEED:-$((RANDOM + 1))}
n=0 failed=0

result() {	# ok|"not ok", text, file to show of a failure
	n=$((n + 1))
	echo "$1 $n - $2"
	[ "$1" = ok ] && return
	failed=1
	tail -n 40 "$3" | sed 's/^/#   /'
}

targets=("$F"/fuzz_*)
targets=("${targets[@]##*/}")
if [ ! -e "$F/${targets[0]}" ]; then
	echo "ok 1 - fuzz # SKIP no libFuzzer"
	exit 0
fi
echo "# seed $seed (FUZZ_SEED), $FUZZ_SECONDS s each (FUZZ_SECONDS)"

corpus() {	# target: its folder of seeds, made anew unless it was kept
	local dir=$F/corpus/$1
	mkdir -p "$dir" || return 1
	case $1 in
	fuzz_elfsym) "$O/san/seed_elfsym" "$dir" ;;
	fuzz_site) "$O/san/seed_site" "$dir" "$O"/targets/{jmp,stack,endbr,push}/libmsprofiler.so ;;
	fuzz_capture) "$O/san/seed_capture" capture "$dir" tests/golden/*.ev ;;
	fuzz_wire) "$O/san/seed_capture" wire "$dir" tests/golden/*.ev ;;
	fuzz_evscript) cp tests/golden/*.ev "$dir" ;;
	fuzz_maps) cp /proc/self/maps "$dir/own" &&
		printf '%s\n' '7f00-8f00 r-xp 00000000 08:01 42 /a b/lib.so (deleted)' \
			'1000-2000 rwxs ffff0000 00:28 7    /a\012b' '2-1 r' >"$dir/odd" ;;
	fuzz_ktypes) types_of "$O"/gen/follow.bpf.o >"$dir/follow" &&
		types_of "$O"/gen/events.bpf.o >"$dir/events" ;;
	*) false ;;
	esac
}

types_of() {	# object file: its section .BTF
	local offset size
	read -r offset size < <(readelf -SW "$1" | sed -nE 's/.* \.BTF +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) .*/\1 \2/p')
	tail -c "+$((16#$offset + 1))" "$1" | head -c "$((16#$size))"
}

max_len() {
	case $1 in
	fuzz_site) echo 512 ;;
	fuzz_elfsym | fuzz_capture | fuzz_ktypes) echo 16384 ;;
	*) echo 8192 ;;
	esac
}

attack() {	# target: in the background; the output in $F/log/TARGET
	"$F/$1" -max_total_time="$FUZZ_SECONDS" -seed="$seed" -max_len="$(max_len "$1")" -timeout=20 \
		-rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$F/found/$1-" \
		"$F/corpus/$1" >"$F/log/$1" 2>&1 </dev/null
	echo $? >"$F/log/$1.status"
}

numbers() {	# target: what its log says in the end
	awk '/^stat::number_of_executed_units/ { runs = $2 }
		/^stat::average_exec_per_sec/ { speed = $2 }
		/ cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
		END { print runs + 0 " runs, " speed + 0 " a second, " cov + 0 " edges" }' "$F/log/$1"
}

mkdir -p "$F/found" "$F/log" || exit 1
for t in "${targets[@]}"; do
	if corpus "$t" >"$F/log/$t" 2>&1; then
		result ok "$t: seeds"
	else
		result "not ok" "$t: seeds" "$F/log/$t"
		continue
	fi
	shopt -s nullglob
	known=("$here/regress/$t"/*)
	shopt -u nullglob
	[ ${#known[@]} -gt 0 ] || continue
	if "$F/$t" -timeout=20 -rss_limit_mb=1024 "${known[@]}" >"$F/log/$t" 2>&1; then
		result ok "$t: ${#known[@]} known inputs"
	else
		result "not ok" "$t: known inputs" "$F/log/$t"
	fi
done

for ((i = 0; i < ${#targets[@]}; i += 2)); do
	for t in "${targets[@]:i:2}"; do
		attack "$t" &
	done
	wait
	for t in "${targets[@]:i:2}"; do
		if [ "$(cat "$F/log/$t.status")" -eq 0 ] && [ "$(numbers "$t" | cut -d' ' -f1)" -gt 0 ]; then
			result ok "$t: nothing found"
			echo "#   $(numbers "$t")"
		else
			result "not ok" "$t: broken by a file in $F/found" "$F/log/$t"
		fi
	done
done
echo "1..$n"
exit $failed
