#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The .html report of live captures: the same spans and counts as .ndjson, the same numbers as
# acltap stat, where it was recorded; of a capture that broke off it says so.
. "$(dirname "$0")/lib.sh"
need_uprobes

same_as_stat() {	# page, csv of acltap stat
	"$PYTHON" - "$1" "$2" <<'END'
import csv, json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
facts = json.loads(re.search(r'id="facts">(.*?)</script>', page, re.S).group(1))
with open(sys.argv[2], newline="", encoding="utf-8") as file:
    want = list(csv.reader(file, strict=True))[1:]
# The page has name and style first; %.1f of a float that was written with one decimal is the same.
order = [2, 3, 4, 5, 6, 7, 8, 9, 1, 0, 10, 11, 12, 13, 14]
got = [[f"{r[i]:.1f}" if isinstance(r[i], float) else str(r[i]) for i in order] for r in facts["stats"]]
assert want and got == want, (got, want)
END
}

for target in "threads 3" behaviour "crash kill"; do
	name=${target%% *}
	# shellcheck disable=SC2086
	run_acltap record -q -o "$tmp/$name.acltap" -o "$tmp/$name.html" -- $T/$target
	run_acltap export -q "$tmp/$name.acltap" -o "$tmp/$name.ndjson"
	check "$name: the page agrees with the events" \
		"$PYTHON" -B tests/golden/check_html.py "$tmp/$name.html" "$tmp/$name.ndjson"
	run_acltap stat --format csv -o "$tmp/$name.csv" "$tmp/$name.acltap"
	check "$name: the numbers are those of acltap stat" same_as_stat "$tmp/$name.html" "$tmp/$name.csv"
done

facts=$("$PYTHON" -B tests/golden/check_html.py --dump "$tmp/threads.html")
assert_match "the kernel is told" "$facts" "^\"kernel\":\"$(uname -r | sed 's/[.+]/\\&/g') $(uname -m)\""
assert_match "and the host" "$facts" "^\"host\":\"$(uname -n)\""
assert_match "and the command" "$facts" '"cmdline":"[^"]*threads 3"'
assert_match "a whole capture is complete" "$facts" '^"complete":true'

size=$(stat -c %s "$tmp/threads.acltap")
head -c $((size - 40)) "$tmp/threads.acltap" >"$tmp/broken.acltap"
run_acltap export -q "$tmp/broken.acltap" -o "$tmp/broken.html"
facts=$("$PYTHON" -B tests/golden/check_html.py --dump "$tmp/broken.html")
assert_match "one that broke off is not" "$facts" '^"complete":false'
finish
