#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Prints a database as text: the schema in order of creation, every table row by row, and what the
views say. dump_db.py FILE.db"""
import sqlite3
import sys


def main():
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    (state,), = db.execute("PRAGMA integrity_check")
    if state != "ok":
        sys.exit(state)
    items = db.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    for kind, name, sql in items:
        print(sql)
    for kind, name, _ in items:
        if kind not in ("table", "view"):
            continue
        print(f"-- {name}")
        for row in db.execute(f"SELECT * FROM {name}"):
            print("|".join("-" if v is None else repr(v) for v in row))


main()
