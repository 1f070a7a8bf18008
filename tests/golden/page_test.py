#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""page_test.py GOLDEN FOLDER: makes reports of event scripts with the program GOLDEN in FOLDER, opens
them in Chromium and uses them as a person would: mouse, keys, light and dark, wide and narrow.
Prints TAP."""
import json
import os
import subprocess
import sys
import time

from browser import Browser

HERE = os.path.dirname(os.path.abspath(__file__))
HOSTILE = r'''# What a page must not do, in every text that it shows.
1000 - clock real=1000000001000 boot=1000
1000 - fact host "</script><script>window.hacked=1</script>"
1000 7/7 fact name "<img src=x onerror=window.hacked=2>"
1000 7/7 fact cmdline "<svg onload=window.hacked=3>"
1000 7/7 fact thread "</canvas><b id=hacked>"
1010 7/7 msg stamp=0x10 "</script><script>window.hacked=4</script>"
1020 7/7 push stamp=0x10
1030 7/7 msg stamp=0x10 "<!--<script>"
1040 7/7 mark stamp=0x10
1050 7/7 msg stamp=0x10 "\xe2\x80\xaedesrever\xe2\x80\xac \xe2\x80\xa8\xe2\x80\xa9"
1060 7/7 mark stamp=0x10
1070 7/7 msg stamp=0x10 "\xff\xc0\xbcscript\xed\xa0\x80"
1080 7/7 mark stamp=0x10
1090 7/7 msg stamp=0x10 "'\"><a href=javascript:window.hacked=5>&lt;"
1100 7/7 mark stamp=0x10
1110 7/7 msg stamp=0x10 "__proto__"
1120 7/7 mark stamp=0x10
1130 7/7 category_name "<script>" number=1
1140 7/7 category stamp=0x10 number=1
1150 7/7 mark stamp=0x10
1200 7/7 pop
1300 7/7 exit last
1400 - counts
'''

count = failed = 0


def ok(name, condition, *words):
    global count, failed
    count += 1
    failed += not condition
    print(f"{'ok' if condition else 'not ok'} {count} - {name}", flush=True)
    for word in () if condition else words:
        print("#  ", str(word)[:1500].replace("\n", "\n#   "))


def same(name, got, want):
    ok(name, got == want, f"got  {got!r}", f"want {want!r}")


def page_of(name, script):
    path = f"{sys.argv[2]}/{name}.html"
    subprocess.run([sys.argv[1], "--write", path, script], check=True)
    return path


def text_of(page, selector):
    return page.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")


def rows(page):
    return page.run("[...document.querySelectorAll('#table-box tbody tr')]"
                    ".map(r => [...r.cells].map(c => c.textContent))")


def hostile(page, path):
    page.open(path)
    same("hostile: no complaint, no request", page.problems(), [])
    same("hostile: nothing ran", page.run("typeof window.hacked"), "undefined")
    same("hostile: no element came from a text",
         page.run("document.querySelectorAll('img, a[href^=java], iframe, #hacked, #table-box script').length"), 0)
    shown = page.run("document.body.innerText")
    ok("hostile: texts are shown as they are", all(t in shown for t in (
        "</script><script>window.hacked=4</script>", "<!--<script>", "<img src=x onerror=window.hacked=2>",
        "<svg onload=window.hacked=3>", "'\"><a href=javascript:window.hacked=5>&lt;", "__proto__")), shown)
    ok("hostile: directions and separators are made visible",
       "<U+202E>desrever<U+202C> <U+2028><U+2029>" in shown and
       not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2028\u2029"), shown)
    ok("hostile: what is no UTF-8 is U+FFFD", "\ufffd\ufffd\ufffdscript\ufffd" in shown, shown)
    page.run("report.timeline.select([...report.data.spans.name].findIndex("
             "n => report.data.names[n].startsWith('</script>')))")
    ok("hostile: the selected one too", "Selected: </script><script>" in text_of(page, "#selected")[0])
    page.run("""{const s = document.createElement("script"); s.textContent = "window.hacked = 6";
        document.body.append(s); document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.hacked=7'>")}""")
    page.settle()
    same("hostile: even a script that got in cannot run", page.run("typeof window.hacked"), "undefined")
    same("hostile: nor can the page reach the network",
         page.run("fetch('http://127.0.0.1:9/').then(() => 'reached', () => 'refused')"), "refused")
    ok("hostile: the policy says so", any("Content Security Policy" in p for p in page.problems()))


def filtered_of(path):
    """That page, as if a filter had left out spans."""
    with open(path, encoding="utf-8") as file:
        whole = file.read()
    other = path.replace(".html", "-filtered.html")
    with open(other, "w", encoding="utf-8") as file:
        file.write(whole.replace('"complete":true,', '"complete":true,\n"filtered":1234,', 1))
    return other


def statuses(page, ranges, lost, empty):
    page.open(ranges)
    same("statuses: no complaint", page.problems(), [])
    same("statuses: told at the top", text_of(page, "#notices li"),
         ["Ranges that are not complete: 1 unfinished, 2 open, 1 superseded. They are in the timeline "
          "and counted, but have no part in durations."])
    looks = page.run("[...document.querySelectorAll('#legend canvas')].map(c => c.toDataURL())")
    same("statuses: each has a look of its own", len(set(looks)), 5)
    same("statuses: and its word", text_of(page, "#legend li"),
         ["complete range", "unfinished", "open", "superseded", "flag: one here is not complete"])
    page.run("report.timeline.select(report.data.strips.at(-2).from)")
    ok("statuses: the details say it", "unfinished: its thread, process or program ended first" in
       "".join(text_of(page, "#selected")), text_of(page, "#selected"))
    page.open(lost)
    notices = " ".join(text_of(page, "#notices li.bad"))
    ok("losses: told at the top", "4 calls lost: 1 aclprofMark, 1 aclprofPush" in notices and
       "4 uncertain ranges and marks" in notices, notices)
    page.open(filtered_of(ranges))
    same("filtered: told at the top", text_of(page, "#notices li.info"),
         ["A filter left out 1,234 ranges and marks: neither timeline nor statistics have them. "
          "Losses and failures are those of the whole capture."])
    page.open(empty)
    same("nothing traced: no complaint", page.problems(), [])
    same("nothing traced: the table says so", rows(page), [["Nothing was traced."]])
    page.open(filtered_of(empty))
    same("nothing passed: the table says so", rows(page), [["Nothing passed the filter."]])


def table(page):
    total = page.run("report.data.facts.stats.length")
    same("table: all rows", len(rows(page)), total)
    got = rows(page)[0]
    row = page.run("report.data.facts.stats[0]")
    same("table: the first is the longest in total",
         [got[0], got[1], got[3].replace(",", ""), got[4].replace(",", "")],
         [row[0], row[1], str(row[3]), str(row[4])])
    titles = [t.strip() for t in text_of(page, "#table-box thead th")]
    same("table: the columns of acltap stat", titles,
         ["Range", "Style", "Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Med (ns)", "Min (ns)",
          "Max (ns)", "StdDev (ns)", "P95 (ns)", "P99 (ns)", "Self (ns)", "Unfinished", "Uncertain", "Durations"])
    for column, title in ((4, "Instances"), (6, "Med (ns)")):
        page.click_on(f"#table-box thead th:nth-child({column + 1}) button")
        values = [float(r[column].replace(",", "")) for r in rows(page)]
        same(f"table: sorted by {title}, largest first", values, sorted(values, reverse=True))
    page.click_on("#table-box thead th:nth-child(1) button")
    names = [r[0] for r in rows(page)]
    same("table: sorted by name", names, sorted(names))
    same("table: and says so", page.run("document.querySelector('#table-box th').ariaSort"), "ascending")
    page.click_on("#table-box thead th:nth-child(1) button")
    same("table: the other way", [r[0] for r in rows(page)], sorted(names, reverse=True))


def search(page):
    page.click_on("#search")
    page.type("NORM")
    same("search: only what contains it", {r[0] for r in rows(page)}, {"layer norm"})
    want = page.run("report.data.facts.stats.find(r => r[0] === 'layer norm')[4]")
    same("search: and how many", text_of(page, "#found"), [f"1 row, {want:,} in the timeline"])
    page.key("Enter")
    first = page.run("report.timeline.look.selected")
    page.key("Enter")
    second = page.run("report.timeline.look.selected")
    ok("search: Enter goes to the next", 0 <= first < second, first, second)
    same("search: where it stands", text_of(page, "#found"), [f"2 of {want:,}"])
    page.key("Enter", shift=True)
    same("search: and back", page.run("report.timeline.look.selected"), first)
    page.key("Escape")
    same("search: Escape shows all again", len(rows(page)), page.run("report.data.facts.stats.length"))
    page.type("no such name")
    same("search: nothing found", rows(page), [["No name contains this."]])
    page.key("Escape")


def choosing(page):
    page.run("""[...document.querySelectorAll('#table-box tbody button')]
        .find(b => b.textContent === "mlp").id = "wanted" """)
    page.click_on("#wanted")
    same("a name: its row is marked", text_of(page, "tr.chosen th"), ["mlp"])
    same("a name: the timeline has found it",
         page.run("report.data.names[report.data.spans.name[report.timeline.look.selected]]"), "mlp")
    ok("a name: and shows it", page.run("""(() => {
        const {window: w, look} = report.timeline, s = report.data.spans;
        return s.end[look.selected] >= w.from && s.start[look.selected] <= w.to;})()"""))
    bins = [int(t.replace(",", "")) for t in text_of(page, "#histogram tbody td:nth-child(2)")]
    same("a name: its histogram has all of them", sum(bins),
         page.run("report.data.facts.stats.find(r => r[0] === 'mlp')[4]"))
    page.click_on("tr.chosen button")
    same("a name: chosen again it is let go", text_of(page, "tr.chosen th"), [])


def span_of_window(page):
    return page.run("[report.timeline.window.from, report.timeline.window.to]")


def pointer(page):
    page.click_on("#fit")
    page.settle()
    x, y, left, top, width, height = page.middle("#timeline")
    before = span_of_window(page)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300, modifiers=2)
    page.settle()
    after = span_of_window(page)
    ok("mouse: Ctrl and wheel zoom", after[1] - after[0] < 0.8 * (before[1] - before[0]), before, after)
    ok("mouse: around the pointer", abs(sum(after) / 2 - sum(before) / 2) < 0.02 * (before[1] - before[0]),
       before, after)
    page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    for step in range(1, 6):
        page.mouse("mouseMoved", x - 20 * step, y, button="left", buttons=1)
    page.mouse("mouseReleased", x - 100, y, button="left", clickCount=1)
    page.settle()
    moved = span_of_window(page)
    shift = (moved[0] - after[0]) / (after[1] - after[0]) * width
    ok("mouse: dragging moves by as much", 90 < shift < 110, shift)
    # A wide span of the first nested row: its middle is clicked.
    i, px, py = page.run("""(() => {
        const t = report.timeline, d = report.data, item = t.items.find(i => i.strip && i.strip.kind === 1);
        const i = item.strip.from + 10;
        t.reveal(i, true);
        t.draw();
        const r = document.getElementById("canvas").getBoundingClientRect();
        const box = document.getElementById("timeline");
        return [i, r.left + t.window.x((d.spans.start[i] + d.spans.end[i]) / 2),
                r.top + item.y - box.scrollTop + item.height / 2];})()""")
    page.mouse("mouseMoved", px, py)
    page.settle()
    ok("mouse: the tip tells the name",
       not page.run("document.getElementById('tip').hidden") and
       text_of(page, "#tip")[0].startswith(page.run(f"report.data.names[report.data.spans.name[{i}]]")),
       text_of(page, "#tip"))
    page.click(px, py)
    same("mouse: a click selects", page.run("report.timeline.look.selected"), i)
    page.run("document.getElementById('timeline').scrollTop = 0")
    page.mouse("mouseWheel", px, py, deltaX=0, deltaY=100)
    page.settle()
    ok("mouse: the wheel alone scrolls", page.run(
        "new Promise(r => setTimeout(() => r(document.getElementById('timeline').scrollTop > 0), 500))"))


