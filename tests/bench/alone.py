# SPDX-License-Identifier: GPL-2.0-only
"""What acltap costs by itself: CPU, memory, latencies, rates; and many producers."""
import os
import re
import signal
import statistics
import subprocess
import sys
import time

import tracers
from procs import Process, Unavailable, cpu_seconds, kill_all, memory, wait_orphans

MB = 1 << 20
NOT_MEASURED = "not measured"


def ms(seconds):
    return f"{seconds * 1e3:.0f} ms"


class Session:
    """acltap attached to a waiting loop, with the times at which things happened."""

    def __init__(self, bench, iterations, outputs):
        self.bench, self.iterations = bench, iterations
        self.loop = bench.start_loop("jmp", iterations)
        self.log = os.path.join(bench.tmp, "alone.err")
        paths = [os.path.join(bench.tmp, name) for name in outputs]
        args = [bench.acltap, "record", "-f", "-p", str(self.loop.pid)]
        for path in paths:
            args += ["-o", path]
        started = time.monotonic()
        self.acltap = Process(args, self.log, stdin=None, stdout=None)
        self.attached = self.acltap.wait_log("^acltap: tracing") - started
        self.events = tracers.EVENTS * (iterations + 1000)

    def run(self):
        """The loop; afterwards acltap has read all that it caused."""
        before = cpu_seconds(self.acltap.pid)
        self.loop.say("go\n")
        self.loop.line()
        time.sleep(0.1)
        self.cpu = cpu_seconds(self.acltap.pid) - before
        self.high, self.ring = memory(self.acltap.pid)

    def stop(self):
        """SIGINT; afterwards its files are complete and the kernel has removed the probes."""
        begun = time.monotonic()
        os.kill(self.acltap.pid, signal.SIGINT)
        if self.acltap.wait():
            raise Unavailable(f"acltap failed: {self.acltap.last_words()}")
        self.exit = time.monotonic() - begun
        self.maxrss = self.acltap.rusage.ru_maxrss << 10
        wait_orphans()
        self.detach = time.monotonic() - begun
        self.loop.popen.stdin.close()
        self.loop.wait()


def sessions(bench, iterations, outputs, times):
    done = []
    for _ in range(times):
        s = Session(bench, iterations, outputs)
        s.run()
        s.stop()
        done.append(s)
    return done


def med(values):
    return statistics.median(values)


def consumer(bench):
    small, large = bench.fast_iterations // 4, bench.fast_iterations
    some = sessions(bench, small, ["a.acltap"], 3)
    many = sessions(bench, large, ["a.acltap"], 3)
    yield ("CPU per million events, into a capture",
           f"{med([s.cpu / s.events * 1e6 for s in many]):.2f} s",
           f"user + system time of acltap while {many[0].events:,} events came; median of 3")
    yield ("memory, ring not counted",
           f"{med([s.high - s.ring for s in many]) / MB:.1f} MB",
           f"VmHWM less the mapped ring, after {many[0].events:,} events")
    yield ("the same, a quarter of the events",
           f"{med([s.high - s.ring for s in some]) / MB:.1f} MB",
           f"after {some[0].events:,} events: it must not grow with the trace")
    yield ("memory, ring counted", f"{med([s.high for s in many]) / MB:.1f} MB",
           "VmHWM; the kernel maps a ring twice")
    yield ("attach", ms(med([s.attached for s in some + many])),
           "start of the program to its line 'tracing PID'; median of 6")
    yield ("stop to exit, a capture", ms(med([s.exit for s in many])),
           f"SIGINT to exit, {large:,} ranges recorded; median of 3")
    yield ("stop to the last probe gone", ms(med([s.detach for s in many])),
           "SIGINT until no process of acltap is left; median of 3")


def stopping(bench):
    n = bench.fast_iterations // 10
    done = sessions(bench, n, ["b.csv", "b.json", "b.ndjson"], 3)
    yield ("stop to exit with CSV, JSON and NDJSON written", ms(med([s.exit for s in done])),
           f"SIGINT to exit, {n:,} ranges; median of 3")
    yield ("memory with these files, ring counted",
           f"{med([s.maxrss for s in done]) / MB:.1f} MB", "ru_maxrss at exit")


