#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests compare_truth.py with small files: the right one must pass, each wrong one must fail with a
message that names what is wrong. Prints TAP lines."""
import copy
import json
import os
import subprocess
import sys
import tempfile

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare_truth.py")
EPOCH = 1_700_000_000_000_000_000  # epoch - monotonic in the right file

# kind, name, pid, start tid, end tid, start before/after, end before/after, depth, status
TRUTH = r"""push/pop	outer	7	7	7	100	110	900	910	0	complete
push/pop	inner	7	7	7	200	210	300	310	1	complete
marker	=\xff\xfe,\x0a	7	7	7	400	410	400	410	1	complete
start/end	handed	7	8	7	500	510	700	710	0	complete
marker	dropped	7	7	7	720	730	720	730	1	unreadable
push/pop	left	7	8	0	950	960	0	0	0	unfinished
# orphan aclprofPop 2
"""


def event(kind, name, start, end, **more):
    row = {"kind": kind, "name": name, "start_ns": EPOCH + start,
           "end_ns": None if end is None else EPOCH + end,
           "duration_ns": None if end is None else end - start,
           "pid": 7, "process": "p", "start_tid": 7, "end_tid": 7, "depth": 0, "parent": None,
           "status": "complete", "category": 0, "category_name": None, "payload": None, "ret": None}
    row.update(more)
    return row


RIGHT = [
    event("push/pop", "outer", 105, 905),
    event("push/pop", "inner", 203, 303, depth=1, parent=0),
    event("marker", "=\ufffd\ufffd,\n", 407, 407, depth=1, parent=0),
    event("start/end", "handed", 501, 704, start_tid=8),
    event("marker", "dro<unreadable>", 725, 725, depth=1, parent=0),
    event("push/pop", "left", 955, None, start_tid=8, end_tid=8, status="unfinished"),
    {"kind": "orphan", "function": "aclprofPop", "count": 2},
    {"kind": "unreadable", "count": 1},
    {"kind": "call", "function": "aclprofPush", "count": 3},
]


def compare(rows, truth=TRUTH, options=()):
    with tempfile.TemporaryDirectory() as folder:
        truth_path = os.path.join(folder, "truth.tsv")
        events_path = os.path.join(folder, "events.ndjson")
        with open(truth_path, "w", encoding="ascii") as file:
            file.write(truth)
        with open(events_path, "w", encoding="utf-8") as file:
            for row in rows:
                file.write(row if isinstance(row, str) else json.dumps(row))
                file.write("\n")
        done = subprocess.run([sys.executable, COMPARE, *options, truth_path, events_path],
                              capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def changed(index, **fields):
    rows = copy.deepcopy(RIGHT)
    rows[index].update(fields)
    return rows


def without(index):
    return RIGHT[:index] + RIGHT[index + 1:]


WRONG = [
    ("a missing event", without(2), "missing"),
    ("an event twice", RIGHT[:6] + [RIGHT[5]] + RIGHT[6:], "not in the truth"),
    ("a wrong name", changed(1, name="innen"), "missing"),
    ("a wrong kind", changed(2, kind="marker_ex"), "missing"),
    ("a wrong process", changed(1, pid=6), "missing"),
    ("a wrong start thread", changed(3, start_tid=7), "missing"),
    ("a wrong end thread", changed(3, end_tid=8), "end_tid 8, expected 7"),
    ("a wrong depth", changed(1, depth=2), "missing"),
    ("a wrong status", changed(3, status="uncertain"), "status uncertain"),
    ("a duration too long", changed(1, end_ns=EPOCH + 320, duration_ns=117), "duration 117"),
    ("a duration too short", changed(1, end_ns=EPOCH + 280, duration_ns=77), "duration 77"),
    ("a duration that is not end - start", changed(1, duration_ns=101), "is not end - start"),
    ("a mark with a duration", changed(2, end_ns=EPOCH + 408, duration_ns=1), "duration 1"),
    ("a call outside of its window", changed(2, start_ns=EPOCH + 450, end_ns=EPOCH + 450),
     "no constant fits"),
    ("an open range with a duration", changed(5, duration_ns=5), "did not end"),
    ("a wrong parent", changed(2, parent=1), "is not its enclosing|outside"),
    ("no parent", changed(2, parent=None), "with parent None"),
    ("a wrong order", [RIGHT[1], RIGHT[0]] + RIGHT[2:], "order"),
    ("an orphan too many", changed(6, count=3), "orphan aclprofPop: counted 3, expected 2"),
    ("no orphan", without(6), "orphan aclprofPop: counted 0, expected 2"),
    ("a loss", RIGHT + [{"kind": "loss", "function": "aclprofPop", "count": 1}], "loss aclprofPop"),
    ("unreadable messages not counted", without(7), "unreadable: counted 0"),
    ("an unreadable message as \"\"", changed(4, name=""), "missing: unreadable"),
    ("an unreadable message not told of", changed(4, name="dropped"), "missing: unreadable"),
    ("a wrong part of it", changed(4, name="drip<unreadable>"), "missing: unreadable"),
    ("a row that is no JSON", RIGHT + ['{"kind":'], "cannot compare"),
    ("a field twice", RIGHT + ['{"kind":"loss","kind":"call"}'], "cannot compare"),
    ("an empty file", [], "missing"),
]


def main():
    number, failures = 0, 0

    def check(good, name, detail):
        nonlocal number, failures
        number += 1
        print(f"{'' if good else 'not '}ok {number} - {name}")
        if not good:
            failures += 1
            print(f"# {detail}")

    status, text = compare(RIGHT)
    check(status == 0, "the right file passes", text)
    for name, rows, words in WRONG:
        status, text = compare(rows)
        found = any(part in text for part in words.split("|"))
        check(status in (1, 2) and found, f"{name} fails", f"status {status}: {text}")
    some = [row for row in without(1) if row["kind"] != "orphan"] + [
        event("push/pop", "other", 1, None, status="uncertain"),
        {"kind": "loss", "function": "aclprofPop", "count": 1}]
    status, text = compare(some, options=["--complete"])
    check(status == 0, "--complete: what is missing or uncertain passes", text)
    for name, row, words in (
            ("a range of nobody", event("push/pop", "other", 1, 2), "not in the truth"),
            ("a range twice", RIGHT[3], "not in the truth"),
            ("a record out of order", {"kind": "late", "count": 1}, "late: counted 1")):
        status, text = compare(some + [row], options=["--complete"])
        check(status == 1 and words in text, f"--complete: {name} fails", text)
    some[0] = event("push/pop", "outer", 105, 1000)
    status, text = compare(some, options=["--complete"])
    check(status == 1 and "duration 895" in text, "--complete: a wrong duration fails", text)
    status, text = compare(RIGHT, truth="")
    check(status == 2, "an empty truth fails", text)
    return 1 if failures else 0


sys.exit(main())
