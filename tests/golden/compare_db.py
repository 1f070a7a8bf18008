#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The vendor's database and ours for the same calls: tables word for word, rows but for the lists
of strict_reader.py. Prints TAP.    compare_db.py VENDOR.db OURS.db"""
import sqlite3
import sys
from collections import Counter

from strict_reader import OURS_ONLY, VENDOR_ONLY, check

ROWS = """SELECT k.name, s.value, m.startNs, m.endNs, m.rangeId, m.category, d.value,
                 m.endGlobalTid, m.connectionId, m.globalTid
          FROM MSTX_EVENTS m JOIN ENUM_MSTX_EVENT_TYPE k ON k.id = m.eventType
          JOIN STRING_IDS s ON s.id = m.message JOIN STRING_IDS d ON d.id = m.domainId
          ORDER BY m.rowid"""


def tables(db):
    return dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))


def same_tables(vendor, ours):
    theirs = tables(vendor)
    mine = {k: v for k, v in tables(ours).items() if not k.startswith("ACLTAP_")}
    check(len(mine) == 8, f"tables: {sorted(mine)}")
    for name, sql in mine.items():
        check(theirs.get(name) == sql, f"{name}: {sql}")
    only = set(theirs) - set(mine)
    check(all(name.startswith("ENUM_") for name in only), f"missing: {only}")


def same_constants(vendor, ours):
    for sql in ("SELECT * FROM NPU_INFO", "SELECT * FROM RANK_DEVICE_MAP",
                "SELECT * FROM ENUM_MSTX_EVENT_TYPE", "SELECT * FROM META_DATA",
                "SELECT * FROM STRING_IDS WHERE id < 4", "SELECT hostUid FROM HOST_INFO",
                "SELECT count(*) FROM SESSION_TIME_INFO",
                "SELECT DISTINCT typeof(startNs), typeof(message), typeof(globalTid), "
                "typeof(connectionId) FROM MSTX_EVENTS"):
        want, got = (db.execute(sql).fetchall() for db in (vendor, ours))
        check(want == got, f"{sql}: {got}, not {want}")


def alike(a, b):
    """The vendor's two clocks differ by up to 20 ns; what it names is the end's thread."""
    return (a[:2] == b[:2] and a[4:9] == b[4:9] and abs(a[2] - b[2]) <= 20 and
            abs(a[3] - b[3]) <= 20)


def same_rows(vendor, ours):
    theirs, mine = (db.execute(ROWS).fetchall() for db in (vendor, ours))
    left, both, only = list(mine), [], []
    for row in theirs:
        match = next((m for m in left if alike(row, m)), None)
        if match:
            left.remove(match)
            both.append(match)
        else:
            only.append(row)
    for got, want in ((only, VENDOR_ONLY), (left, OURS_ONLY)):
        names = Counter(r[:2] for r in got), Counter(w[:2] for w in want)
        check(names[0] == names[1], f"not as listed: {names[0] - names[1]}, {names[1] - names[0]}")
    check(both == [r for r in mine if r in both], "other order")
    ends = [r[3] for r in mine]
    check(ends == sorted(ends), "order of end")
    for r in mine:
        check(r[9] >> 32 == r[7] >> 32 and r[9] & 0xffffffff, f"thread of {r}")


def main():
    vendor, ours = (sqlite3.connect(f"file:{path}?mode=ro", uri=True) for path in sys.argv[1:])
    failed = 0
    for number, step in enumerate((same_tables, same_constants, same_rows), 1):
        try:
            step(vendor, ours)
            print(f"ok {number} - {step.__name__}")
        except (ValueError, sqlite3.Error) as e:
            failed = 1
            print(f"# {e!r}\nnot ok {number} - {step.__name__}")
    print("1..3")
    return failed


sys.exit(main())
