#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Is README true? Runs its ```sh blocks, one after the other in one shell, in a scratch folder that
# looks like the repository, and compares what they print with the ```text block that follows:
# numbers, times and names ranked by time may differ, a line "..." stands for any lines. Checks too
# that links lead somewhere and that the messages under "Troubleshooting" are acltap's own.
# Prints TAP. A block after a line "<!-- not run: reason -->" is not run; a ```text block after
# "<!-- output of: COMMAND -->" is compared with what that prints.
#
#   check-readme.sh [FILE]     O=build folder with acltap and the targets
set -u
cd "$(dirname "$0")/.." || exit 1
case ${O:=build} in
/*) ;;
*) O=$PWD/$O ;;
esac
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/repo" || exit 1
ln -s "$O" "$scratch/repo/build"
ln -s "$PWD/tests" "$PWD/scripts" "$scratch/repo/"
unset LD_LIBRARY_PATH PYTHONPATH
/usr/bin/python3 - "${1:-README.md}" "$scratch" <<'END_PYTHON'
import glob
import os
import re
import subprocess
import sys

readme, scratch = sys.argv[1:]
with open(readme, encoding="utf-8") as file:
    text = file.read()
results = []


def report(name, problem=""):
    results.append(not problem)
    print(f"{'not ok' if problem else 'ok'} {len(results)} - {name}")
    for line in problem.splitlines():
        print(f"#   {line}")


def normal(line):
    line = re.sub(r"kernel \S+ on \S+", "kernel", line.strip())
    line = re.sub(r"\d[\d,.]*", "N", line)
    line = re.sub(r"N (ns|us|ms|s|min|h)\b", "T", line)
    line = re.sub(r"N ([a-z]+?)s\b", r"N \1", line)
    line = re.sub(r"^(T\s+Nx)\s.*", r"\1 name", line)
    return re.sub(r"\s+", " ", line)


def matches(expected, got):
    """Lines against lines; "..." stands for any number of them."""
    if not expected:
        return not got
    if expected[0] == "...":
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and expected[0] == got[0] and matches(expected[1:], got[1:])


def blocks():
    """(commands, expected output or None) of each runnable block."""
    found = re.findall(r"(?:<!-- (not run|output of): ([^\n]*) -->\n)?^```(\w+)\n(.*?)^```$",
                       text, re.M | re.S)
    for i, (note, argument, language, body) in enumerate(found):
        if note == "output of":
            yield argument + "\n", body
        elif language == "sh" and note != "not run":
            follows = i + 1 < len(found) and found[i + 1][0] + found[i + 1][2] == "text"
            yield body, found[i + 1][3] if follows else None


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def run_blocks(all_blocks):
    script = []
    for i, (commands, _) in enumerate(all_blocks):
        script.append(f"exec >{scratch}/out.{i} 2>&1\nset -e\n{commands}\nset +e\n"
                      f"echo done >{scratch}/done.{i}\n")
    subprocess.run(["bash", "-c", "".join(script)], cwd=scratch + "/repo", check=False,
                   stdin=subprocess.DEVNULL, timeout=600)


def check_blocks():
    all_blocks = list(blocks())
    run_blocks(all_blocks)
    for i, (commands, expected) in enumerate(all_blocks):
        name = commands.splitlines()[-1]
        out = read(f"{scratch}/out.{i}") if os.path.exists(f"{scratch}/out.{i}") else ""
        report(f"runs: {name}", "" if os.path.exists(f"{scratch}/done.{i}") else out or "not reached")
        if expected is not None:
            same = matches([normal(l) for l in expected.splitlines()],
                           [normal(l) for l in out.splitlines()])
            report(f"prints what is shown: {name}", "" if same else "got:\n" + out)
    report("there are commands", "" if len(all_blocks) >= 5 else f"only {len(all_blocks)}")


def check_links():
    for link in sorted(set(re.findall(r"\]\(([^)#:]+)\)", text))):
        if not os.path.exists(os.path.join(os.path.dirname(readme), link)):
            report(f"link {link}", "leads nowhere")
    report("links lead somewhere")


def check_messages():
    """First cells of the table: variable parts are written as an ellipsis."""
    source = "".join(read(path) for path in glob.glob("user/**/*.c", recursive=True))
    source = re.sub(r'"\s*\n\s*"', "", source).replace("\\n", "")
    part = text[text.index("\n## Troubleshooting"):]
    messages = re.findall(r"^\| `([^`]+)`", part[:part.index("\n## ", 1)], re.M)
    for message in messages:
        missing = [p for p in message.split("…") if p.strip(" ':") and p.strip(" ':") not in source]
        if missing:
            report(f"message {message}", f"not in the source: {missing}")
    report("messages are those of acltap", "" if messages else "there are none")


check_links()
check_messages()
check_blocks()
print(f"1..{len(results)}")
sys.exit(not all(results))
END_PYTHON
