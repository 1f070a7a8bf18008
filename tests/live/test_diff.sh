#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# acltap diff: two runs of one program, of which the second sleeps longer than the first took; every
# number against the events and a rank test written another way; the gate; captures that are spoilt.
. "$(dirname "$0")/lib.sh"
need_uprobes
HEADER='Change,Med (%),Avg (%),P,Med A (ns),Med B (ns),Avg A (ns),Avg B (ns),Instances A,Instances B,Total A (ns),Total B (ns),Style,Range'

cat >"$tmp/work.py" <<'END'
import sys, time
import acl
seconds, other = float(sys.argv[1]), sys.argv[2]
def ranged(name, seconds=0):
    stamp = acl.prof.create_stamp()
    acl.prof.set_stamp_trace_message(stamp, name, len(name))
    acl.prof.push(stamp)
    if seconds:
        time.sleep(seconds)
    acl.prof.pop()
    acl.prof.destroy_stamp(stamp)
for i in range(25):
    ranged("work", seconds)
    ranged("steady")
    ranged("\x1b[31mred\x07", seconds)
    if i < 10:
        ranged("ten", seconds)
    if i < 4:
        ranged("few", seconds)
ranged(other)
END

# ---- Two runs: a sleep is never shorter than asked for, so the second is slower in any case -----
run_acltap record -o "$tmp/a.acltap" -o "$tmp/a.ndjson" -- "$PYTHON" "$tmp/work.py" 0 before
assert_eq "the first run" "$status" 0
seconds=$("$PYTHON" -c 'import json, sys
print(2 * max(e["duration_ns"] for e in map(json.loads, open(sys.argv[1])) if e.get("duration_ns")) / 1e9)' \
	"$tmp/a.ndjson")
run_acltap record -o "$tmp/after" -- "$PYTHON" "$tmp/work.py" "$seconds" after
assert_eq "the second run, $seconds s slower" "$status" 0
run_acltap export "$tmp/after" -q -o "$tmp/b.ndjson"
assert_eq "its events" "$status" 0

run_acltap diff "$tmp/a.acltap" "$tmp/after" --format csv
assert_eq "csv: status" "$status" 0
assert_eq "csv: nothing on stderr" "$(cat "$tmp/stderr")" ""
assert_eq "csv: the header" "$(head -n 1 "$tmp/stdout")" "$HEADER"
cp "$tmp/stdout" "$tmp/d.csv"
cat >"$tmp/expect.py" <<'END'
import csv, json, math, statistics, sys
from itertools import combinations

def rank_test(a, b):
    n, m = len(a), len(b)
    u = sum((y > x) + (y == x) / 2 for x in a for y in b)
    ties = [(a + b).count(v) for v in set(a + b)]
    if n + m <= 30:     # every choice of n of the ranks
        order = sorted(a + b)
        rank = [order.index(v) + (order.count(v) + 1) / 2 for v in order]
        middle = n * (n + m + 1) / 2
        got = abs(sum(order.index(v) + (order.count(v) + 1) / 2 for v in a) - middle)
        far = [abs(sum(c) - middle) >= got for c in combinations(rank, n)]
        return u, sum(far) / len(far)
    variance = n * m / 12 * (n + m + 1 - sum(t ** 3 - t for t in ties) / ((n + m) * (n + m - 1)))
    distance = abs(u - n * m / 2) - 0.5
    return u, math.erfc(distance / math.sqrt(2 * variance)) if distance > 0 and variance else 1

def durations(path):
    names = {}
    for e in map(json.loads, open(path, encoding="utf-8")):
        if e["kind"] == "push/pop":
            names.setdefault(e["name"], []).append(e["duration_ns"])
    return names

a, b = durations(sys.argv[2]), durations(sys.argv[3])
rows = {r["Range"]: r for r in csv.DictReader(open(sys.argv[1], encoding="utf-8", newline=""), strict=True)}
assert rows.keys() == a.keys() | b.keys(), rows.keys()
both = [name for name in a if name in b]
tested = sorted((rank_test(a[n], b[n])[1], n) for n in both if min(len(a[n]), len(b[n])) >= 10)
assert len(tested) == 4, tested
p = {name: min(q * len(tested) / (j + 1) for j, (q, _) in enumerate(tested) if j >= i)
     for i, (_, name) in enumerate(tested)}
for name, row in rows.items():
    assert row["Style"] == "PushPop"
    for side, values in ("A", a.get(name)), ("B", b.get(name)):
        assert int(row[f"Instances {side}"]) == len(values or []), (name, row)
        assert int(row[f"Total {side} (ns)"]) == sum(values or []), (name, row)
        if values:
            assert abs(float(row[f"Avg {side} (ns)"]) - statistics.mean(values)) < 0.06, (name, row)
            assert abs(float(row[f"Med {side} (ns)"]) - statistics.median(values)) < 0.06, (name, row)
        else:
            assert row[f"Avg {side} (ns)"] == row[f"Med {side} (ns)"] == "", (name, row)
    if name in both:
        for column, of in ("Avg (%)", statistics.mean), ("Med (%)", statistics.median):
            want = 100 * (of(b[name]) - of(a[name])) / of(a[name])
            assert abs(float(row[column]) - want) < 0.06, (name, column, want, row)
    if name in p:
        got = float(row["P"])
        assert abs(got - p[name]) <= 0.006 * p[name], (name, got, p[name])
        u, _ = rank_test(a[name], b[name])
        slower = u > len(a[name]) * len(b[name]) / 2
        want = "unlikely" if p[name] >= 0.01 else "likely slower" if slower else "likely faster"
        assert row["Change"] == want, (name, row, want)
    else:
        assert row["P"] == "", (name, row)
assert [rows[n]["Change"] for n in ("work", "ten", "\x1b[31mred\x07", "few", "before", "after")] == \
    ["likely slower"] * 3 + ["untested", "only A", "only B"], rows
END
check "csv: every number follows from the events" "$PYTHON" "$tmp/expect.py" \
	"$tmp/d.csv" "$tmp/a.ndjson" "$tmp/b.ndjson"

run_acltap diff "$tmp/a.acltap" "$tmp/after" --format json
check "json is read, with the same rows" "$PYTHON" - "$tmp/stdout" "$tmp/d.csv" <<'END'
import csv, json, sys
got = json.load(open(sys.argv[1], encoding="utf-8"))
want = list(csv.DictReader(open(sys.argv[2], encoding="utf-8", newline=""), strict=True))
assert len(got) == len(want) == 7
for a, b in zip(got, want):
    assert list(a) == list(b)
    for k in a:
        assert a[k] is None and b[k] == "" or a[k] == (b[k] if isinstance(a[k], str) else float(b[k])), (k, a[k], b[k])
END
run_acltap diff "$tmp/a.acltap" "$tmp/after"
assert_match "table: likely ones first" "$(sed -n 3p "$tmp/stdout")" '^likely slower +\+[0-9.]+ .* PushPop  (work|ten|.x1b.*)$'
check "table: no control character reaches a terminal" \
	bash -c '! LC_ALL=C grep -qP "[\x00-\x08\x0b-\x1f\x7f]" "$0"' "$tmp/stdout"
assert_match "table: what they would do is shown" "$(cat "$tmp/stdout")" 'x1b\[31mred\\x07$'

# ---- The gate -------------------------------------------------------------------------------------
gate() {	# name, status, arguments of diff
	local name=$1 want=$2
	shift 2
	run_acltap diff "$@" -o /dev/null
	assert_eq "gate: $name" "$status" "$want"
}
gate "slower" 1 "$tmp/a.acltap" "$tmp/after" -m work --fail-over 10%
assert_match "gate: the name is told" "$(cat "$tmp/stderr")" "^acltap: 'work' \(PushPop\) is slower by [0-9.]+ %: median "
assert_match "gate: the end" "$(cat "$tmp/stderr")" '^acltap: 1 of 1 names tested is slower by more than 10 %$'
gate "by the mean" 1 "$tmp/a.acltap" "$tmp/after" -m work --fail-over 10% --fail-on avg
gate "slower, but not so much" 0 "$tmp/a.acltap" "$tmp/after" -m work --fail-over 100000000%
gate "faster" 0 "$tmp/after" "$tmp/a.acltap" -m work --fail-over 0
gate "too few, and nothing else" 1 "$tmp/a.acltap" "$tmp/after" -m few --fail-over 10%
assert_match "gate: nothing to test is told" "$(cat "$tmp/stderr")" 'nothing to test'
gate "four, all of them slower" 0 "$tmp/a.acltap" "$tmp/after" -m few --fail-over 10% --min-instances 2
gate "only in A and in B beside it" 1 "$tmp/a.acltap" "$tmp/after" --exclude 'steady' --exclude '*red*' --fail-over 10%
gate "not as many as asked for" 1 "$tmp/a.acltap" "$tmp/after" --min-instances 1000 --fail-over 10%
gate "a hostile name" 1 "$tmp/a.acltap" "$tmp/after" -m '*red*' --fail-over 10%
assert_match "gate: a hostile name is told as text" "$(cat "$tmp/stderr")" "^acltap: '.x1b\[31mred.x07' \(PushPop\) is slower"
gate "the same file twice" 0 "$tmp/a.acltap" "$tmp/a.acltap" --fail-over 0 --strict
run_acltap diff "$tmp/a.acltap" "$tmp/a.acltap" --format csv
assert_eq "the same file twice: no change anywhere" \
	"$(tail -n +2 "$tmp/stdout" | cut -d, -f1-4 | sort -u | xargs)" "unlikely,0.0,0.0,1 untested,0.0,0.0,"

# ---- Filters, order, outputs ----------------------------------------------------------------------
names() {
	tail -n +2 "$tmp/stdout" | cut -d, -f14 | xargs
}
run_acltap diff "$tmp/a.acltap" "$tmp/after" --format csv --exclude '*red*' --sort name
assert_eq "--exclude, --sort name" "$(names)" "after before few steady ten work"
run_acltap diff "$tmp/a.acltap" "$tmp/after" --format csv --sort instances --top 1 -m work -m few
assert_eq "--sort instances --top 1" "$(names)" "work"
run_acltap diff "$tmp/a.acltap" "$tmp/after" --format csv --min-duration 1d
assert_eq "--min-duration: the header alone" "$(cat "$tmp/stdout")" "$HEADER"
run_acltap diff "$tmp/a.acltap" "$tmp/after" --format csv --from 1d
assert_eq "--from: the header alone" "$(cat "$tmp/stdout")" "$HEADER"
run_acltap diff "$tmp/a.acltap" "$tmp/after" --format csv --pid 1
assert_eq "--pid of nobody: the header alone" "$(cat "$tmp/stdout")" "$HEADER"
run_acltap diff "$tmp/a.acltap" "$tmp/after" --format csv --by category
assert_match "--by category" "$(cat "$tmp/stdout")" ',90,90,.*,PushPop,0$'
run_acltap diff "$tmp/a.acltap" "$tmp/after" --format csv -o "$tmp/out.csv"
assert_eq "-o: the same" "$(cksum <"$tmp/out.csv")" "$(cksum <"$tmp/d.csv")"
run_acltap diff "$tmp/a.acltap" "$tmp/after" -o "$tmp/out.csv"
assert_eq "-o: an existing file is not overwritten" "$status" 1
run_acltap diff "$tmp/a.acltap" "$tmp/after" -f -o "$tmp/out.csv"
assert_eq "-f overwrites" "$status" 0
run_acltap diff "$tmp/a.acltap" "$tmp/after" -o /dev/full
assert_eq "a full disk" "$status" 1
assert_match "a full disk: said" "$(cat "$tmp/stderr")" 'No space left'

# ---- More than is kept of a name: a sample, and always the same one -------------------------------
for run in 1 2; do
	run_acltap record -o "$tmp/many$run.acltap" -- "$T/seed_loops" 2 12000
done
for run in 1 2; do
	run_acltap diff "$tmp/many1.acltap" "$tmp/many2.acltap" --format csv
	cp "$tmp/stdout" "$tmp/many$run.csv"
done
assert_match "many values: all are counted" "$(cat "$tmp/many1.csv")" ',12000,12000,.*,test msprof tx$'
check "many values: the same twice" cmp "$tmp/many1.csv" "$tmp/many2.csv"

# ---- Losses, and captures that are not what they should be ----------------------------------------
run_acltap record --ring-size 4K -o "$tmp/lost.acltap" -- "$T/storm" 2 20000
run_acltap diff "$tmp/a.acltap" "$tmp/lost.acltap"
assert_eq "losses: status" "$status" 0
assert_match "losses are said" "$(cat "$tmp/stderr")" 'calls lost'
assert_match "losses: and in which capture" "$(cat "$tmp/stderr")" "^acltap: warning: in '.*lost\.acltap':$"
run_acltap diff "$tmp/a.acltap" "$tmp/lost.acltap" --strict
assert_eq "losses: --strict" "$status" 3
run_acltap diff "$tmp/lost.acltap" "$tmp/a.acltap" --strict
assert_eq "losses in A: --strict" "$status" 3
head -c 3000 "$tmp/a.acltap" >"$tmp/cut.acltap"
run_acltap diff "$tmp/cut.acltap" "$tmp/after" --format csv
assert_eq "a cut capture: status" "$status" 1
assert_match "a cut capture: said" "$(cat "$tmp/stderr")" "cut\.acltap' is incomplete"
assert_eq "a cut capture: what there is is shown" "$(head -n 1 "$tmp/stdout")" "$HEADER"
cp "$tmp/a.acltap" "$tmp/flip.acltap"
printf '\xff\xff\xff\xff' | dd of="$tmp/flip.acltap" bs=1 seek=1000 conv=notrunc status=none
run_acltap diff "$tmp/after" "$tmp/flip.acltap"
assert_eq "a damaged capture: status" "$status" 1
assert_match "a damaged capture: said" "$(cat "$tmp/stderr")" "flip\.acltap' is damaged"
: >"$tmp/empty"
mkdir "$tmp/folder"
for what in none.acltap empty folder work.py; do
	for order in "$tmp/a.acltap $tmp/$what" "$tmp/$what $tmp/a.acltap"; do
		# shellcheck disable=SC2086
		run_acltap diff $order
		assert_eq "no capture '$what': status" "$status" 1
		assert_eq "no capture '$what': nothing on stdout" "$(cat "$tmp/stdout")" ""
		assert_match "no capture '$what': it is named" "$(cat "$tmp/stderr")" "^acltap: cannot read '.*$what"
	done
done
run_acltap diff "$tmp/a.acltap" "$tmp/none.acltap" -o "$tmp/unborn.csv"
check "no capture: no output file" test ! -e "$tmp/unborn.csv"
for arguments in "" "x" "x y z" "x y --fail-over" "x y --fail-over fast" "x y --fail-over=-5%" \
	"x y --fail-on avg" "x y --fail-over 5% --fail-on max" "x y --min-instances 0" "x y --by thread" \
	"x y --sort size" "x y --format tsv" "x y --to 1s --from 2s" "x y --top 0"; do
	# shellcheck disable=SC2086
	run_acltap diff $arguments
	assert_eq "usage error: diff $arguments" "$status" 2
done
finish
