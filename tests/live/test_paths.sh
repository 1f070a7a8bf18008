#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Output paths that cannot be written are found before anything is recorded; a start that a signal
# ends leaves nothing behind.
. "$(dirname "$0")/lib.sh"
need_uprobes

ran=$tmp/ran
refused() {	# name, status, regular expression of the message, arguments of record
	local name=$1 expected=$2 message=$3
	shift 3
	rm -f "$ran"
	run_acltap record "$@" -- touch "$ran"
	assert_eq "$name: status" "$status" "$expected"
	assert_match "$name: message" "$(cat "$tmp/stderr")" "$message"
	check "$name: the command was not run" test ! -e "$ran"
}

mkdir "$tmp/d.csv" "$tmp/open" "$tmp/target"
chmod 1777 "$tmp/open"
ln -s "$tmp/target/x.csv" "$tmp/open/x.csv"
ln -s "$tmp/target" "$tmp/open/sub"
ln -s "$tmp/target/x.csv" "$tmp/link.csv"
mkfifo "$tmp/pipe.csv"
refused "a directory" 125 "cannot write '.*d\.csv': Is a directory" -o "$tmp/d.csv"
refused "a link in a directory of everybody" 125 "cannot write" -f -o "$tmp/open/x.csv"
refused "through a link in a directory of everybody" 125 "Too many levels of symbolic links" \
	-o "$tmp/open/sub/y.csv"
refused "a link" 125 "cannot write" -f -o "$tmp/link.csv"
refused "a FIFO that nobody reads" 125 "nobody reads that FIFO" -o "$tmp/pipe.csv"
refused "no such directory" 125 "cannot write .*No such file or directory" -o "$tmp/none/x.csv"
refused "the second output" 125 "none/y.json.*No such file" -o "$tmp/x.csv" -o "$tmp/none/y.json"
refused "a directory, and a file that cannot be" 125 "none/y.json.*No such file" -o "$tmp/newdir" \
	-o "$tmp/none/y.json"
check "no directory is left of it" test ! -e "$tmp/newdir"
refused "a suffix in upper case" 2 "they are lower case" -o "$tmp/x.CSV"
refused "--lib with a directory" 125 "cannot look in .*Is a directory" --lib "$tmp/target" \
	-o "$tmp/lib.csv"
if mount -t tmpfs -o ro none "$tmp/target" 2>/dev/null; then
	mounts+=("$tmp/target")
	refused "a read-only file system" 125 "Read-only file system" -o "$tmp/target/x.csv"
	refused "a directory on a read-only file system" 125 "Read-only file system" \
		-o "$tmp/target/run"
fi
start env -i sleep 1000
chmod 700 "$tmp/target" 2>/dev/null
run_acltap record -d 50ms -p "$pid" -o /proc/x.csv
assert_eq "where nobody can create files: status" "$status" 1
assert_eq "nothing is left" "$(find "$tmp" -name '*.acltap' -o -name 'x.*' -type f)" ""

exec 9<>"$tmp/pipe.csv"	# a reader from the first moment on
cat <"$tmp/pipe.csv" >"$tmp/read.csv" 9>&- & reader=$!
run_acltap record -o "$tmp/pipe.csv" -- "$T/seed_loops" all 5
exec 9>&-
wait "$reader"
if [ "$status" -eq 0 ]; then
	assert_eq "a FIFO with a reader: rows" "$(csv_rows "$tmp/read.csv")" 15
else
	not_ok "a FIFO with a reader: status $status" "$(last_words)"
fi

run_acltap record --dry-run -p "$pid"
assert_eq "--dry-run with nothing to probe: status" "$status" 0
assert_match "--dry-run with nothing to probe: says so" "$(cat "$tmp/stdout")" '^nothing to probe'

# Signals while acltap starts. Where it stands then is a matter of luck; what is left is not.
for sig in TERM INT QUIT; do
	for delay in 0.01 0.05 0.1 0.2; do
		dir=$tmp/early.$sig.$delay
		mkdir "$dir"
		timeout --foreground -s "$sig" "$delay" "$ACLTAP" record -d 50ms -p "$pid" -o "$dir/run" \
			>"$tmp/stdout" 2>"$tmp/stderr" </dev/null
		for capture in "$dir"/run/capture.acltap; do
			[ -e "$capture" ] || continue
			"$ACLTAP" export "$capture" -o "$dir/again.csv" 2>>"$tmp/stderr" ||
				not_ok "SIG$sig after $delay s: the capture is whole" "$(last_words)"
		done
		[ -e "$dir/run/capture.acltap" ] || [ ! -e "$dir/run" ] ||
			not_ok "SIG$sig after $delay s: an empty directory is left" "$(last_words)"
	done
	ok "SIG$sig while starting: nothing half begun is left"
done
# The others write no capture: a whole output or none, and a status that says which.
for sig in TERM INT; do
	for delay in 0.01 0.05 0.1 0.2 0.4; do
		for command in "stat --format csv" "trace --json"; do
			out=$tmp/early.out
			# shellcheck disable=SC2086
			timeout --foreground --preserve-status -s "$sig" "$delay" "$ACLTAP" $command -d 50ms \
				-p "$pid" -o "$out" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
			case $?:$(ls "$out" 2>/dev/null) in
			0:"$out") ;;
			1:) grep -q 'ended by a signal before tracing began' "$tmp/stderr" ||
				not_ok "$command, SIG$sig after $delay s: said" "$(last_words)" ;;
			143: | 130:) ;;	# before it could begin to watch
			*) not_ok "$command, SIG$sig after $delay s" "$(ls -l "$out" 2>&1; last_words)" ;;
			esac
			rm -f "$out"
		done
	done
	ok "SIG$sig while stat and trace start: a whole output or none"
done
# One that has come already when acltap starts, and waits to be delivered.
for command in record stat trace; do
	"$PYTHON" - "$ACLTAP" $command -d 50ms -p "$pid" -o "$tmp/pending.csv" 2>"$tmp/stderr" <<'END'
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
os.kill(os.getpid(), signal.SIGTERM)
os.execv(sys.argv[1], sys.argv[1:])
END
	assert_eq "$command, a signal from before: status" "$?" 1
	assert_match "$command, a signal from before: said" "$(cat "$tmp/stderr")" \
		'ended by a signal before tracing began'
	check "$command, a signal from before: no output" test ! -e "$tmp/pending.csv"
done
# A command that is held for them does not stay.
for command in stat trace; do
	for delay in 0.05 0.1 0.2 0.4; do
		timeout --foreground --preserve-status -s TERM "$delay" "$ACLTAP" $command -o "$tmp/held.out" -- \
			sleep 98765 >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
		rm -f "$tmp/held.out"
	done
done
check_no_sleep() { ! pgrep -f '^sleep 98765$'; }
check "no command is left behind" wait_for "$LIMIT" check_no_sleep
finish
