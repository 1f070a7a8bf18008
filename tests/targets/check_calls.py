#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares the calls that a target says it made with a capture of acltap.

usage: check_calls.py CALLS CAPTURE

CALLS has a function and its number on each line, as storm and crowd print them. For each: what
arrived in the capture, together with what it says was lost, and the kernel side's own count, must
be that number.
"""
import os
import re
import struct
import sys
from collections import Counter

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include/entrypoints.def")
CALL, LOSS, COUNT, RETURNS = 1, 18, 19, 1 << 5


def numbers():
    """The number of each function that is always probed at its entry, as the records have it."""
    with open(TABLE, encoding="ascii") as file:
        return {name: int(number) for number, name in
                re.findall(r'^ENTRY\((\d+), "(\w+)".*(?:ALWAYS|BOTH)\)$', file.read(), re.M)}


def read_calls(path):
    with open(path, encoding="ascii") as file:
        return {name: int(count) for name, count in map(str.split, file)}


def read_capture(path):
    """By number: records of calls, losses that were told, and (calls, lost) as counted."""
    arrived, told, totals = Counter(), Counter(), {}
    with open(path, "rb") as file:
        data = file.read()
    at = 64
    while at < len(data):
        _, kind, size, _ = struct.unpack_from("<4sIII", data, at)
        pos, end = at + 16, at + 16 + size
        while kind == 1 and pos < end:
            length, what, func = struct.unpack_from("<HBB", data, pos + 16)
            arg1, flags = struct.unpack_from("<IH", data, pos + 40)
            if what == CALL:
                arrived[func] += 1
            elif what == LOSS and not flags & RETURNS:
                told[func] += arg1
            elif what == COUNT:
                totals[func] = struct.unpack_from("<QQ", data, pos + 48)
            pos += (length + 7) // 8 * 8
        at = (end + 7) // 8 * 8
    return arrived, told, totals


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    called, table, wrong = read_calls(sys.argv[1]), numbers(), 0
    arrived, told, totals = read_capture(sys.argv[2])
    for name, count in called.items():
        if name not in table:
            continue
        func = table[name]
        calls, lost = totals.get(func, (0, 0))
        if (calls, arrived[func] + lost, told[func]) != (count, count, lost):
            wrong += 1
            print(f"{name}: called {count}, counted {calls}, arrived {arrived[func]}, lost {lost}, "
                  f"told {told[func]}")
    return 1 if wrong or not called.keys() & table.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