def keyboard(page):
    page.click_on("#fit")
    page.run("document.getElementById('search').focus()")
    order = []
    for _ in range(60):
        page.key("Tab")
        order.append(page.run("document.activeElement.id || document.activeElement.tagName"))
        if order[-1] == "timeline":
            break
    ok("keys: Tab reaches table and timeline", "table-box" in order and order[-1] == "timeline", order)
    page.run("document.querySelector('#table-box thead th:last-of-type').previousSibling.firstChild.focus()")
    page.key("Tab")
    page.key("ArrowDown")
    page.key("ArrowDown")
    third = rows(page)[2][0]
    same("keys: arrows go through the names", page.run("document.activeElement.textContent"), third)
    page.key("Enter")
    same("keys: Enter chooses", text_of(page, "tr.chosen th"), [third])
    same("keys: and the focus stays", page.run("document.activeElement.textContent"), third)
    page.key("Enter")
    page.click_on("#fit")
    page.run("document.getElementById('timeline').focus()")
    ok("keys: the focus is visible", page.run("getComputedStyle(document.activeElement).outlineWidth") != "0px")
    before = span_of_window(page)
    page.key("+")
    after = span_of_window(page)
    ok("keys: + zooms", after[1] - after[0] < before[1] - before[0], before, after)
    page.key("ArrowRight")
    ok("keys: the arrow moves", span_of_window(page)[0] > after[0])
    page.key("0")
    same("keys: 0 shows all", span_of_window(page), before)
    page.key("Escape")
    page.key("ArrowRight", shift=True)
    first = page.run("report.timeline.look.selected")
    page.key("ArrowRight", shift=True)
    same("keys: Shift and arrow select the next", page.run("report.timeline.look.selected"), first + 1)
    ok("keys: and it is described", "Selected: " in "".join(text_of(page, "#selected")))
    page.key("ArrowDown", shift=True)
    ok("keys: and the row below", page.run(f"""report.data.strips.findIndex(s => s.from <= {first} && s.to > {first})
        + 1 === report.data.strips.findIndex(s => s.from <= report.timeline.look.selected
                                             && s.to > report.timeline.look.selected)"""))
    page.key("End")
    ok("keys: End", span_of_window(page)[1] >= page.run("report.data.last"))


