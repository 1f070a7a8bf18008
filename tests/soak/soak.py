#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Traces for a long time what comes and goes, and counts what is left over.

usage: O=build tests/soak/soak.py MINUTES [SEED]     (root; not part of make test)

One acltap runs all the time and follows a process that starts targets without end, some of which are
killed. Beside it others attach to targets and are stopped, killed or left to end. In the end:
  - every event of every output is in the log of the program that made it, with its duration, and
    what the long one traced is there to the last call;
  - the long one has as many descriptors as in the beginning and no more memory;
  - no program, map or link of BPF is left without a process that holds it, and no process of ours.
Prints a line a minute and the figures; exits with 1 when something is wrong.
"""
import bisect
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.join(ROOT, os.environ.get("O", "build"))
ACLTAP, TARGETS = os.path.join(OUT, "acltap"), os.path.join(OUT, "targets")
LIBRARIES = [os.path.join(TARGETS, form, "libmsprofiler.so") for form in ("jmp", "stack", "endbr")]
LIMIT_S = 300  # until something counts as hung
SLACK_NS = 1_000_000  # the offset between the clocks is only known so well
RSS_GROWTH_KB = 4096
BPF_NAMES = {"entry", "leave", "loaded", "loaded_wait", "on_fork", "on_exec", "on_exit"}

sys.path.insert(0, os.path.join(ROOT, "tests", "targets"))
import compare_truth as truths  # noqa: E402


def target_command(rng):
    """A random target that writes its truth, and how it may end."""
    return rng.choice([
        ([f"{TARGETS}/threads", str(rng.randrange(2, 20))], {0}),
        ([f"{TARGETS}/fork_exec", str(rng.randrange(1, 5))], {0}),
        ([f"{TARGETS}/short"], {7}),
        ([f"{TARGETS}/crash", "segv"], {-signal.SIGSEGV}),
        ([f"{TARGETS}/crash", "abort"], {-signal.SIGABRT}),
        ([f"{TARGETS}/crash", "exit", "9"], {9}),
        ([f"{TARGETS}/leader_exit"], {3}),
        ([f"{TARGETS}/dlopen_late", "0", str(rng.randrange(1, 9)), rng.choice(LIBRARIES)], {0}),
        ([f"{TARGETS}/dlopen_late", "5", "6", *LIBRARIES[:2]], {0}),
    ])


def environment(truth, **more):
    return dict(os.environ, ACLTAP_TRUTH=truth, LD_LIBRARY_PATH=f"{TARGETS}/jmp", **more)


# ---- The process that the long acltap follows ------------------------------------------------------

def churn(truth, killed, seed):
    """Starts targets from the first line of its input until it ends; the PIDs of those it killed go
    to the file `killed`."""
    rng = random.Random(seed)
    env, wrong = environment(truth), 0
    sys.stdin.buffer.readline()  # it is traced now
    os.set_blocking(0, False)
    with open(killed, "w", encoding="ascii") as log:
        while sys.stdin.buffer.read(1) != b"":
            command, ends = target_command(rng)
            process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            if rng.random() < 0.1 and "fork_exec" not in command[0]:
                time.sleep(rng.random() * 0.02)
                log.write(f"{process.pid}\n")
                log.flush()
                process.kill()
                process.wait()
            elif process.wait() not in ends:
                wrong += 1
                print(f"{command} ended with {process.returncode}", flush=True)
            time.sleep(rng.random() * 0.2)
    return 1 if wrong else 0


# ---- Outputs against truths ----------------------------------------------------------------------

def clock_offset():
    """Unix time - CLOCK_MONOTONIC, in ns."""
    return time.time_ns() - time.monotonic_ns()


def fits(row, event):
    """Can the event have the duration of the row?"""
    if event["kind"].startswith("marker"):
        return event["duration_ns"] == 0
    least, most = max(row.end.before - row.start.after, 0), row.end.after - row.start.before
    return least <= event["duration_ns"] <= most and event["end_tid"] == row.end.tid


def find_row(group, used, event, at):
    """The row that the event is, of those with its key in order of time; the nearest one, or None.
    at: the event's monotonic time, but for the error of the clocks."""
    near = []
    first = bisect.bisect_right(group, at + SLACK_NS, key=lambda row: row.start.before)
    for row in reversed(group[:first]):
        off = max(row.start.before - at, at - row.start.after, 0)
        if row.start.after < at - SLACK_NS:
            break
        if row.line not in used and row.status == "complete" and fits(row, event):
            near.append((off, row))
    return min(near, default=(0, None))[1]


