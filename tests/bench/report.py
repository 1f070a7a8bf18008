# SPDX-License-Identifier: GPL-2.0-only
"""The results as Markdown, which is also what is printed."""
import os
import platform
import re
import shutil
import subprocess
import time

# The most that acltap's extra cost may be of bpftrace's, by form, and of the floor's.
AGAINST_BPFTRACE = {"jmp": 1 / 6, "stack": 1 / 12, "endbr": 1 / 12, "push": None}
AGAINST_FLOOR = 1.35
FORM_NAMES = {"jmp": "packed `jmp`", "stack": "`-fstack-protector-all`",
              "endbr": "`endbr64; jmp`", "push": "`push` prologue"}


def machine():
    with open("/proc/cpuinfo") as file:
        model = re.search(r"^(?:model name|Model)\s*: (.*)$", file.read(), re.M)
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) >> 10
    return {"CPU": f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores",
            "memory": f"{memory} MB",
            "kernel": f"{platform.release()} {platform.machine()}",
            "load average at the start": " ".join(f"{v:.1f}" for v in os.getloadavg()),
            "date": time.strftime("%Y-%m-%d", time.gmtime())}


def version(command):
    if not shutil.which(command):
        return "not installed"
    out = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    return out.strip().splitlines()[0] if out.strip() else "?"


def find(rows, key):
    return next((r for r in rows if r.tracer.key == key and r.usable()), None)


def extra(rows, key):
    """ns that this tracer adds, or None."""
    row, base = find(rows, key), find(rows, "untraced")
    return row.ns() - base.ns() if row and base else None


def by_round(rows, key, than):
    """Lowest and highest ratio of the extra costs in any one round: how far to trust the median."""
    base, a, b = find(rows, "untraced"), find(rows, key), find(rows, than)
    ratios = [(x - n) / (y - n) for n, x, y in zip(base.medians, a.medians, b.medians) if y > n]
    return f"{min(ratios):.3f} to {max(ratios):.3f}" if ratios else "-"


def table(form, rows):
    yield f"\n### {FORM_NAMES[form]}\n"
    yield "| | ns per iteration | more than untraced | of bpftrace's | of the empty programs' " \
          "| mean ns | events lost | iterations |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for row in rows:
        if not row.usable():
            yield f"| {row.tracer.key} | not measured: {row.why_not} | | | | | | |"
            continue
        more = extra(rows, row.tracer.key)
        cells = [row.tracer.key, f"{row.ns():,.0f}",
                 "" if row.tracer.key == "untraced" or more is None else f"{more:,.0f}"]
        for than in ("bpftrace", "empty programs"):
            other = extra(rows, than)
            show = other and more is not None and row.tracer.key != "untraced"
            cells.append(f"{more / other:.3f}" if show else "")
        means = sorted(row.means)
        cells += [f"{means[len(means) // 2]:,.0f}",
                  f"{sum(row.lost):,} of {len(row.lost)} runs" if row.lost else "-",
                  f"{row.iterations:,}"]
        yield "| " + " | ".join(cells) + " |"


def verdict(rows, form, than, limit):
    ours, other = extra(rows, "acltap"), extra(rows, than)
    if limit is None or ours is None or not other:
        return None
    ratio, floor = ours / other, extra(rows, "empty programs")
    met = "yes" if ratio <= limit else "NO"
    if met == "NO" and floor and floor / other > limit:
        met = f"NO; the empty programs alone: {floor / other:.3f}"
    return (f"| {FORM_NAMES[form]} | {than} | {ratio:.3f} | {by_round(rows, 'acltap', than)} "
            f"| {limit:.3f} | {met} |")


def verdicts(tables):
    lines = []
    for form, rows in tables.items():
        lines.append(verdict(rows, form, "bpftrace", AGAINST_BPFTRACE.get(form)))
        lines.append(verdict(rows, form, "empty programs", AGAINST_FLOOR))
        ours = find(rows, "acltap")
        if ours:
            lines.append(f"| {FORM_NAMES[form]} | events lost in {len(ours.lost)} x "
                         f"{ours.iterations:,} iterations | {sum(ours.lost)} | | 0 "
                         f"| {'NO' if sum(ours.lost) else 'yes'} |")
    if not any(lines):
        return []
    return ["\n## acltap's extra cost, as a part of another's\n",
            "| library | against | ratio | in single rounds | at most | met |",
            "|---|---|--:|--:|--:|---|", *filter(None, lines)]


def render(bench, begun, tables, alone):
    out = ["# Benchmark results\n",
           "Made by `make bench" + (" QUICK=1" if bench.quick else "") +
           "`; see tests/bench/README.md for how, and for how to repeat it.\n"]
    facts = {**begun, "load average at the end": machine()["load average at the start"],
             "bpftrace": version("bpftrace"), "perf": version("perf"), **bench.facts}
    out += [f"- {key}: {value}" for key, value in facts.items()]
    out += ["\n## Cost of one iteration: set_message + range_start + range_stop\n",
            f"Each number is the median of {bench.rounds} rounds, in which the tracers take turns; "
            "in a run it is the median over parts of 20 iterations (the mean of all is given too), "
            "measured inside by CLOCK_MONOTONIC after a warm-up.\n"]
    rows = next(iter(tables.values()))
    out += [f"- {row.tracer.key}: {row.tracer.how}" for row in rows]
    for form, rows in tables.items():
        out += table(form, rows)
    out += verdicts(tables)
    if alone:
        out += ["\n## acltap alone\n", "| | | how |", "|---|--:|---|"]
        out += [f"| {what} | {value} | {how} |" for what, value, how in alone]
    return "\n".join(out) + "\n"