def idle(bench):
    seconds = 2 if bench.quick else 5
    s = Session(bench, 100, ["c.acltap"])
    time.sleep(0.5)
    before = cpu_seconds(s.acltap.pid)
    time.sleep(seconds)
    used = cpu_seconds(s.acltap.pid) - before
    s.stop()
    yield ("CPU while nothing happens", f"{used / seconds * 100:.2f} % of a core",
           f"user + system time over {seconds} s, attached to a waiting process")


def pipeline(bench):
    """Best of 3: other processes only ever make it slower."""
    def best(args, pattern):
        rates = {}
        for _ in range(3):
            out = subprocess.run(args, capture_output=True, text=True, check=True).stdout
            for name, rate in re.findall(pattern, out, re.M):
                rates[name.strip()] = max(rates.get(name.strip(), 0), float(rate))
        return rates

    n = 1000000 if bench.quick else 3000000
    rates = best([bench.tool("bench_core"), str(n)], r"^(.*?)\s+([\d.]+) M events")
    for name, rate in rates.items():
        yield (f"decode and reconstruct: {name}", f"{rate:.2f} M events/s",
               f"bench_core, {n:,} records in memory, one core; best of 3")
    for suffix in ("csv", "json", "tsv"):
        path = os.path.join(bench.tmp, f"rows.{suffix}")
        for _, rate in best([bench.tool("bench_sink"), path, str(n // 2)],
                            r"^(.*?)\s+([\d.]+) M rows").items():
            yield (f"write {suffix}", f"{rate:.2f} M rows/s",
                   f"bench_sink, {n // 2:,} spans, sorted, to a file; best of 3")


def producers(bench, threads):
    """storm: that many threads of set_message, push, pop, as fast as they can."""
    n = (10000 if bench.quick else 100000) * 2 // threads
    log, go = os.path.join(bench.tmp, "storm.err"), os.path.join(bench.tmp, "go")
    out = os.path.join(bench.tmp, "d.acltap")
    if os.path.exists(go):
        os.unlink(go)
    os.mkfifo(go)
    storm = Process([bench.target("storm"), str(threads), str(n)], log,
                    {**bench.environment("jmp"), "ACLTAP_WAIT": go})
    acltap = Process([bench.acltap, "record", "-f", "-p", str(storm.pid), "-o", out],
                     os.path.join(bench.tmp, "producers.err"), stdin=None, stdout=None)
    acltap.wait_log("^acltap: tracing")
    with open(go, "w") as fifo:
        fifo.write("go\n")
    begun = time.monotonic()
    storm.wait()
    took = time.monotonic() - begun
    if acltap.wait():
        raise Unavailable(f"acltap failed: {acltap.last_words()}")
    wait_orphans()
    lost = tracers.last_number(r"([\d,]+) calls? lost", acltap.log) or 0
    return 3 * n * threads / took, lost, 3 * n * threads


def storms(bench):
    for threads in (1, 2, 4):
        runs = [producers(bench, threads) for _ in range(3)]
        yield (f"{threads} threads at full speed" if threads > 1 else "1 thread at full speed",
               f"{med([r[0] for r in runs]) / 1e6:.2f} M events/s, "
               f"{sum(r[1] for r in runs)} lost",
               f"storm, form jmp, {runs[0][2]:,} calls each time; median of 3")


PARTS = [consumer, stopping, idle, pipeline, storms]


def measure(bench):
    """Rows (what, value, how); a part that cannot run says why."""
    rows = []
    for part in PARTS:
        print(f"bench: {part.__name__}", file=sys.stderr)
        try:
            rows += list(part(bench))
        except (Unavailable, subprocess.CalledProcessError) as e:
            rows.append((part.__name__, NOT_MEASURED, str(e)))
        finally:
            kill_all()
    return rows
