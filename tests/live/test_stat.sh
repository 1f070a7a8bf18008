#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# acltap stat (S8, S9, S21, S51): of a capture, of a running process, of a command; against the
# truth that the program wrote, in every format, with filters; and where its output goes.
. "$(dirname "$0")/lib.sh"
need_uprobes
HEADER='Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range,P95 (ns),P99 (ns),Self (ns),Unfinished,Uncertain'

field() {	# csv style name column: by a strict reader, as a script for nsys would
	"$PYTHON" - "$@" <<'END'
import csv, sys
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    for row in csv.DictReader(file, strict=True):
        if row["Style"] == sys.argv[2] and row["Range"] == sys.argv[3]:
            print(row[sys.argv[4]])
END
}

# ---- A capture, against the truth: every number is within what the calls can have taken --------
new_truth
run_acltap record -o "$tmp/t.acltap" -o "$tmp/t.ndjson" -- "$T/threads"
assert_eq "record: status" "$status" 0
compare_truth "record: the truth" "$tmp/t.ndjson"
run_acltap stat "$tmp/t.acltap" --format csv
assert_eq "csv: status" "$status" 0
assert_eq "csv: nothing on stderr" "$(cat "$tmp/stderr")" ""
assert_eq "csv: the header" "$(head -n 1 "$tmp/stdout")" "$HEADER"
cp "$tmp/stdout" "$tmp/t.csv"
check "csv: every number follows from the events" "$PYTHON" - "$tmp/t.csv" "$tmp/t.ndjson" <<'END'
import csv, json, statistics, sys
styles = {"push/pop": "PushPop", "start/end": "StartEnd", "marker": "Marker", "marker_ex": "Marker"}
events = [e for e in map(json.loads, open(sys.argv[2], encoding="utf-8")) if e["kind"] in styles]
groups, inside = {}, {}
for e in events:
    if e["kind"] == "push/pop" and e["parent"] is not None:
        inside[e["parent"]] = inside.get(e["parent"], 0) + e["duration_ns"]
for number, e in enumerate(events):
    own = e["duration_ns"] - inside.get(number, 0)
    groups.setdefault((styles[e["kind"]], e["name"]), []).append((e["duration_ns"], own))
