# SPDX-License-Identifier: GPL-2.0-only
# For the live tests: TAP output, a folder that goes away, processes that end with the test.
# A test sources it, calls need_*, prints results through ok, not_ok and check_*, ends with finish.
# Variables: ACLTAP (the tool), T (folder of the targets), tmp (scratch folder), status, and the
# files $tmp/stdout and $tmp/stderr of the last run_acltap. Waits are time-outs, never verdicts.
# shellcheck shell=bash
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || exit 1
cd "$ROOT" || exit 1
case ${O:=build} in
/*) ;;
*) O=$ROOT/$O ;;
esac
ACLTAP=$O/acltap
T=$O/targets
SRC=$ROOT/tests/targets
PYTHON=/usr/bin/python3
LIMIT=${ACLTAP_TEST_LIMIT:-120}	# seconds until something counts as hung

n_tests=0 n_failed=0
background=()
mounts=()
tmp=$(mktemp -d) || exit 1
# Launched programs may run as somebody else, or trace logs be written by a child.
chmod 755 "$tmp"

cleanup() {
	local pid dir
	for pid in "${background[@]:+${background[@]}}"; do
		kill -CONT "$pid" 2>/dev/null
		kill -KILL "$pid" 2>/dev/null
	done
	for dir in "${mounts[@]:+${mounts[@]}}"; do
		umount "$dir" 2>/dev/null
	done
	rm -rf "$tmp"
}
trap cleanup EXIT

ok() {
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $1"
}

not_ok() {	# name, then lines that help to understand it
	n_tests=$((n_tests + 1)) n_failed=$((n_failed + 1))
	echo "not ok $n_tests - $1"
	shift
	printf '%s\n' "$@" | sed 's/^/#   /'
}

skip() {	# ends the whole test
	echo "ok $((n_tests + 1)) - $(basename "$0" .sh) # SKIP $1"
	exit 0
}

skip_one() {	# name, reason
	n_tests=$((n_tests + 1))
	echo "ok $n_tests - $1 # SKIP $2"
}

finish() {
	echo "1..$n_tests"
	exit $((n_failed > 0))
}

die() {	# the test itself cannot go on
	not_ok "$*" "$(last_words)"
	finish
}

last_words() {
	tail -n 15 "$tmp/stderr" 2>/dev/null
}

check() {	# name, command...: ok when the command succeeds
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "command: $*" "$(tail -n 25 <<<"$out")"
	fi
}

assert_eq() {	# name, got, expected
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:      $2" "expected: $3" "$(last_words)"
	fi
}

assert_match() {	# name, text, extended regular expression
	if grep -qE -- "$3" <<<"$2"; then
		ok "$1"
	else
		not_ok "$1" "no match for: $3" "in: $(tail -n 15 <<<"$2")"
	fi
}

need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

need_uprobes() {
	need_root
	[ -x "$ACLTAP" ] || die "$ACLTAP is not built"
	"$ACLTAP" check >"$tmp/stdout" 2>"$tmp/stderr" || skip "acltap check says this machine cannot trace"
}

run_acltap() {	# arguments of acltap; sets status; 124 = hung
	timeout --foreground -k 10 "$LIMIT" "$ACLTAP" "$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
	status=$?
}

wait_for() {	# seconds, command...: until it succeeds; 1 when the time is over
	local until=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.05
	done
}

is_gone() {	# PID, also true of a zombie
	local state
	state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) || return 0
	[ -z "$state" ] || [ "$state" = Z ]
}

start() {	# command...: in the background, killed at the end; sets pid
	"$@" </dev/null &
	pid=$!
	background+=("$pid")
}

reap() {	# PID: waits for it; sets status; 124 = hung
	if wait_for "$LIMIT" is_gone "$1"; then
		wait "$1"
		status=$?
	else
		status=124
	fi
}

# Starts a target that waits for release, with a truth log; sets target.
start_target() {	# command...
	rm -f "$tmp/go"
	mkfifo "$tmp/go" || exit 1
	ACLTAP_WAIT=$tmp/go ACLTAP_TRUTH=${truth-} start "$@" 2>"$tmp/target.err"
	target=$pid
}

release() {
	timeout "$LIMIT" bash -c 'echo go >"$0"' "$tmp/go"
}

# Starts acltap in the background and waits until it traces; sets tracer.
start_tracer() {	# arguments of acltap
	: >"$tmp/stderr"	# else the line of an earlier run would be found
	"$ACLTAP" "$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null &
	tracer=$!
	background+=("$tracer")
	wait_for "$LIMIT" grep -q '^acltap: tracing' "$tmp/stderr" || die "acltap does not trace"
}

# Attaches to the waiting target, lets it go and waits for both; sets status (acltap's) and
# target_status. Arguments: of acltap record.
attach_and_run() {
	start_tracer record -p "$target" "$@"
	release
	reap "$target"
	target_status=$status
	reap "$tracer"
}

# One that runs before ($before: 5 of each) and one that starts later ($later: 6), both of the name
# that is traced, and one of another. The tracer goes on.
trace_wanted() {	# events
	cp "$T/seed_loops" "$tmp/wanted_loops"
	start_target "$tmp/wanted_loops" all 5
	before=$target
	start_tracer record -n 'wanted_*' -o "$1"
	release
	reap "$before"
	"$tmp/wanted_loops" all 6 & later=$!
	wait "$later"
	"$T/seed_loops" all 100
}

new_truth() {	# a fresh truth log, named to the targets
	truth=$tmp/truth.$((++truths)).tsv
	: >"$truth"
	export ACLTAP_TRUTH=$truth
}
truths=0

compare_truth() {	# name, events file; the truth is that of the last new_truth
	check "$1" "$PYTHON" "$SRC/compare_truth.py" "$truth" "$2"
}

csv_rows() {	# file [column value]: rows after the header, read by a strict CSV reader
	"$PYTHON" - "$@" <<'END'
import csv, sys
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    rows = list(csv.DictReader(file, strict=True))
if len(sys.argv) > 2:
    rows = [row for row in rows if row[sys.argv[2]].rstrip("\t") == sys.argv[3]]
print(len(rows))
END
}

# Sums over an .ndjson: rows of the kinds that are events, `count` of the others.
events_count() {	# file kind [field value]...
	"$PYTHON" - "$@" <<'END'
import json, sys
path, kind, *wanted = sys.argv[1:]
total = 0
with open(path, encoding="utf-8") as file:
    for row in map(json.loads, file):
        if row["kind"] == kind and all(
                str(row.get(field)) == value for field, value in zip(wanted[::2], wanted[1::2])):
            total += row["count"] if "count" in row else 1
print(total)
END
}

no_orphans() {
	"$PYTHON" -B -c '
import sys
sys.path.insert(0, "tests/soak")
import soak
left = soak.orphans()
print(*left)
sys.exit(bool(left))'
}

# No BPF program of acltap's is there that nobody holds; others on this machine may trace meanwhile.
check_nothing_attached() {	# name
	if ! PATH=$PATH:/usr/sbin:/usr/local/sbin command -v bpftool >/dev/null; then
		skip_one "$1" "there is no bpftool"
	elif wait_for "$LIMIT" no_orphans; then	# they are freed a little after their last holder
		ok "$1"
	else
		not_ok "$1" "programs that nobody holds: $(no_orphans 2>&1)"
	fi
}

use_form() {	# jmp, stack, endbr or push
	export LD_LIBRARY_PATH=$T/$1 PYTHONPATH=$T
}
use_form jmp