def match(groups, events, offset):
    """Returns the lines of the truth that are events, and the events that are none of them."""
    used, wrong = set(), []
    for event in events:
        key = truths.key_of_event(event)
        row = find_row(groups.get(key, []), used, event, event["start_ns"] - offset)
        if row:
            used.add(row.line)
        else:
            wrong.append(f"{key} of {event['duration_ns']} ns")
    return used, wrong


def offsets(groups, events):
    """What can have been between the clocks: as now, or such that the first event is a row near."""
    now = clock_offset()
    yield now
    for row in groups.get(truths.key_of_event(events[0]), []) if events else []:
        offset = events[0]["start_ns"] - (row.start.before + row.start.after) // 2
        if abs(offset - now) < 50 * SLACK_NS:
            yield offset


def check_events(name, truth_file, events_file, whole, ignore, report):
    """Each event is one of the truth; with whole, each of the truth also is an event. Returns the
    number of events, of what is missing and of what is said to be lost."""
    rows, _ = truths.read_truth(truth_file)
    events, counts = truths.read_events(events_file)
    groups, wrong = collections.defaultdict(list), []
    for row in sorted(rows, key=lambda r: r.start.before):
        groups[truths.key_of_truth(row)].append(row)
    events = sorted((e for e in events if e["pid"] not in ignore and e["status"] == "complete"),
                    key=lambda e: e["start_ns"])
    for offset in offsets(groups, events):
        used, wrong = match(groups, events, offset)
        if not wrong:
            break
    for text in wrong[:5]:
        report(f"{name}: not in the truth: {text}")
    lost = sum(n for what, n in counts.items() if what.startswith(("loss", "lost", "limit")))
    missing = sum(row.status == "complete" and row.line not in used and row.pid not in ignore
                  for row in rows)
    if whole and missing and not lost:
        report(f"{name}: {missing} of {len(rows)} are missing, and nothing is said to be lost")
    return len(events), missing, lost


# ---- What is left of BPF ---------------------------------------------------------------------------

def bpf_ids():
    """The numbers of all BPF programs that have a name of acltap's."""
    path = os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"
    out = subprocess.run(["bpftool", "prog", "show", "-j"], capture_output=True, check=True,
                         env=dict(os.environ, PATH=path)).stdout
    return {p["id"] for p in json.loads(out or "[]") if p.get("name") in BPF_NAMES}


def held_ids():
    """The numbers of the programs that some process has a descriptor of, or a link to."""
    ids = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for fd in os.listdir(f"/proc/{pid}/fdinfo"):
                with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii", errors="replace") as file:
                    ids.update(int(line.split()[1]) for line in file if line.startswith("prog_id:"))
        except OSError:
            continue
    return ids


def orphans():
    """Programs of acltap's names that no process holds; others on this machine may trace too."""
    before = bpf_ids()
    held = held_ids()
    return (before - held) & bpf_ids()


def left_processes(directory):
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read()
        except OSError:
            continue
        if directory.encode() in words and int(pid) != os.getpid():
            left.append(pid)
    return left


