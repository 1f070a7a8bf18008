#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads a .pftrace as a trace reader would, without any library, and checks it.

    check_pftrace.py FILE.pftrace FILE.ndjson   compares with the events of the same capture
    check_pftrace.py --dump FILE.pftrace        prints tracks and events, sorted as read

Checked in any case: wire format, sequences, interned names, tracks, nesting of slices.
"""
import json
import re
import sys
from collections import Counter, defaultdict

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def check(condition, what):
    if not condition:
        sys.exit(f"check_pftrace: {what}")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            check(value < 1 << 64, "a number is too long")
            return value, at


def fields(data):
    """Yields (number, value) of a message: an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            check(key & 7 == 2, f"wire type {key & 7}")
            size, at = varint(data, at)
            check(at + size <= len(data), "a field is longer than its message")
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def message(data):
    """Fields that occur once."""
    found = {}
    for number, value in fields(data):
        check(number not in found, f"field {number} twice")
        found[number] = value
    return found


def text(data):
    return data.decode("utf-8")  # strict


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Trace:
    """After read(): tracks (uuid -> dict), events (in order of time), clocks, lost."""

    def __init__(self, path):
        self.tracks, self.events, self.clocks, self.lost = {}, [], [], []
        self.names = {1: {}, 2: {}, 3: {}}  # field of InternedData -> iid -> text
        self.valid = False
        self.clock = None
        for number, value in fields(open(path, "rb").read()):
            check(number == 1, "something that is no packet")
            self.packet(message(value))
        # As readers do: by time, and what is equal in order of the file.
        self.events.sort(key=lambda event: event["at"])

    def packet(self, p):
        check(p[10] in (1, 2), "an unknown sequence")
        if p.get(13) == 1:
            self.names = {1: {}, 2: {}, 3: {}}
            self.valid = True
            self.clock = message(p[59]).get(58) if 59 in p else None
        for number, value in fields(p.get(12, b"")):
            entry = message(value)
            check(entry[1] not in self.names[number], "an interned number again")
            self.names[number][entry[1]] = text(entry[2])
        if 6 in p:
            self.clocks.append({message(c)[1]: message(c)[2] for _, c in fields(p[6])})
        if 60 in p:
            self.track(message(p[60]))
        if 11 in p:
            self.event(p)

    def track(self, d):
        check(d[1] not in self.tracks, "a track twice")
        check(5 not in d or d[5] in self.tracks, "a track before its parent")
        track = {"parent": d.get(5), "name": text(d.get(2, b"")), "kind": "track"}
        if 3 in d:
            process = message(d[3])
            track.update(kind="process", pid=process[1], name=text(process.get(6, b"")),
                         cmdline=text(process.get(2, b"")))
        if 4 in d:
            thread = message(d[4])
            track.update(kind="thread", pid=thread[1], tid=thread[2],
                         name=text(thread.get(5, b"")))
        if 8 in d:
            track["kind"] = "counter"
        self.tracks[d[1]] = track

    def event(self, p):
        raw = {3: [], 4: []}
        for number, value in fields(p[11]):
            raw.setdefault(number, []).append(value)
        kind, uuid = raw[9][0], raw[11][0]
        check(uuid in self.tracks, "an event before its track")
        event = {"at": p[8], "type": kind, "track": uuid, "name": None, "notes": {}, "kind": None}
        if kind == COUNTER:
            check(p[10] == 2 and p.get(42) == 1 and p.get(58) == self.clock, "a loss")
            check(self.tracks[uuid]["kind"] == "counter", "a value on no counter")
            self.lost.append((p[8], raw[30][0]))
            return
        check(p[10] == 1 and p.get(13) == 2 and self.valid, "interned data is not valid")
        if kind != END:
            event["name"] = self.names[2][raw[10][0]]
            event["kind"] = self.names[1][raw[3][0]] if raw[3] else None
            for note in map(message, raw[4]):
                value = note.get(3, note.get(2))
                if 4 in note:
                    value = signed(note[4])
                event["notes"][self.names[3][note[1]]] = text(note[6]) if 6 in note else value
        self.events.append(event)

    def spans(self):
        """Closes slices: (kind, name, start, end or None, pid, tid, depth, notes) of each."""
        stacks, found = {}, []
        for e in self.events:
            stack = stacks.setdefault(e["track"], [])
            if e["type"] == END:
                check(stack, "an end without a begin")
                stack.pop()["end"] = e["at"]
                continue
            span = dict(e, end=e["at"] if e["type"] == INSTANT else None, depth=len(stack))
            found.append(span)
            if e["type"] == BEGIN:
                stack.append(span)
        for span in found:
            check(span["end"] is not None or span["notes"].get("status") == "open",
                  f"{span['name']} has no end")
        return found

    def thread_of(self, uuid):
        track = self.tracks[uuid]
        if track["kind"] == "thread":
            check(self.tracks[track["parent"]].get("pid") == track["pid"], "parent of a thread")
            return track["pid"], track["tid"]
        check(track["parent"], f"a span on {track['name']}")
        return self.thread_of(track["parent"])


