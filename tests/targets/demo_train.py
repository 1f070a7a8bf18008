#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""A small "training loop" as people annotate theirs: nested ranges, marks, and ranges that one
thread begins and another ends. The work is sleep; the annotations are real calls of acl.prof.

usage: demo_train.py [STEPS=20]
"""
import contextlib
import queue
import sys
import threading
import time

import acl

MS = 0.001
LAYERS = (("embed", 1 * MS), ("attention", 5 * MS), ("mlp", 3 * MS))


def stamp_for(message):
    stamp = acl.prof.create_stamp()
    if stamp == 0:
        sys.exit("demo_train: create_stamp returned 0: profiling is off")
    acl.prof.set_stamp_trace_message(stamp, message, len(message))
    return stamp


def mark(message):
    stamp = stamp_for(message)
    acl.prof.mark(stamp)
    acl.prof.destroy_stamp(stamp)


@contextlib.contextmanager
def annotate(message):
    """A range of this thread; ranges nest."""
    stamp = stamp_for(message)
    acl.prof.push(stamp)
    try:
        yield
    finally:
        acl.prof.pop()
        acl.prof.destroy_stamp(stamp)


def load_batches(steps, batches):
    """Another thread: each batch's range begins here and ends where the batch is used."""
    for _ in range(steps):
        stamp = stamp_for("batch in queue")
        range_id, _ = acl.prof.range_start(stamp)
        batches.put((stamp, range_id))


def train_step(stamp, range_id):
    acl.prof.range_stop(range_id)
    acl.prof.destroy_stamp(stamp)
    with annotate("forward"):
        for layer, seconds in LAYERS:
            with annotate(layer):
                time.sleep(seconds)
    with annotate("backward"):
        time.sleep(20 * MS)
    with annotate("optimizer"):
        time.sleep(1 * MS)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    batches = queue.Queue(maxsize=2)
    loader = threading.Thread(target=load_batches, args=(steps, batches), name="loader")
    loader.start()
    for step in range(steps):
        with annotate("train step"):
            train_step(*batches.get())
        if step % 10 == 9:
            mark("checkpoint")
    loader.join()


main()