class Watched:
    """Memory and descriptors of a process, over time."""

    def __init__(self, pid):
        self.pid, self.samples = pid, []

    def sample(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as file:
            rss = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        self.samples.append((time.monotonic(), rss, len(os.listdir(f"/proc/{self.pid}/fd"))))
        return self.samples[-1]


# ---- Attach, detach, kill --------------------------------------------------------------------------

class Soak:
    """The whole run: a long acltap with its targets, and rounds of short ones."""

    def __init__(self, minutes, seed):
        self.until = time.monotonic() + 60 * minutes
        self.rng = random.Random(seed)
        self.dir = tempfile.mkdtemp(prefix="acltap-soak.")
        self.problems, self.ends = [], collections.Counter()
        self.events = self.missing = self.lost = self.rounds = 0

    def report(self, text):
        self.problems.append(text)
        print(f"WRONG {text}", flush=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def start_acltap(self, name, *arguments):
        with open(self.path(name + ".err"), "wb") as err:
            process = subprocess.Popen([ACLTAP, "record", *arguments], stdin=subprocess.DEVNULL,
                                       stdout=err, stderr=err)
        limit = time.monotonic() + LIMIT_S
        while time.monotonic() < limit and process.poll() is None:
            if b"acltap: tracing" in self.words(name):
                return process
            time.sleep(0.05)
        self.report(f"{name}: acltap does not trace (status {process.poll()})")
        process.kill()
        return process

    def words(self, name):
        with open(self.path(name + ".err"), "rb") as file:
            return file.read()

    def wait(self, name, process):
        try:
            return process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.report(f"{name}: hangs")
            process.kill()
            return process.wait()

    def check(self, name, truth, events, whole, ignore=()):
        try:
            got = check_events(name, truth, events, whole, ignore, self.report)
        except (OSError, ValueError) as error:
            self.report(f"{name}: {error!r}")
            return
        self.events, self.missing = self.events + got[0], self.missing + got[1]
        self.lost += got[2]

    def export(self, name, capture):
        done = subprocess.run([ACLTAP, "export", "-q", "-f", capture, "-o", self.path("x.ndjson")],
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode not in (0, 1) or not os.path.exists(self.path("x.ndjson")):
            self.report(f"{name}: export says {done.returncode}: {done.stderr!r}")
            return False
        return True

    def round(self):
        """A target and an acltap that ends in a random way."""
        self.rounds += 1
        problems = len(self.problems)
        name = f"round {self.rounds}"
        how = self.rng.choice(["end", "end", "end", "int", "term", "kill", "kill target"])
        self.ends[how] += 1
        command, ends = target_command(self.rng)
        truth, events, go = self.path("truth"), self.path("r.ndjson"), self.path("go")
        open(truth, "wb").close()
        os.mkfifo(go)
        target = subprocess.Popen(command, env=environment(truth, ACLTAP_WAIT=go),
                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        tracer = self.start_acltap("round", "-f", "-o", events, "-p", str(target.pid))
        with open(go, "wb", buffering=0) as fifo:
            fifo.write(b"g")
        self.interfere(how, tracer, target)
        status = self.wait(name + " target", target)
        if status not in ends and how != "kill target":
            self.report(f"{name} ({how}): {command} ended with {status}")
        status = self.wait(name, tracer)
        if status != (-signal.SIGKILL if how == "kill" else 0):
            # A signal may come when it has ended already.
            if how != "kill" or status != 0:
                self.report(f"{name} ({how}): acltap ended with {status}")
        if how == "kill" and not os.path.exists(events):
            if self.export(name, events + ".acltap"):
                self.check(name, truth, self.path("x.ndjson"), False)
        else:
            ignore = {target.pid} if how == "kill target" else ()
            told = self.words("round")
            whole = how == "end" and b"not seen" not in told and b"not be seen" not in told
            self.check(name, truth, events, whole, ignore)
        for file in (truth, events, events + ".acltap", go, self.path("x.ndjson")):
            if os.path.exists(file) and len(self.problems) == problems:
                os.unlink(file)
            elif os.path.exists(file):
                os.rename(file, f"{file}.{self.rounds}")

    def interfere(self, how, tracer, target):
        signals = {"int": signal.SIGINT, "term": signal.SIGTERM, "kill": signal.SIGKILL}
        time.sleep(self.rng.random() * 0.05)
        if how in signals and tracer.poll() is None:
            tracer.send_signal(signals[how])
        elif how == "kill target" and target.poll() is None:
            target.kill()

    def rounds_until_the_end(self, watched):
        told = 0
        while time.monotonic() < self.until:
            self.round()
            _, rss, fds = watched.sample()
            if time.monotonic() - told >= 60:
                told = time.monotonic()
                print(f"{self.rounds} rounds, {self.events} events, long one: {rss} kB, {fds} fds",
                      flush=True)

    def end_long(self, parent, tracer, truth, killed):
        parent.stdin.close()
        if self.wait("parent of the long one", parent):
            self.report("a target of the long one ended in another way than it should")
        status = self.wait("the long one", tracer)
        if status:
            self.report(f"the long one ended with {status}")
        with open(killed, encoding="ascii") as file:
            ignore = {int(line) for line in file}
        self.check("the long one", truth, self.path("long.ndjson"), True, ignore)
        with open(truth, "rb") as file:
            print(f"the long one: {sum(1 for _ in file)} rows in its truth, "
                  f"{len(ignore)} targets killed")

    def check_growth(self, watched):
        first = watched.samples[len(watched.samples) // 10:][:10]
        last = watched.samples[-10:]
        rss = [min(s[1] for s in part) for part in (first, last)]
        fds = [min(s[2] for s in part) for part in (first, last)]
        print(f"memory: {rss[0]} kB early, {rss[1]} kB late; descriptors: {fds[0]}, {fds[1]}")
        if rss[1] - rss[0] > RSS_GROWTH_KB:
            self.report("the memory of the long one has grown")
        if fds[1] > fds[0]:
            self.report("the long one has more descriptors than in the beginning")

    def check_left(self):
        limit = time.monotonic() + 60
        while (orphans() or left_processes(self.dir)) and time.monotonic() < limit:
            time.sleep(0.5)
        programs, processes = orphans(), left_processes(self.dir)
        print(f"left: {len(programs)} BPF programs that nobody holds, {len(processes)} processes")
        if programs or processes:
            self.report(f"something is left: {programs} {processes}")

    def run(self, seed):
        truth, killed = self.path("long.truth"), self.path("killed")
        open(truth, "wb").close()
        parent = subprocess.Popen([sys.executable, "-B", __file__, "--churn", truth, killed,
                                   str(seed)], stdin=subprocess.PIPE)
        tracer = self.start_acltap("long", "--ring-size", "64M", "-o", self.path("long.ndjson"),
                                   *(f"--lib={lib}" for lib in LIBRARIES), "-p", str(parent.pid))
        parent.stdin.write(b"go\n")
        parent.stdin.flush()
        watched = Watched(tracer.pid)
        self.rounds_until_the_end(watched)
        self.end_long(parent, tracer, truth, killed)
        self.check_growth(watched)
        self.check_left()
        print(f"{self.rounds} rounds ({', '.join(f'{n} {how}' for how, n in self.ends.items())}): "
              f"{self.events} events, {self.lost} lost, {len(self.problems)} problems")
        if not self.problems:
            shutil.rmtree(self.dir)
        else:
            print(f"kept: {self.dir}")
        return 1 if self.problems else 0


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "--churn":
        return churn(*sys.argv[2:4], int(sys.argv[4]))
    if len(sys.argv) not in (2, 3) or os.geteuid():
        print(__doc__, file=sys.stderr)
        return 2
    seed = int(sys.argv[2]) if len(sys.argv) == 3 else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    return Soak(float(sys.argv[1]), seed).run(seed)


if __name__ == "__main__":
    sys.exit(main())
