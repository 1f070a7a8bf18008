# SPDX-License-Identifier: GPL-2.0-only
"""The tracers that are compared: each is attached to a waiting process, and taken off again."""
import os
import re
import shutil
import signal
import time
from subprocess import DEVNULL

from procs import Process, Unavailable

EVENTS = 4  # of an iteration: set_message, range_start, its return, range_stop
SITES = [("aclprofSetStampTraceMessage", "entry"), ("aclprofRangeStart", "entry"),
         ("aclprofRangeStart", "return"), ("aclprofRangeStop", "entry")]


def last_number(pattern, path):
    with open(path, errors="replace") as file:
        found = re.findall(pattern, file.read())
    return int(found[-1].replace(",", "")) if found else None


class Tracer:
    """How: what the results say about it. slow: gets fewer iterations at probes that trap twice."""

    key, how, slow = "untraced", "nothing attached", False

    def __init__(self, bench):
        self.bench, self.process = bench, None

    def file(self, name):
        return os.path.join(self.bench.tmp, name)

    def start(self, pid, library):
        """Returns when its probes are there."""

    def stop(self, events):
        """Takes it off; returns how many of so many events are missing, None = records none."""
        return None


class Acltap(Tracer):
    key, how, options = "acltap", "`acltap record -p PID -o x.csv`", []

    def start(self, pid, library):
        self.process = Process([self.bench.acltap, "record", "-f", "-p", str(pid), *self.options,
                                "-o", self.file("x.csv")], self.file("acltap.err"), stdin=None,
                               stdout=None)
        self.process.wait_log("^acltap: tracing")

    def stop(self, events):
        if not self.process.ended():
            os.kill(self.process.pid, signal.SIGINT)
        if self.process.wait():
            raise Unavailable(f"acltap failed: {self.process.last_words()}")
        return self.lost(events)

    def lost(self, events):
        """As its summary says, and not less than what its file lacks."""
        log = self.file("acltap.err")
        said = sum(last_number(pattern, log) or 0
                   for pattern in (r"([\d,]+) calls? lost", r"([\d,]+) lost return record"))
        with open(self.file("x.csv"), "rb") as file:
            rows = sum(b",start/end," in line for line in file)
        return max(said, events // EVENTS - rows)


class AcltapEntry(Acltap):
    key, how = "acltap --probe-site=entry", "the same with `--probe-site=entry`"
    options, slow = ["--probe-site=entry"], True


class Floor(Tracer):
    key, how = "empty programs", "floor.c: `return 0` at the sites that `acltap list` chooses"

    def sites(self, library):
        places = dict.fromkeys(SITES)
        for row in self.bench.listed(library):
            if tuple(row[1:4:2]) in places:
                places[tuple(row[1:4:2])] = row[2]
        missing = [f"{name} {kind}" for (name, kind), at in places.items() if not at]
        if missing:
            raise Unavailable(f"acltap list has no {', '.join(missing)} in {library}")
        return [f"{kind}:{at}" for (_, kind), at in places.items()]

    def start(self, pid, library):
        self.process = Process([self.bench.tool("floor"), library, *self.sites(library)],
                               self.file("floor.err"))
        self.bench.facts["empty programs are attached by"] = self.process.line().split()[1]

    def stop(self, events):
        self.process.popen.stdin.close()
        self.process.wait()
        return None


BPFTRACE_SCRIPT = """
uprobe:LIB:aclprofSetStampTraceMessage
{ printf("M %llu %d %d %llx %s\\n", nsecs, pid, tid, arg0, str(arg1, arg2)); }
uprobe:LIB:aclprofRangeStart
{ @id[tid] = arg1; printf("S %llu %d %d %llx\\n", nsecs, pid, tid, arg0); }
uretprobe:LIB:aclprofRangeStart
{ printf("R %llu %d %d %d %d\\n", nsecs, pid, tid, retval, *(uint32*)uptr(@id[tid])); }
uprobe:LIB:aclprofRangeStop
{ printf("E %llu %d %d %d\\n", nsecs, pid, tid, arg0); }
END { clear(@id); }
"""


class Bpftrace(Tracer):
    key, slow = "bpftrace", True
    how = "`bpftrace -p PID -o FILE`: the same four probes, one printed line per event"

    def start(self, pid, library):
        if not shutil.which("bpftrace"):
            raise Unavailable("bpftrace is not installed")
        script = self.file("script.bt")
        with open(script, "w") as file:
            file.write(BPFTRACE_SCRIPT.replace("LIB", library))
        self.process = Process(["bpftrace", "-v", "-p", str(pid), "-o", self.file("bt.out"),
                                script], self.file("bpftrace.err"), stdin=None,
                               stdout=DEVNULL)
        self.process.wait_log(r"(Attaching u(ret)?probe.*\n){4}")
        self.wait_attached()

    def wait_attached(self):
        """It does not say when its last probe is there: until it opens no more descriptors."""
        last, since = 0, time.monotonic()
        while time.monotonic() - since < 0.7:
            if self.process.ended():
                raise Unavailable(f"bpftrace ended: {self.process.last_words()}")
            fds = len(os.listdir(f"/proc/{self.process.pid}/fd"))
            if fds != last:
                last, since = fds, time.monotonic()
            time.sleep(0.02)

    def stop(self, events):
        if not self.process.ended():
            os.kill(self.process.pid, signal.SIGINT)
        self.process.wait()
        with open(self.file("bt.out"), "rb") as file:
            got = sum(line[:2] in (b"M ", b"S ", b"R ", b"E ") for line in file)
        if not got:
            raise Unavailable(f"bpftrace recorded nothing: {self.process.last_words()}")
        return max(events - got, 0)


class Perf(Tracer):
    key, slow = "perf record", True
    how = "`perf record -p PID` of the same four probes at the entries, with the message text"

    def tracefs(self):
        """The control file of uprobe events, in the tracefs that bench.sh mounted for us."""
        path = "/sys/kernel/tracing/uprobe_events"
        if not os.path.exists(path):
            raise Unavailable("there is no tracefs with uprobe_events, or it cannot be mounted")
        return path

    def group(self):
        return f"acltap_bench_{os.getpid()}"

    def define(self, library):
        """perf probe cannot say a text whose address is an argument; the kernel's own file can."""
        want = {SITES[0]: ("p", "stamp={1} len={3}:u32 msg=+0({2}):string"),
                SITES[1]: ("p", "stamp={1} id={2}"),
                SITES[2]: ("r", "ret=$retval"), SITES[3]: ("p", "id={1}:u32")}
        regs = ["", "%di", "%si", "%dx"] if os.uname().machine == "x86_64" else \
            ["", "%x0", "%x1", "%x2"]
        at = {row[1]: row[2] for row in self.bench.listed(library, "--probe-site=entry")}
        for i, ((name, _), (kind, args)) in enumerate(want.items()):
            self.control(f"{kind}:{self.group()}/e{i} {library}:{at[name]} {args.format(*regs)}")

    def control(self, line):
        """Appends, which is all that the file can: opening it to write would clear it."""
        fd = os.open(self.tracefs(), os.O_WRONLY | os.O_APPEND)
        try:
            os.write(fd, line.encode() + b"\n")
        finally:
            os.close(fd)

    def undefine(self):
        with open(self.tracefs()) as file:
            mine = re.findall(rf"^[pr]\d*:({self.group()}/\w+)", file.read(), re.M)
        for name in mine:
            self.control(f"-:{name}")

    def start(self, pid, library):
        if not shutil.which("perf"):
            raise Unavailable("perf is not installed")
        if self.process and self.process.status is None:
            self.process.kill()
        self.undefine()
        try:
            self.define(library)
        except OSError as e:
            raise Unavailable(f"the kernel refuses the probes: {e.strerror}") from e
        (read, ctl), (ack, write) = self.pipes = os.pipe(), os.pipe()
        self.process = Process(["perf", "record", "-e", f"{self.group()}:*", "-p", str(pid),
                                "-D", "-1", "--control", f"fd:{read},{write}",
                                "-o", self.file("perf.data")],
                               self.file("perf.err"), stdin=None, stdout=DEVNULL,
                               pass_fds=(read, write))
        os.close(read)
        os.close(write)
        os.write(ctl, b"enable\n")
        if not os.read(ack, 16).startswith(b"ack"):
            raise Unavailable(f"perf ended: {self.last_words()}")

    def last_words(self):
        self.process.wait()
        self.close()
        return self.process.last_words()

    def close(self):
        """Not earlier: perf ends when the control pipe does."""
        (_, ctl), (ack, _) = self.pipes
        os.close(ctl)
        os.close(ack)

    def stop(self, events):
        if not self.process.ended():
            os.kill(self.process.pid, signal.SIGINT)
        self.process.wait()
        self.close()
        self.undefine()
        got = last_number(r"\((\d+) samples\)", self.file("perf.err"))
        if got is None:
            raise Unavailable(f"perf recorded nothing: {self.process.last_words()}")
        return max(events - got, 0)


ALL = [Tracer, Acltap, AcltapEntry, Floor, Bpftrace, Perf]