CONTRAST = """(() => {
    const style = getComputedStyle(document.documentElement);
    const light = (name) => {
        const t = style.getPropertyValue(name).trim();
        const v = (t.length === 4 ? t.replace(/[^#]/g, "$&$&") : t).slice(1).match(/../g)
            .map(x => parseInt(x, 16) / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
        return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
    };
    return [["--fg", "--bg"], ["--muted", "--bg"], ["--muted", "--panel"], ["--accent", "--bg"],
            ["--fg", "--mark"], ["--bad", "--bad-bg"], ["--warn", "--warn-bg"], ["--good", "--good-bg"],
            ["--bad", "--bg"]].map(([a, b]) => {
        const x = light(a), y = light(b);
        return [a + " on " + b, (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)];
    });
})()"""


def looks(page, big, lost):
    grounds = []
    for dark in (False, True):
        page.open(lost, dark=dark)
        grounds.append(page.run("getComputedStyle(document.body).backgroundColor"))
        weak = [pair for pair in page.run(CONTRAST) if pair[1] < 4.5]
        same(f"{'dark' if dark else 'light'}: texts can be read (4.5 to 1)", weak, [])
    ok("dark is another ground than light", grounds[0] != grounds[1], grounds)
    page.open(big, width=360, height=740)
    same("narrow: nothing is wider than the screen", page.run("document.documentElement.scrollWidth"), 360)
    ok("narrow: there is room for the timeline", page.run("report.timeline.window.width > 300"))


