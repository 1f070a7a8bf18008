#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The formats that are no text, as text: every event script of this folder as database, as Perfetto
# trace and as page, dumped and compared with CASE.db.txt, CASE.pftrace.txt and CASE.html.txt. Traces
# and pages are also checked against the .ndjson of the same script, and traces decoded by protoc
# with our .proto.
# With --update writes the expected files, to be read before they are committed.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
here=tests/golden
n=0 failed=0

result() {	# status, name
	n=$((n + 1))
	[ "$1" -eq 0 ] || failed=1
	[ "$1" -eq 0 ] && echo "ok $n - $2" || echo "not ok $n - $2"
}

skip() {	# name, reason
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

compare() {	# name, expected file: with the dump
	local status=0
	if [ "${update-}" ]; then
		cp "$tmp/dump" "$2"
	else
		diff -u "$2" "$tmp/dump" >"$tmp/diff" || status=1
		sed 's/^/# /' "$tmp/diff"
	fi
	result $status "$1"
}

database() {	# case
	"$O/san/golden" --write "$tmp/x.db" "$here/$1.ev" >&2 || { result 1 "$1.db"; return; }
	python3 $here/dump_db.py "$tmp/x.db" >"$tmp/dump" 2>&1 || true	# the difference tells
	compare "$1.db" "$here/$1.db.txt"
}

trace() {	# case
	local status=0
	"$O/san/golden" --write "$tmp/x.pftrace" "$here/$1.ev" >&2 || { result 1 "$1.pftrace"; return; }
	python3 $here/check_pftrace.py --dump "$tmp/x.pftrace" >"$tmp/dump" 2>&1 || true
	compare "$1.pftrace" "$here/$1.pftrace.txt"
	python3 $here/check_pftrace.py "$tmp/x.pftrace" "$here/$1.ndjson" >"$tmp/log" 2>&1 || status=1
	sed 's/^/# /' "$tmp/log"
	result $status "$1.pftrace agrees with the events"
	if command -v protoc >/dev/null; then
		status=0
		protoc --decode=pf.Trace -Iuser sink/perfetto.proto <"$tmp/x.pftrace" >"$tmp/text" || status=1
		# A field that the .proto does not have is printed by its number.
		! grep -qE '^ *[0-9]+[: ]' "$tmp/text" || status=1
		result $status "$1.pftrace is decoded by protoc"
	else
		skip "$1.pftrace is decoded by protoc" "no protoc"
	fi
}

page() {	# case
	local status=0
	"$O/san/golden" --write "$tmp/x.html" "$here/$1.ev" >&2 || { result 1 "$1.html"; return; }
	python3 $here/check_html.py --dump "$tmp/x.html" >"$tmp/dump" 2>&1 || true
	compare "$1.html" "$here/$1.html.txt"
	python3 $here/check_html.py "$tmp/x.html" "$here/$1.ndjson" >"$tmp/log" 2>&1 || status=1
	sed 's/^/# /' "$tmp/log"
	result $status "$1.html agrees with the events"
}

has() {	# suffix: is the format built in?
	"$O/san/golden" --write "$tmp/probe.$1" $here/empty.ev 2>/dev/null
}

[ "${1-}" != --update ] || update=1
for script in $here/*.ev; do
	name=$(basename "$script" .ev)
	if has db; then
		database "$name"
	else
		skip "$name.db" "built without libsqlite3"
	fi
	if has pftrace; then
		trace "$name"
	else
		skip "$name.pftrace" "built without libprotobuf-c"
	fi
	page "$name"
done
echo "1..$n"
exit $failed
