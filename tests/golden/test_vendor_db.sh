#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The vendor's database and ours for the same calls.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if ! "$O/san/golden" --write "$tmp/x.db" tests/golden/empty.ev 2>/dev/null; then
	printf 'ok 1 - vendor db # SKIP built without libsqlite3\n1..1\n'
	exit 0
fi
"$O/san/golden" --write "$tmp/ours.db" tests/golden/scenario.ev
python3 -B tests/golden/compare_db.py tests/golden/vendor/msprof.db "$tmp/ours.db"
