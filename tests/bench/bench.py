# SPDX-License-Identifier: GPL-2.0-only
"""What `make bench` runs; see README.md beside it. Prints its results and writes results.md."""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import traceback

import alone
import report
import tracers
from procs import Process, Unavailable, adopt_orphans, kill_all, wait_orphans

FORMS = ["jmp", "stack", "endbr", "push"]
WARMUP = 1000


class Bench:
    """Where things are and how much is measured; facts are lines for the results."""

    def __init__(self, folder, tmp, quick):
        self.folder, self.tmp, self.quick = os.path.abspath(folder), tmp, quick
        self.acltap = os.path.join(self.folder, "acltap")
        self.rounds = 3 if quick else 5
        self.fast_iterations = 20000 if quick else 200000
        self.slow_iterations = 2000 if quick else 20000
        self.facts, self.lists = {}, {}

    def tool(self, name):
        return os.path.join(self.folder, "bench", name)

    def library(self, form):
        return os.path.join(self.folder, "targets", form, "libmsprofiler.so")

    def target(self, name):
        return os.path.join(self.folder, "targets", name)

    def environment(self, form):
        return {"LD_LIBRARY_PATH": os.path.dirname(self.library(form))}

    def listed(self, library, *options):
        """The rows of `acltap list`: file, function, offset, entry or return, ..."""
        key = (library, *options)
        if key not in self.lists:
            out = subprocess.run([self.acltap, "list", *options, library], check=True,
                                 capture_output=True, text=True).stdout
            self.lists[key] = [line.split("\t") for line in out.splitlines()]
        return self.lists[key]

    def traps_twice(self, form):
        """Is the plain entry of that form single-stepped? Then it gets fewer iterations."""
        return form in ("stack", "endbr")

    def iterations(self, tracer, form):
        slow = tracer.key in ("bpftrace", "perf record") or (
            tracer.slow and self.traps_twice(form))
        return self.slow_iterations if slow else self.fast_iterations

    def start_loop(self, form, iterations):
        return Process([self.tool("loop"), str(iterations), str(WARMUP)],
                       os.path.join(self.tmp, "loop.err"), self.environment(form))


def run_once(bench, tracer, form):
    """One measurement: (median ns, mean ns, events lost or None)."""
    iterations = bench.iterations(tracer, form)
    loop = bench.start_loop(form, iterations)
    try:
        tracer.start(loop.pid, bench.library(form))
        loop.say("go\n")
        median, mean = map(float, loop.line().split())
        lost = tracer.stop(tracers.EVENTS * (iterations + WARMUP))
        loop.popen.stdin.close()
        if loop.wait():
            raise Unavailable(f"the loop failed: {loop.last_words()}")
        wait_orphans()  # the kernel may still be removing probes
    finally:
        kill_all()
    return median, mean, lost


class Row:
    """What is known of a tracer at a form of the library."""

    def __init__(self, tracer, iterations):
        self.tracer, self.iterations = tracer, iterations
        self.medians, self.means, self.lost, self.why_not = [], [], [], None

    def add(self, result):
        self.medians.append(result[0])
        self.means.append(result[1])
        if result[2] is not None:
            self.lost.append(result[2])

    def ns(self):
        return statistics.median(self.medians)

    def usable(self):
        return bool(self.medians) and not self.why_not


def compare(bench, forms, only):
    """Every tracer at every form, one after the other in each round."""
    table = {}
    for form in forms:
        rows = [Row(cls(bench), 0) for cls in tracers.ALL if not only or cls.key in only]
        for row in rows:
            row.iterations = bench.iterations(row.tracer, form)
        for turn in range(bench.rounds):
            print(f"bench: form {form}, round {turn + 1} of {bench.rounds}", file=sys.stderr)
            for row in rows:
                if row.why_not:
                    continue
                try:
                    row.add(run_once(bench, row.tracer, form))
                except Unavailable as e:
                    row.why_not = str(e)
        table[form] = rows
    return table


def check_built(bench):
    needed = [bench.acltap, *map(bench.tool, ("loop", "floor", "bench_core", "bench_sink")),
              *map(bench.library, FORMS), bench.target("storm")]
    missing = [path for path in needed if not os.path.exists(path)]
    if missing:
        sys.exit(f"bench: not built: {', '.join(missing)}")
    if subprocess.run([bench.acltap, "check"], capture_output=True).returncode:
        sys.exit("bench: 'acltap check' says that this machine cannot trace")


def arguments():
    p = argparse.ArgumentParser(description="compare the cost of tracers; see README.md")
    p.add_argument("folder", help="build folder")
    p.add_argument("--quick", action="store_true", help="fewer rounds and iterations")
    p.add_argument("--forms", default=",".join(FORMS), help="only these forms of the library")
    p.add_argument("--only", default="", help="only these tracers, by comma; no other section")
    return p.parse_args()


def main():
    args = arguments()
    only = [key for key in args.only.split(",") if key]
    tmp = tempfile.mkdtemp(prefix="acltap-bench-")
    bench = Bench(args.folder, tmp, args.quick)
    try:
        check_built(bench)
        adopt_orphans()
        begun = report.machine()
        table = compare(bench, args.forms.split(","), only)
        sections = [] if only else alone.measure(bench)
        text = report.render(bench, begun, table, sections)
    except Exception:  # a crash of the harness is a failure, whatever it is
        traceback.print_exc()
        return 1
    finally:
        kill_all()
        shutil.rmtree(tmp, ignore_errors=True)
    print(text)
    if not only:
        path = os.path.join(bench.folder, "bench", "results.md")
        with open(path, "w") as file:
            file.write(text)
        print(f"bench: written to {path}", file=sys.stderr)
    return 1 if failed(table, sections) else 0


def failed(table, sections):
    """Another tracer may be missing; acltap and what it is measured against may not."""
    own = [cls.key for cls in tracers.ALL if cls not in (tracers.Bpftrace, tracers.Perf)]
    rows = [f"{row.tracer.key}, form {form}: {row.why_not}" for form, rows in table.items()
            for row in rows if row.why_not and row.tracer.key in own]
    rows += [f"{row[0]}: {row[2]}" for row in sections if row[1] == alone.NOT_MEASURED]
    for row in rows:
        print(f"bench: FAILED {row}", file=sys.stderr)
    return bool(rows)


sys.exit(main())
