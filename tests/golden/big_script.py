#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""big_script.py [STEPS]: an event script as of a training loop on stdout: two ranks with four
threads each, nested push/pop, overlapping start/end ranges and marks; some 13 spans a step."""
import random
import sys

LAYERS = ["attention", "mlp", "layer norm", "all reduce \u4e2d\u6587", "embedding"]


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 7700
    rnd = random.Random(1)
    lines = [(1000, "- clock real=1717575960208120114 boot=5000")]
    for rank, pid in enumerate((100, 200)):
        lines += [(1001, f'{pid}/{pid} fact name "train"'), (1002, f'{pid}/{pid} fact rank "{rank}"'),
                  (1003, f'{pid}/{pid} fact cmdline "python3\\0train.py\\0--rank={rank}"')]
    clock = {(pid, pid + k): 2000 + k for pid in (100, 200) for k in range(4)}
    threads = list(clock)
    range_id = 0

    def say(key, text, most):
        clock[key] += rnd.randint(most // 20 + 1, most)
        lines.append((clock[key], f"{key[0]}/{key[1]} {text}"))

    for step in range(steps):
        key = threads[step % len(threads)]
        stamp = f"stamp={key[1]:#x}"

        def push(name):
            say(key, f'msg {stamp} "{name}"', 2000)
            say(key, f"push {stamp}", 500)

        push(f"step {step // 80 % 40}")
        range_id += 1
        say(key, f'msg {stamp} "batch in queue"', 300)
        say(key, f"start {stamp} id={range_id} ret=0", 300)
        for phase in ("forward", "backward"):
            push(phase)
            for layer in rnd.sample(LAYERS, 4):
                push(layer)
                say(key, "pop", 20000 if rnd.random() < 0.9 else 400000)
            say(key, "pop", 2000)
        say(key, f'msg {stamp} "loss is finite"', 300)
        say(key, f"mark {stamp}", 300)
        say(key, "pop", 3000)
        if rnd.random() < 0.999:
            say(key, f"stop id={range_id}", 30000)
        say(key, f'msg {stamp} "idle"', 90000)
    end = max(clock.values()) + 1000
    lines += [(end, "- counts")]
    lines.sort(key=lambda line: line[0])
    sys.stdout.reconfigure(encoding="utf-8")
    for time, text in lines:
        print(time, text)


main()