def shown_names(process, rank, host, host_pid):
    """How a process may be called: in a merged trace with its host, perhaps its PID there."""
    ranks = [] if rank is None else [f"rank {rank}"]
    inner = (", ".join(ranks + [m for m in more if m])
             for more in ([], [host], [host, f"PID {host_pid}"]))
    return {f"{process} ({i})".strip() if i else process for i in inner}


def without_local_rank(name):
    """A rank on one host among several, which is in no row of the events."""
    return re.sub(r"\(local rank \d+(, )?", "(", name)


def compare(trace, path):
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    events = [r for r in rows if "start_ns" in r]
    offset = trace.clocks[0][1] - trace.clocks[0][3] if trace.clocks else 0
    spans = [s for s in trace.spans() if s["kind"]]
    got, want = Counter(), Counter()
    for s in spans:
        pid, tid = trace.thread_of(s["track"])
        on_thread = trace.tracks[s["track"]]["kind"] == "thread"
        if s["kind"] == "start/end":
            check(s["notes"]["start_tid"] == tid, "thread of a range")
            check(on_thread == (s["type"] == INSTANT), "a range on the track of its thread")
        end = None if s["end"] is None else s["end"] + offset
        status = s["notes"].get("status", "complete")
        if s["type"] == INSTANT and not s["kind"].startswith("marker"):
            check(status == "uncertain", "a range without an end")
            end = None
        # Depth is told by nesting: of what is sure and on the track of its thread.
        depth = s["depth"] if on_thread and status == "complete" and s["kind"] != "start/end" else -1
        got[s["kind"], s["name"], s["at"] + offset, end, pid, tid, status, depth,
            s["notes"].get("ret"), s["notes"].get("payload"),
            s["notes"].get("category_name")] += 1
    unsure = any(r["kind"] in ("loss", "lost_start") or r.get("status") in ("uncertain",)
                 for r in rows)
    for r in events:
        depth = r["depth"] if r["status"] == "complete" and r["kind"] != "start/end" else -1
        want[r["kind"], r["name"], r["start_ns"], r["end_ns"], r["pid"], r["start_tid"],
             r["status"], depth, r["ret"], r["payload"], r["category_name"]] += 1
    if unsure:  # what encloses is not drawn when its end is not known
        got, want = (Counter({k: 0 for k in ()}) + Counter(
            k[:7] + k[8:] for k in c.elements()) for c in (got, want))
    check(got == want, f"only in the trace: {got - want}\nonly in the events: {want - got}")
    lost = sum(r["count"] for r in rows if r["kind"] == "loss")
    check((trace.lost[-1][1] if trace.lost else 0) == lost, "calls lost")
    check([v for _, v in trace.lost] == sorted(v for _, v in trace.lost), "the counter falls")
    ran = defaultdict(set)  # PID -> programs and their ranks
    for r in events:
        ran[r["pid"]].add((r["process"], r["rank"]))
    several = {pid for pid, programs in ran.items() if len(programs) > 1}
    tracks = [t for t in trace.tracks.values() if t["kind"] == "process"]
    for t in tracks:  # with the names of all
        if t["pid"] in several:
            check(set(t["name"].split(" (")[0].split(", ")) ==
                  {program for program, _ in ran[t["pid"]]} - {None},
                  f"names of process {t['pid']}")
    names = {without_local_rank(t["name"]) for t in tracks if t["pid"] not in several} - {""}
    owners = {(r["process"] or "", r["rank"], r["host"], r["host_pid"]) for r in events
              if r["pid"] not in several}
    check(all(names & shown_names(*o) for o in owners if o[0] or o[1] is not None) and
          names <= set().union(*(shown_names(*o) for o in owners)), "names of processes")
    print(f"{len(spans)} spans agree")


def dump(trace):
    labels = {}
    for uuid, t in trace.tracks.items():
        label = t["name"]
        if t["kind"] == "process":
            label = f"process {t['pid']} {json.dumps(label)} {json.dumps(t['cmdline'])}"
        elif t["kind"] == "thread":
            label = f"thread {t['pid']}/{t['tid']} {json.dumps(label)}"
        labels[uuid] = label
        parent = labels[t["parent"]] if t["parent"] else "-"
        print(f"track {t['kind']}: {label} in {parent}")
    for clock in trace.clocks:
        print("clocks", " ".join(f"{k}={v}" for k, v in sorted(clock.items())))
    words = {BEGIN: "begin", END: "end", INSTANT: "mark"}
    for e in trace.events:
        print(e["at"], f"[{labels[e['track']]}]", words[e["type"]], e["kind"] or "-",
              json.dumps(e["name"], ensure_ascii=False) if e["name"] is not None else "-",
              json.dumps(e["notes"], ensure_ascii=False))
    for at, value in trace.lost:
        print(at, "lost", value)


def main():
    if sys.argv[1] == "--dump":
        trace = Trace(sys.argv[2])
        trace.spans()
        dump(trace)
    else:
        compare(Trace(sys.argv[1]), sys.argv[2])


main()
