# SPDX-License-Identifier: GPL-2.0-only
"""Processes of the benchmark: started, waited for with a limit, ended by PID, looked at."""
import ctypes
import glob
import os
import re
import select
import subprocess
import time

LIMIT = 120  # seconds until something counts as hung
PR_SET_CHILD_SUBREAPER = 36


class Unavailable(Exception):
    """A row that cannot run, with the reason for its place in the table."""


def adopt_orphans():
    """What a child leaves behind becomes a child of ours, so that its end can be waited for."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


class Process:
    """A child with its standard output in a pipe and its standard error in a file."""

    running = []

    def __init__(self, args, log, env=None, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                 pass_fds=()):
        self.args, self.log, self.rusage = args, log, None
        with open(log, "wb") as err:
            self.popen = subprocess.Popen(args, stdin=stdin, stdout=stdout, stderr=err,
                                          env={**os.environ, **(env or {})}, pass_fds=pass_fds)
        self.pid = self.popen.pid
        self.status = None
        Process.running.append(self)

    def say(self, text):
        self.popen.stdin.write(text.encode())
        self.popen.stdin.flush()

    def line(self):
        """The next line of its standard output."""
        ready, _, _ = select.select([self.popen.stdout], [], [], LIMIT)
        line = self.popen.stdout.readline().decode() if ready else ""
        if not line:
            raise Unavailable(f"{self.name()} said nothing: {self.last_words()}")
        return line

    def wait_log(self, pattern):
        """Until its standard error has a line that matches; returns when that was."""
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            with open(self.log, errors="replace") as file:
                if re.search(pattern, file.read(), re.M):
                    return time.monotonic()
            if self.ended():
                raise Unavailable(f"{self.name()} ended with {self.status}: {self.last_words()}")
            time.sleep(0.001)
        raise Unavailable(f"{self.name()} hangs: {self.last_words()}")

    def ended(self):
        if self.status is None:
            pid, status, rusage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.gone(status, rusage)
        return self.status is not None

    def gone(self, status, rusage):
        self.status, self.rusage = os.waitstatus_to_exitcode(status), rusage
        self.popen.returncode = self.status
        Process.running.remove(self)
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe:
                pipe.close()

    def wait(self, limit=LIMIT):
        until = time.monotonic() + limit
        while not self.ended():
            if time.monotonic() > until:
                self.kill()
                raise Unavailable(f"{self.name()} does not end: {self.last_words()}")
            time.sleep(0.001)
        return self.status

    def kill(self):
        if self.status is None:
            os.kill(self.pid, 9)
            _, status, rusage = os.wait4(self.pid, 0)
            self.gone(status, rusage)

    def name(self):
        return os.path.basename(self.args[0])

    def last_words(self):
        with open(self.log, errors="replace") as file:
            lines = [line.strip() for line in file]
        lines = [line for line in lines if line and not line.startswith("hint:")]
        return " / ".join(lines[-2:])[:200] or "no message"


def kill_all():
    for process in list(Process.running):
        process.kill()


def wait_orphans():
    """Until no child is left but those of Process.running."""
    known = {process.pid for process in Process.running}
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        children = set()
        for path in glob.glob(f"/proc/{os.getpid()}/task/*/children"):
            with open(path) as file:
                children |= {int(pid) for pid in file.read().split()}
        left = children - known
        if not left:
            return
        for pid in left:
            os.waitpid(pid, os.WNOHANG)
        time.sleep(0.001)
    raise Unavailable("a child of a tracer does not end")


def cpu_seconds(pid):
    """CPU time of all its threads, user and system, to the ns (the clock of that process)."""
    return time.clock_gettime(~pid << 3 | 2)


def memory(pid):
    """(highest resident memory, resident memory of mapped BPF maps) in bytes."""
    with open(f"/proc/{pid}/status") as file:
        high = int(re.search(r"^VmHWM:\s+(\d+)", file.read(), re.M)[1]) << 10
    maps, in_map = 0, False
    with open(f"/proc/{pid}/smaps") as file:
        for line in file:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                in_map = "bpf-map" in line
            elif in_map and line.startswith("Rss:"):
                maps += int(line.split()[1]) << 10
    return high, maps
