#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads the vendor's files and ours with the same strict rules, and compares them. Prints TAP.

    strict_reader.py VENDOR.csv VENDOR.json OURS.csv OURS.json
"""
import csv
import io
import json
import re
import sys

HEADER = ("Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),"
          "End_time(us),message_type,message,domain,Device Start_time(us),Device End_time(us)")
TIME = re.compile(r"[0-9]+\.[0-9]{3}\t")
NUMBER = re.compile(r"0|-?[1-9][0-9]*")
KINDS = {"marker", "push/pop", "start/end", "marker_ex"}
L = "L" + "x" * 125 + "E"

# What only the vendor has: (kind, message) with the reason, in order of start.
VENDOR_ONLY = [
    ("start/end", "range A", "a repeated stop is no second range"),
    ("start/end", "range B", "a repeated stop is no second range"),
    ("marker", "", "a text of 127 bytes was passed; the vendor refuses it"),
    ("marker", "", "a text of 128 bytes was passed; the vendor refuses it"),
    ("marker", "", "a text of 129 bytes was passed; the vendor refuses it"),
    ("push/pop", "one stamp", "two pushes of one stamp have a start each"),
    ("marker_ex", "mark_ex step_start", "the domain is default, not invalid"),
    ("marker", "mstx mark", "mstx is not traced"),
    ("start/end", "mstx range", "mstx is not traced"),
    ("marker", "dom mark", "mstx is not traced"),
    ("start/end", "dom range", "mstx is not traced"),
    ("marker", "abcdefghijklmnopqrstuvwxyz" * 15 + "abcdefghi", "mstx is not traced"),
    ("start/end", "mstx cross-thread", "mstx is not traced"),
    ("push/pop", "cross-thread push", "a pop ends a push of its own thread"),
]
OURS_ONLY = [
    ("marker", "before init", "a call with a NULL stamp is a call"),
    ("marker", L, "the text that was passed"),
    ("marker", "L" + "x" * 126 + "E", "the text that was passed"),
    ("marker", "L" + "x" * 127 + "E", "the text that was passed"),
    ("push/pop", "one stamp", "two pushes of one stamp have a start each"),
    ("marker", "before init", "a call with a NULL stamp is a call"),
    ("marker_ex", "mark_ex step_start", "the domain is default, not invalid"),
    ("marker_ex", "no stream", "a refused call is a call"),
    ("marker_ex", "mar", "a refused call is a call"),
    ("marker", "left open start/end", "the vendor had stopped"),
]


def check(condition, what):
    if not condition:
        raise ValueError(what)


def read_csv(path):
    """Rows of a csv after every rule of the format was checked, and that it is written minimally."""
    text = open(path, encoding="utf-8", newline="").read()
    check(text.endswith("\n"), "no newline at the end")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    again = io.StringIO(newline="")
    csv.writer(again, lineterminator="\n").writerows(rows)
    check(again.getvalue() == text, "quoted otherwise than needed")
    check(",".join(rows[0]) == HEADER, "header")
    last = 0
    for row in rows[1:]:
        check(len(row) == 14, f"columns of {row}")
        (device, pid, tid, category, kind, ptype, pvalue, start, end, mtype, _, domain,
         dev_start, dev_end) = row
        check(device == "host" and dev_start == dev_end == "N/A", f"device of {row}")
        check(NUMBER.fullmatch(pid) and NUMBER.fullmatch(tid), f"ids of {row}")
        check(kind in KINDS, f"kind of {row}")
        check(TIME.fullmatch(start) and TIME.fullmatch(end), f"times of {row}")
        numbers = (category, ptype, pvalue, mtype)
        if domain == "N/A":
            check(all(NUMBER.fullmatch(n) for n in numbers), f"numbers of {row}")
        else:
            check(all(n == "N/A" for n in numbers), f"numbers of {row}")
        check(kind != "marker_ex" or domain != "N/A", f"domain of {row}")
        start, end = nanoseconds(start[:-1]), nanoseconds(end[:-1])
        check(end >= start and start >= last, f"order of {row}")
        check(not kind.startswith("marker") or start == end, f"mark with a duration: {row}")
        last = start
    return rows[1:]


def nanoseconds(us):
    return int(us.replace(".", ""))


def no_duplicates(pairs):
    check(len(dict(pairs)) == len(pairs), f"a key twice in {pairs}")
    return dict(pairs)


def no_constants(name):
    raise ValueError(f"{name} is no JSON")


def check_span(e):
    check(list(e) == ["name", "pid", "tid", "ts", "dur", "ph", "args"], f"keys of {e}")
    check(isinstance(e["ts"], str) and TIME.fullmatch(e["ts"] + "\t"), f"ts of {e}")
    check(isinstance(e["dur"], float) and e["dur"] >= 0, f"dur of {e}")
    args = e["args"]
    check(args["event_type"] in KINDS, f"kind of {e}")
    if "domain" in args:
        check(list(args) == ["event_type", "domain"], f"args of {e}")
    else:
        check(list(args) == ["Category", "Payload_type", "Payload_value", "Message_type",
                             "event_type"], f"args of {e}")
        check(isinstance(args["Category"], str), f"category of {e}")


def check_meta(e):
    check(list(e) == ["name", "pid", "tid", "ph", "args"], f"keys of {e}")
    want = {"process_name": ("name", str), "process_labels": ("labels", str),
            "process_sort_index": ("sort_index", int), "thread_name": ("name", str),
            "thread_sort_index": ("sort_index", int)}[e["name"]]
    check(list(e["args"]) == [want[0]] and isinstance(e["args"][want[0]], want[1]), f"args of {e}")


def check_flow(e):
    check(list(e) == ["name", "pid", "tid", "ph", "cat", "id", "ts"], f"keys of {e}")
    check(e["name"] == "MsTx_" + e["id"] and e["cat"] == "MsTx", f"name of {e}")


def read_json(path):
    text = open(path, encoding="utf-8").read()
    events = json.loads(text, object_pairs_hook=no_duplicates, parse_constant=no_constants)
    check(isinstance(events, list), "no array")
    for e in events:
        check(isinstance(e["name"], str) and isinstance(e["pid"], int) and
              isinstance(e["tid"], int), f"types of {e}")
        {"X": check_span, "M": check_meta, "s": check_flow}[e["ph"]](e)
    return events


def named(rows):
    return [(r[4], r[10]) for r in rows]


def compare_csv(vendor, ours):
    """Every row is equal, but for the lists above."""
    only_vendor = [r for r in vendor if r not in ours]
    only_ours = [r for r in ours if r not in vendor]
    for got, want in ((only_vendor, VENDOR_ONLY), (only_ours, OURS_ONLY)):
        names = named(got)
        listed = [w[:2] for w in want]
        check(sorted(names) == sorted(listed),
              f"not as listed: {set(names) ^ set(listed)} of {len(names)}, {len(listed)}")
    both = [r for r in vendor if r in ours]
    check(both == [r for r in ours if r in vendor], "other order")
    check(len(both) == len(vendor) - len(VENDOR_ONLY), "rows in both")


def compare_json(vendor, ours, rows):
    """What is equal in the csv is so here; the vendor's two clocks differ by up to 20 ns."""
    def spans(events):
        return [e for e in events if e["ph"] == "X"]

    def like(a, b):
        same = all(a[k] == b[k] for k in ("name", "pid", "tid", "args"))
        return (same and abs(nanoseconds(a["ts"]) - nanoseconds(b["ts"])) <= 20 and
                abs(a["dur"] - b["dur"]) < 0.003)

    ours_x, vendor_x = spans(ours), spans(vendor)
    missing = [e for e in vendor_x if not any(like(e, o) for o in ours_x)]
    check(len(missing) == len(VENDOR_ONLY), f"not the same: {missing}")
    check(len(ours_x) == len(rows), "as many events as rows of the csv")
    ends = [nanoseconds(e["ts"]) + round(e["dur"] * 1000) for e in ours_x]
    check(ends == sorted(ends), "order of end")
    check([e for e in ours if e["ph"] == "M"] == [e for e in vendor if e["ph"] == "M"], "metadata")
    flows = [e for e in ours if e["ph"] == "s"]
    marks = [e for e in ours_x if e["args"]["event_type"] == "marker_ex"]
    check([(f["tid"], f["ts"]) for f in flows] == [(m["tid"], m["ts"]) for m in marks], "flows")
    check([f["id"] for f in flows] == [str(4000000001 + i) for i in range(len(flows))], "ids")
    check(ours[-len(flows):] == flows, "flows come last")


def main():
    vendor_csv, vendor_json, our_csv, our_json = sys.argv[1:]
    data = {}

    def read(key, reader, path):
        data[key] = reader(path)

    steps = [
        ("vendor csv is strict", lambda: read("vc", read_csv, vendor_csv)),
        ("our csv is strict", lambda: read("oc", read_csv, our_csv)),
        ("csv rows agree", lambda: compare_csv(data["vc"], data["oc"])),
        ("vendor json is strict", lambda: read("vj", read_json, vendor_json)),
        ("our json is strict", lambda: read("oj", read_json, our_json)),
        ("our json has one event a line", lambda: check(
            open(our_json, encoding="utf-8").read() ==
            "[\n" + ",\n".join(json.dumps(e, ensure_ascii=False, separators=(",", ":"))
                               for e in data["oj"]) + "\n]\n", "other lines")),
        ("json events agree", lambda: compare_json(data["vj"], data["oj"], data["oc"])),
    ]
    failed = 0
    for number, (name, step) in enumerate(steps, 1):
        try:
            step()
            print(f"ok {number} - {name}")
        except (ValueError, KeyError) as e:
            failed += 1
            print(f"# {e!r}\nnot ok {number} - {name}")
    print(f"1..{len(steps)}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
