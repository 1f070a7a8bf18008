#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""The three loops of the vendor's msproftx example.

usage: seed_loops.py [1|2|3|all] [COUNT=200000]
Prints nothing but errors. With ACLTAP_WAIT=FILE it waits, before it imports acl, until a line can
be read from that FIFO; with ACLTAP_WAIT_MAPPED=FILE the same after the import.
"""
import os
import sys

MESSAGE = "test msprof tx"
FAILED = 1


def wait_for(variable):
    path = os.environ.get(variable)
    if path:
        with open(path, encoding="utf-8") as fifo:
            fifo.readline()


def new_stamp(acl):
    stamp = acl.prof.create_stamp()
    if stamp == 0:
        print("stamp is nullptr", file=sys.stderr)
        return 0
    ret = acl.prof.set_stamp_trace_message(stamp, MESSAGE, len(MESSAGE))
    if ret != 0:
        print(f"set_stamp_trace_message: {ret}", file=sys.stderr)
        return 0
    return stamp


def loop_mark(acl, count):
    for _ in range(count):
        stamp = new_stamp(acl)
        if stamp == 0 or acl.prof.mark(stamp) != 0:
            return FAILED
        acl.prof.destroy_stamp(stamp)
    return 0


def loop_push(acl, count):
    for _ in range(count):
        stamp = new_stamp(acl)
        if stamp == 0 or acl.prof.push(stamp) != 0 or acl.prof.pop() != 0:
            return FAILED
        acl.prof.destroy_stamp(stamp)
    return 0


def loop_range(acl, count):
    for _ in range(count):
        stamp = new_stamp(acl)
        if stamp == 0:
            return FAILED
        range_id, ret = acl.prof.range_start(stamp)
        if ret != 0 or acl.prof.range_stop(range_id) != 0:
            return FAILED
        acl.prof.destroy_stamp(stamp)
    return 0


LOOPS = {"1": [loop_mark], "2": [loop_push], "3": [loop_range],
         "all": [loop_mark, loop_push, loop_range]}


def main():
    loops = LOOPS[sys.argv[1] if len(sys.argv) > 1 else "all"]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200000
    wait_for("ACLTAP_WAIT")
    import acl
    wait_for("ACLTAP_WAIT_MAPPED")
    for loop in loops:
        if loop(acl, count):
            return FAILED
    return 0


sys.exit(main())
