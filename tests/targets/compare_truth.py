#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares what a target says it did (truth.h) with an events file of acltap (.ndjson).

usage: compare_truth.py [--complete] TRUTH EVENTS.ndjson

Every mark and range of the truth must be there once, with its name, process, start and end thread,
depth, parent and status, and nothing else. Times: one constant must turn the monotonic times of the
truth into the times of the file for all calls at once, each inside its own window; durations lie
between the shortest and the longest possible. Losses, orphans and failures must be those expected.
--complete: only the events that claim to be complete are looked at, in a trace of which much can be
missing or uncertain; each must be one of the truth.
Prints each difference and exits with 1, or 2 when a file cannot be read.
"""
import collections
import json
import re
import sys

KINDS = ("marker", "push/pop", "start/end", "marker_ex")
COUNTED = ("orphan", "failed", "unreadable", "loss", "lost_return", "lost_process", "lost_start", "limit", "late",
           "bad", "mismatch")
UNREADABLE = "<unreadable>"  # ends the name of what could not be read
SHOWN = 20

Call = collections.namedtuple("Call", "tid before after")
Truth = collections.namedtuple("Truth", "kind name pid start end depth status line")


class Report:
    """Collects differences; the first ones are printed."""

    def __init__(self):
        self.count = 0

    def __call__(self, text):
        self.count += 1
        if self.count <= SHOWN:
            print(f"differs: {text}")


def shown_name(raw):
    """The text that an output makes of message bytes; runs of repaired bytes count as one."""
    return re.sub("\ufffd+", "\ufffd", raw.decode("utf-8", "replace"))


def unescape(text):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text.encode())


def read_truth(path):
    """Returns the rows and the expected counts, e.g. {"orphan aclprofPop": 3}."""
    rows, expected = [], collections.Counter()
    with open(path, encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#"):
                what, count = line[1:].strip().rsplit(" ", 1)
                expected[what] += int(count)
                continue
            kind, name, *numbers, status = line.rstrip("\n").split("\t")
            pid, start_tid, end_tid, sb, sa, eb, ea, depth = map(int, numbers)
            rows.append(Truth(kind, shown_name(unescape(name)), pid, Call(start_tid, sb, sa),
                              Call(end_tid, eb, ea), depth, status, number))
    expected["unreadable"] += sum(row.status == "unreadable" for row in rows)
    return rows, +expected


def no_duplicates(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"duplicate field in {names}")
    return dict(pairs)


def read_events(path):
    """Returns the events and the counts of what is not an event."""
    events, counts = [], collections.Counter()
    with open(path, encoding="utf-8", errors="strict", newline="\n") as file:
        for line in file:
            row = json.loads(line, object_pairs_hook=no_duplicates)
            if row["kind"] in KINDS:
                row["row"] = len(events)
                events.append(row)
            elif row["kind"] in COUNTED:
                what = row["kind"]
                if row.get("function") and what != "unreadable":
                    what += " " + row["function"]
                counts[what] += row["count"]
    return events, counts


def key_of_truth(row):
    return (row.pid, row.kind, row.name, row.start.tid, row.depth)


def key_of_event(row):
    name = re.sub("\ufffd+", "\ufffd", row["name"] or "")
    return (row["pid"], row["kind"], name, row["start_tid"], row["depth"])


def is_part(name, whole):
    """Is it what was got of a message that could not be read, and said so?"""
    return name.endswith(UNREADABLE) and whole.startswith(name[:-len(UNREADABLE)])


def match(truth, events, report):
    """Pairs rows with equal keys in order of their start; unreadable ones by what is left over."""
    waiting, pairs, unreadable = collections.defaultdict(collections.deque), [], []
    for event in sorted(events, key=lambda e: e["start_ns"]):
        waiting[key_of_event(event)].append(event)
    for row in sorted(truth, key=lambda t: t.start.before):
        if row.status == "unreadable":
            unreadable.append(row)
        elif waiting[key_of_truth(row)]:
            pairs.append((row, waiting[key_of_truth(row)].popleft()))
        else:
            report(f"missing: {key_of_truth(row)} of line {row.line}")
    rest = sorted((e for queue in waiting.values() for e in queue), key=lambda e: e["start_ns"])
    for row in unreadable:
        same = [e for e in rest if (e["pid"], e["kind"], e["start_tid"], e["depth"]) ==
                (row.pid, row.kind, row.start.tid, row.depth) and is_part(e["name"], row.name)]
        if same:
            rest.remove(same[0])
            pairs.append((row, same[0]))
        else:
            report(f"missing: unreadable {row.kind} of line {row.line}")
    for event in rest:
        report(f"not in the truth: {key_of_event(event)} in row {event['row']}")
    return pairs


def is_complete(event):
    return event["status"] == "complete" and not event["name"].endswith(UNREADABLE)


def check_pair(row, event, report):
    where = f"{row.kind} {row.name!r} (truth line {row.line}, event row {event['row']})"
    status = "complete" if row.status == "unreadable" else row.status
    if event["status"] != status:
        report(f"{where}: status {event['status']}, expected {status}")
        return
    if status != "complete":
        if event["duration_ns"] is not None:
            report(f"{where}: duration {event['duration_ns']} of a range that did not end")
        return
    if event["end_tid"] != row.end.tid:
        report(f"{where}: end_tid {event['end_tid']}, expected {row.end.tid}")
    duration = event["duration_ns"]
    if duration != event["end_ns"] - event["start_ns"]:
        report(f"{where}: duration {duration} is not end - start")
    if row.kind in ("marker", "marker_ex"):
        least = most = 0
    else:
        least, most = max(row.end.before - row.start.after, 0), row.end.after - row.start.before
    if not least <= duration <= most:
        report(f"{where}: duration {duration} is not within [{least}, {most}]")


def check_clock(pairs, report):
    """epoch - monotonic lies in a window for each call; all windows must have a time in common."""
    low, high = None, None
    for row, event in pairs:
        calls = [(row.start, event["start_ns"])]
        if event["status"] == "complete":
            calls.append((row.end, event["end_ns"]))
        for call, time in calls:
            if low is None or time - call.after > low[0]:
                low = (time - call.after, row, event)
            if high is None or time - call.before < high[0]:
                high = (time - call.before, row, event)
    if low and low[0] > high[0]:
        report(f"times: no constant fits: the call of truth line {low[1].line} (event row "
               f"{low[2]['row']}) is at least {low[0] - high[0]} ns late against that of truth "
               f"line {high[1].line} (event row {high[2]['row']})")


def check_structure(events, report):
    """Sorted by start; a parent is the enclosing push/pop row of the same thread."""
    for before, after in zip(events, events[1:]):
        if (before["start_ns"], before["depth"]) > (after["start_ns"], after["depth"]):
            report(f"order: row {after['row']} starts before row {before['row']}")
    for event in events:
        parent, depth = event["parent"], event["depth"]
        if (parent is None) != (depth == 0):
            report(f"row {event['row']}: depth {depth} with parent {parent}")
        if parent is None:
            continue
        if not 0 <= parent < len(events):
            report(f"row {event['row']}: parent {parent} does not exist")
            continue
        up = events[parent]
        if (up["kind"], up["pid"], up["start_tid"], up["depth"]) != (
                "push/pop", event["pid"], event["start_tid"], depth - 1):
            report(f"row {event['row']}: parent {parent} is not its enclosing push/pop")
        elif up["start_ns"] > event["start_ns"] or (
                up["end_ns"] is not None and up["end_ns"] < event["start_ns"]):
            report(f"row {event['row']} lies outside of its parent {parent}")


def main():
    only_complete = sys.argv[1:2] == ["--complete"]
    if only_complete:
        del sys.argv[1]
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    report = Report()
    try:
        truth, expected = read_truth(sys.argv[1])
        events, counts = read_events(sys.argv[2])
    except (OSError, ValueError, KeyError) as error:
        print(f"cannot compare: {error!r}", file=sys.stderr)
        return 2
    if not truth:
        print("the truth is empty", file=sys.stderr)
        return 2
    if only_complete:
        complete = [e for e in events if is_complete(e)]
        pairs = match(truth, complete, lambda text: text.startswith("missing") or report(text))
        expected = collections.Counter()
        counts = {what: counts[what] for what in ("late", "bad", "mismatch")}
    else:
        pairs = match(truth, events, report)
        check_structure(events, report)
    for row, event in pairs:
        check_pair(row, event, report)
    check_clock(pairs, report)
    for what in sorted(set(expected) | set(counts)):
        if expected[what] != counts[what]:
            report(f"{what}: counted {counts[what]}, expected {expected[what]}")
    if report.count > SHOWN:
        print(f"and {report.count - SHOWN} more differences")
    if report.count:
        print(f"{len(truth)} rows in the truth, {len(events)} events")
    return 1 if report.count else 0


if __name__ == "__main__":
    sys.exit(main())