rows = {(r["Style"], r["Range"]): r for r in csv.DictReader(open(sys.argv[1], newline=""), strict=True)}
assert rows.keys() == groups.keys(), rows.keys() ^ groups.keys()
everything = sum(d for g in groups.values() for d, _ in g)
for key, group in groups.items():
    d, row, n = sorted(d for d, _ in group), rows[key], len(group)
    rank = lambda p: d[-(-n * p // 100) - 1]
    for column, want in {
            "Total Time (ns)": sum(d), "Instances": n, "Min (ns)": d[0], "Max (ns)": d[-1],
            "P95 (ns)": rank(95), "P99 (ns)": rank(99), "Self (ns)": sum(o for _, o in group),
            "Unfinished": 0, "Uncertain": 0}.items():
        assert int(row[column]) == want, (key, column, row[column], want)
    for column, want in {
            "Time (%)": 100 * sum(d) / everything, "Avg (ns)": statistics.mean(d),
            "Med (ns)": statistics.median(d), "StdDev (ns)": statistics.stdev(d)}.items():
        assert abs(float(row[column]) - want) < 0.06, (key, column, row[column], want)
END

run_acltap stat "$tmp/t.acltap" --format json
check "json is read, with the same rows" "$PYTHON" - "$tmp/stdout" "$tmp/t.csv" <<'END'
import csv, json, sys
got = json.load(open(sys.argv[1], encoding="utf-8"))
want = list(csv.DictReader(open(sys.argv[2], newline=""), strict=True))
assert [r["Range"] for r in got] == [r["Range"] for r in want]
for a, b in zip(got, want):
    assert list(a) == list(b)
    for k in a:
        assert a[k] == (b[k] if isinstance(a[k], str) else float(b[k])), (k, a[k], b[k])
END
run_acltap stat "$tmp/t.acltap" --hist
assert_match "table: a header and a line under it" "$(sed -n 2p "$tmp/stdout")" '^-+  -+'
assert_match "table: a histogram" "$(cat "$tmp/stdout")" '^ +[0-9.]+ [nmu]?s \.\. .*\|#+ *\| [0-9]'
assert_eq "table: no trailing blanks" "$(grep -c ' $' "$tmp/stdout")" 0

# ---- Filters, grouping, order -------------------------------------------------------------------
run_acltap stat "$tmp/t.acltap" --format csv -m 'o*' -m copy --exclude '* [1-9]'
assert_eq "-m and --exclude" "$(tail -n +2 "$tmp/stdout" | cut -d, -f10 | sort | xargs)" "copy over 0"
assert_eq "a filter leaves the numbers alone" "$(field "$tmp/stdout" PushPop copy 'Total Time (ns)')" \
	"$(field "$tmp/t.csv" PushPop copy 'Total Time (ns)')"
run_acltap stat "$tmp/t.acltap" --format csv -m step
assert_eq "self time does not depend on what is shown" "$(field "$tmp/stdout" PushPop step 'Self (ns)')" \
	"$(field "$tmp/t.csv" PushPop step 'Self (ns)')"
run_acltap stat "$tmp/t.acltap" --format csv --min-duration 1us
assert_eq "--min-duration leaves no mark" "$(grep -c Marker "$tmp/stdout")" 0
run_acltap stat "$tmp/t.acltap" --format csv --pid 1
assert_eq "--pid of nobody: the header alone" "$(cat "$tmp/stdout")" "$HEADER"
run_acltap stat "$tmp/t.acltap" --format csv --from 1d
assert_eq "--from behind the end: the header alone" "$(cat "$tmp/stdout")" "$HEADER"
run_acltap stat "$tmp/t.acltap" --format csv --to 1d
assert_eq "--to behind the end: all" "$(cksum <"$tmp/stdout")" "$(cksum <"$tmp/t.csv")"
run_acltap stat "$tmp/t.acltap" --format csv --to 0
assert_eq "--to 0, the beginning: the header alone" "$(cat "$tmp/stdout")" "$HEADER"
run_acltap stat "$tmp/t.acltap" --format csv --ranks
assert_eq "--ranks without ranks: nothing but their number" \
	"$(tail -n +2 "$tmp/stdout" | cut -d , -f 16- | sort -u)" 0,,,,,,,,
run_acltap stat "$tmp/t.acltap" --format csv --sort name --top 2
assert_eq "--sort name --top 2" "$(tail -n +2 "$tmp/stdout" | cut -d, -f10 | xargs)" "between bottom"
tid=$("$PYTHON" -c 'import json, sys
print(next(e["start_tid"] for e in map(json.loads, open(sys.argv[1])) if e["kind"] == "push/pop"))' \
	"$tmp/t.ndjson")
run_acltap stat "$tmp/t.acltap" --format csv --by thread
assert_match "--by thread" "$(cat "$tmp/stdout")" "PushPop,\"?[0-9]+/$tid"
run_acltap stat "$tmp/t.acltap" --format csv --by thread --tid "$tid"
assert_eq "--tid: push/pop of that thread alone" "$(grep -c PushPop "$tmp/stdout")" 1
run_acltap stat "$tmp/t.acltap" --format csv --by process
assert_match "--by process" "$(cat "$tmp/stdout")" 'PushPop,[0-9]+ threads,'
run_acltap stat "$tmp/t.acltap" --format csv --by category
assert_match "--by category" "$(cat "$tmp/stdout")" 'PushPop,0,'
run_acltap export "$tmp/t.acltap" -q -m 'copy' --tid "$tid" -o "$tmp/copy.csv"
assert_eq "export takes the same filters" "$(csv_rows "$tmp/copy.csv")" \
	"$(csv_rows "$tmp/copy.csv" message copy)"
assert_eq "export: of one thread" "$(csv_rows "$tmp/copy.csv" tid "$tid")" 50

# ---- A command ----------------------------------------------------------------------------------
run_acltap stat --format csv -o - -- "$T/seed_loops" all 100
assert_eq "-- CMD -o -: status" "$status" 0
assert_eq "-- CMD -o -: data on stdout" "$(head -n 1 "$tmp/stdout")" "$HEADER"
for style in PushPop StartEnd Marker; do
	assert_eq "one name in three styles: $style" \
		"$(field "$tmp/stdout" $style 'test msprof tx' Instances)" 100
done
run_acltap stat -- "$T/seed_loops" 3 100
assert_eq "start/end alone: nothing on stdout" "$(cat "$tmp/stdout")" ""
assert_match "start/end alone: the table on stderr" "$(cat "$tmp/stderr")" ' 100 .* StartEnd '
printf ... >"$tmp/in"
timeout "$LIMIT" "$ACLTAP" stat -q --format csv -o "$tmp/r.csv" -- "$T/steps" <"$tmp/in" \
	>"$tmp/stdout" 2>"$tmp/stderr"
assert_eq "recursion: status" "$?" 0
assert_eq "the command's own output is not ours" "$(xargs <"$tmp/stdout")" "1 2 3"
assert_eq "recursion: A twice a step" "$(field "$tmp/r.csv" PushPop A Instances)" 6
check "recursion: self times add up to the outermost" "$PYTHON" - "$tmp/r.csv" <<'END'
import csv, sys
rows = {r["Range"]: r for r in csv.DictReader(open(sys.argv[1], newline=""))}
own = int(rows["A"]["Self (ns)"]) + int(rows["B"]["Self (ns)"])
# Twice in A is once too often: both together are what the outermost took.
assert own < int(rows["A"]["Total Time (ns)"]) < 2 * own, rows
END
run_acltap stat -- "$T/short"
assert_eq "the command's status" "$status" 7
run_acltap stat -o "$tmp/r.csv" -- "$T/short"
assert_eq "an existing file is not overwritten" "$status" 125
run_acltap stat -f -o "$tmp/r.csv" -- "$T/short"
assert_eq "-f overwrites" "$status" 7
run_acltap stat -o /dev/full -- "$T/short"
assert_eq "a full disk: acltap failed" "$status" 125
assert_match "a full disk: said" "$(cat "$tmp/stderr")" 'No space left'
run_acltap stat "$tmp/t.acltap" -o /dev/full
assert_eq "a full disk: of a capture" "$status" 1

# ---- A running process --------------------------------------------------------------------------
start_target "$T/seed_loops" all 1000
start_tracer stat --format csv -p "$target"
release
reap "$target"
assert_eq "-p: the target" "$status" 0
reap "$tracer"
assert_eq "-p: status" "$status" 0
assert_eq "-p: all instances" "$(field "$tmp/stdout" PushPop 'test msprof tx' Instances)" 1000
start_target "$T/seed_loops" all 1000
start_tracer stat --format csv -d 300ms -p "$target"
reap "$tracer"
assert_eq "-d: ends by itself" "$status" 0
assert_eq "-d: nothing seen is the header alone" "$(cat "$tmp/stdout")" "$HEADER"
release
reap "$target"
assert_eq "-d: the target goes on" "$status" 0

# ---- Losses, usage ------------------------------------------------------------------------------
run_acltap stat --ring-size 4K --format csv -o - --strict -- "$T/storm" 2 20000
assert_match "losses are said" "$(cat "$tmp/stderr")" 'calls lost'
assert_eq "losses: --strict" "$status" 3
grep -v '^aclprof' "$tmp/stdout" >"$tmp/lost.csv"
assert_eq "losses: the table is whole" "$(head -n 1 "$tmp/lost.csv")" "$HEADER"
head -c 3000 "$tmp/t.acltap" >"$tmp/cut.acltap"
run_acltap stat "$tmp/cut.acltap"
assert_eq "a cut capture: status" "$status" 1
assert_match "a cut capture: said" "$(cat "$tmp/stderr")" 'incomplete'
for arguments in "" "x y" "x -- y" "--hist --format csv x" "-d 1s x" "--sort size x" "--to 1s --from 2s x" \
	"--to 0 --from 2s x" "--top 0 x"; do
	# shellcheck disable=SC2086
	run_acltap stat $arguments
	assert_eq "usage error: stat $arguments" "$status" 2
done
# What says how to trace means nothing for a capture: all that record has too, but for these.
options() {	# command: its options, each with a value where it takes one
	"$ACLTAP" "$1" --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\) \([A-Z]*\).*/\2=\3/p' | sort
}
for option in $(comm -12 <(options record) <(options stat) |
	grep -vE -- '^--(pid|strict|quiet|verbose|output|force|help)='); do
	case $option in
	*=) option=${option%=} ;;
	*=TIME) option=${option%=*}=1s ;;
	*=SIZE) option=${option%=*}=16M ;;
	*=WHERE) option=${option%=*}=auto ;;
	esac
	run_acltap stat "$option" "$tmp/t.acltap"
	assert_eq "usage error: stat $option of a capture" "$status" 2
	tried="${tried-}$option "
done
assert_match "options of tracing were tried" "$tried" '--lifecycle .*--returns .*--user='
run_acltap stat "$tmp/none.acltap"
assert_eq "no such capture" "$status" 1
finish