FRAMES = """(async () => {
    const t = report.timeline, w = t.window, times = {};
    const frame = () => new Promise(r => requestAnimationFrame(r));
    for (const [name, step] of [["zoom", () => w.zoom(0.95, w.width * 0.4)], ["pan", () => w.move(0.02)],
                                ["all", () => w.all()]]) {
        const draws = [], frames = [];
        if (name !== "pan") w.all();
        await frame();
        let last = performance.now();
        for (let i = 0; i < 100; i++) {
            const begin = performance.now();
            step();
            t.draw();
            draws.push(performance.now() - begin);
            await frame();
            frames.push(performance.now() - last);
            last = performance.now();
        }
        const middle = (v) => v.sort((a, b) => a - b)[v.length >> 1].toFixed(1);
        times[name] = "drawn in " + middle(draws) + " ms, a frame each " + middle(frames) + " ms";
    }
    return times;
})()"""


def main():
    folder = sys.argv[2]
    with open(f"{folder}/hostile.ev", "w", encoding="utf-8") as file:
        file.write(HOSTILE)
    with open(f"{folder}/big.ev", "w", encoding="utf-8") as file:
        subprocess.run([sys.executable, f"{HERE}/big_script.py", "7700"], stdout=file, check=True)
    pages = {name: page_of(name, f"{HERE}/{name}.ev") for name in ("ranges", "lost", "empty")}
    pages |= {name: page_of(name, f"{folder}/{name}.ev") for name in ("hostile", "big")}
    with Browser() as page:
        hostile(page, pages["hostile"])
        statuses(page, pages["ranges"], pages["lost"], pages["empty"])
        begin = time.monotonic()
        page.open(pages["big"])
        print(f"# loaded in {time.monotonic() - begin:.1f} s")
        ok("100,000 ranges: all are there", page.run("report.data.spans.n") > 100000)
        for part in (table, search, choosing, pointer, keyboard):
            part(page)
        for name, text in page.run(FRAMES).items():
            print(f"# {name}: {text}")
        same("100,000 ranges: no complaint", page.problems(), [])
        looks(page, pages["big"], pages["lost"])
    print(f"1..{count}")
    sys.exit(failed > 0)


main()
