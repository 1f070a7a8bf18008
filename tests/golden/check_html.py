#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads the data of an .html report, without a browser, and checks it.

    check_html.py FILE.html FILE.ndjson         compares with the events of the same capture
    check_html.py --dump FILE.html              prints the data; names and facts as they stand there

Checked in any case: that only the page's own script and style can run, that data cannot end the
element it is in, and that spans of one row do not overlap.
"""
import base64
import hashlib
import json
import re
import sys
from collections import Counter

KINDS = ("marker", "push/pop", "start/end", "marker_ex")
STATUSES = ("complete", "unfinished", "open", "superseded", "uncertain")
LAST_ROW = 255  # where spans may overlap


def check(condition, what):
    if not condition:
        sys.exit(f"check_html: {what}")


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def elements(page):
    """The data by id, after checking everything around it."""
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S)
    check(page.count("<script") == len(scripts) == 5, "more or fewer scripts than there should be")
    own = [text for attributes, text in scripts if not attributes]
    styles = re.findall(r"<style>(.*?)</style>", page, re.S)
    check(len(own) == 1 and len(styles) == page.count("<style") == 1, "not one script and one style")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    check(policy == f"default-src 'none'; script-src {hash_of(own[0])}; "
          f"style-src {hash_of(styles[0])}; base-uri 'none'; form-action 'none'",
          f"the policy is {policy}")
    data = {}
    for attributes, text in scripts:
        if attributes:
            kind, name = re.fullmatch(r' type="([a-z/]+)" id="([a-z]+)"', attributes).groups()
            check(kind in ("application/json", "text/plain"), f"a script of type {kind}")
            check(not re.search("[<>&\u2028\u2029\u202a-\u202e\u2066-\u2069]", text),
                  f"{name} has what it must not")
            data[name] = text
    check(sorted(data) == ["details", "facts", "names", "spans"], f"data is {sorted(data)}")
    return data


def numbers(text):
    data = base64.b64decode("".join(text.split()), validate=True)
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            check(value < 1 << 64, "a number is too long")
            yield value
            value = shift = 0
    check(not shift, "the last number has no end")


def signed(value):
    return -(value + 1) // 2 if value & 1 else value // 2


def details(stream, names):
    which = next(stream)
    d = {}
    if which & 1:
        d["end_tid"] = next(stream)
    if which & 2:
        d["category"] = next(stream)
        number = next(stream)
        d["category_name"] = names[number] if number else None
    if which & 4:
        d["payload_type"], d["payload_len"] = signed(next(stream)), next(stream)
        d["payload"] = next(stream) | next(stream) << 32
    if which & 8:
        d["ret"] = signed(next(stream))
    if which & 16:
        d["domain"] = names[next(stream)]
    if which & 128:
        d["depth"] = next(stream)
    if which & 32:
        d["unreadable"] = True
    if which & 64:
        d["cut"] = True
    return d


def read_spans(data, names, facts):
    stream, more = numbers(data["spans"]), numbers(data["details"])
    strips = set()
    for thread in stream:
        strip, row, count = next(stream), next(stream), next(stream)
        check((thread, strip, row) not in strips and count > 0, "a strip comes twice or is empty")
        strips.add((thread, strip, row))
        start, before = int(facts["zero_ns"]), 0
        pid, tid, _ = facts["threads"][thread]
        for _ in range(count):
            start += next(stream)
            duration, name, flags = next(stream), next(stream), next(stream)
            status, kind, has_end = STATUSES[flags & 7], KINDS[flags >> 3 & 3], flags & 32
            check(strip == (0, 1, 2, 0)[flags >> 3 & 3], "a strip of another kind")
            check(strip == 0 or row == LAST_ROW or start >= before, "spans of one row overlap")
            before = start + duration if has_end or status != "open" else 1 << 64
            yield dict(kind=kind, name=names[name], start_ns=start, pid=pid, start_tid=tid, row=row,
                       end_ns=start + duration if has_end else None, status=status,
                       **(details(more, names) if flags & 64 else {}))
    check(next(more, None) is None, "there are more details than spans")


def compare(spans, facts, path):
    """Every event is there once, with all that it has; and so is every count."""
    def key(row):
        return (row["kind"], row["name"], row["start_ns"], row["end_ns"], row["pid"],
                row["start_tid"], row.get("end_tid", row["start_tid"]), row["status"],
                row.get("category") or 0, row.get("category_name"), row.get("payload"), row.get("ret"),
                row.get("depth", row.get("row")) if row["kind"] == "push/pop" else None)
    with open(path, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    want = Counter(key(row) for row in rows if "start_ns" in row)
    got = Counter(key(span) for span in spans)
    check(got == want, f"spans differ: only in the page {got - want}, only in the events {want - got}")
    counts = Counter()
    for row in rows:
        if "start_ns" not in row and "count" in row:
            counts[row["kind"], row.get("function"), row.get("ret"), row.get("pid")] += row["count"]
    told = Counter({(t["kind"], t.get("func"), t.get("ret"), t.get("pid")): t["count"]
                    for t in facts["tallies"]})
    check(told == counts, f"counts differ: {told - counts} {counts - told}")
    lasting = Counter()
    for row in rows:
        if row.get("status") == "complete":
            style = {"push/pop": "PushPop", "start/end": "StartEnd"}.get(row["kind"], "Marker")
            lasting[row["name"], style, "n"] += 1
            lasting[row["name"], style, "ns"] += row["duration_ns"]
    table = Counter()
    for label, style, _, total, instances, *_ in facts["stats"]:
        table[label, style, "n"] += instances
        table[label, style, "ns"] += total
    check(+table == +lasting, f"statistics differ: {table - lasting} {lasting - table}")


def main():
    dump = sys.argv[1] == "--dump"
    with open(sys.argv[1 + dump], encoding="utf-8", newline="") as file:
        data = elements(file.read())
    names, facts = json.loads(data["names"]), json.loads(data["facts"])
    spans = list(read_spans(data, names, facts))
    check(len(spans) == facts["shown"], "another number of spans than the facts say")
    for row in facts["stats"]:
        check(sum(row[16]) == row[4], f"the histogram of {row[0]!r} has another sum")
    if not dump:
        compare(spans, facts, sys.argv[2])
        return
    print(data["names"].strip())
    print(data["facts"].strip())
    for span in spans:
        print(" ".join(f"{k}={v}" if k != "name" else json.dumps(v) for k, v in span.items()))


main()
