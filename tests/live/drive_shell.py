#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Types into an interactive shell on a terminal and prints what then stands in its command line.

  drive_shell.py LIMIT SETUP KEYS SHELL [ARG...]

SETUP is a line that the shell executes first. It must bind Ctrl-G to a command that prints the
command line between "<" and ">". KEYS are what is typed; Ctrl-G follows. Nothing depends on how
long the shell takes, LIMIT seconds only end what hangs.
"""
import os
import pty
import re
import select
import signal
import sys
import time


def read_until(fd, pattern, until):
    """The match of pattern in what the shell prints from now on."""
    text = b""
    while not (found := re.search(pattern, text)):
        left = until - time.monotonic()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            sys.exit(f"nothing like {pattern} in {text!r}")
        try:
            text += os.read(fd, 65536)
        except OSError:
            sys.exit(f"the shell ended: {text!r}")
    return found


def main():
    limit, setup, keys, *shell = sys.argv[1:]
    until = time.monotonic() + float(limit)
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="dumb", PS1="$ ", HISTFILE="/dev/null")
        os.execvp(shell[0], shell)
    try:
        # What the terminal echoes of this line has no result of the multiplication in it.
        os.write(fd, setup.encode() + b'; echo "ready $((6 * 7))"\n')
        read_until(fd, rb"ready 42", until)
        os.write(fd, keys.encode() + b"\a")
        line = read_until(fd, rb"<([^<>]*)>", until).group(1)
        sys.stdout.buffer.write(line + b"\n")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


main()
