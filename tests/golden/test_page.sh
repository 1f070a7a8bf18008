#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The .html report in a real browser.
set -eu
cd "$(dirname "$0")/../.."
if ! command -v chromium >/dev/null; then
	echo "ok 1 - the report in a browser # SKIP no chromium"
	echo "1..1"
	exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -B tests/golden/page_test.py "$O/san/golden" "$tmp"
