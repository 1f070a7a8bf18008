# SPDX-License-Identifier: GPL-2.0-only
"""Drives a headless Chromium through a pipe (its DevTools protocol), for tests of pages."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

FLAGS = ("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
         "--disable-background-networking --disable-component-update --disable-sync "
         "--disable-extensions --disable-dev-shm-usage --hide-scrollbars "
         "--remote-debugging-pipe").split()


class Browser:
    """One page in one browser with a folder of its own. What is not answered in time raises."""

    def __init__(self, limit=120):
        self.limit = limit
        self.folder = tempfile.mkdtemp(prefix="acltap-browser-")
        to_read, self.to = os.pipe()
        self.answers, to_write = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", "chromium", *FLAGS,
             "--user-data-dir=" + self.folder, "about:blank"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(os.path.join(self.folder, "log"), "w"))
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def receive(self):
        import select
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], self.limit)[0]:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise EOFError("the browser has ended: " +
                               open(os.path.join(self.folder, "log")).read()[-2000:])
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **params):
        self.number += 1
        command = {"id": self.number, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, event):
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.receive())

    def run(self, expression):
        """The value of an expression in the page; promises are waited for."""
        got = self.send("Runtime.evaluate", expression=expression, returnByValue=True,
                        awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(json.dumps(got["exceptionDetails"])[:2000])
        return got["result"].get("value")

    def open(self, path, width=1280, height=900, dark=False, scale=1):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)
        self.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("Page.loadEventFired")
        self.settle()

    def settle(self):
        """Until what was asked for is drawn."""
        self.run("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def problems(self):
        """What the page complained about, and every address it asked for but its own."""
        bad = []
        for e in self.events:
            method, params = e.get("method"), e.get("params", {})
            if method == "Runtime.exceptionThrown":
                bad.append(json.dumps(params)[:1000])
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                bad.append(params["entry"]["text"])
            elif method == "Runtime.consoleAPICalled":
                bad.append(json.dumps(params.get("args"))[:1000])
            elif method == "Network.requestWillBeSent":
                if params.get("type") != "Document":
                    bad.append("request: " + params["request"]["url"])
        return bad

    def screenshot(self, path, whole=False):
        got = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(got["data"]))

    # Input as a person gives it.

    def key(self, key, shift=False):
        codes = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9,
                 "Enter": 13, "Escape": 27, "Home": 36, "End": 35, " ": 32}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        event = dict(key=key, modifiers=8 if shift else 0,
                     windowsVirtualKeyCode=codes.get(key, ord(key[0].upper())))
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **event)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def middle(self, selector):
        """Of an element that is scrolled into sight."""
        return self.run(f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center"}});
            const r = e.getBoundingClientRect();
            return [r.left + r.width / 2, r.top + r.height / 2, r.left, r.top, r.width, r.height];
        }})()""")

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=count)
        self.mouse("mouseReleased", x, y, button="left", clickCount=count)

    def click_on(self, selector):
        x, y = self.middle(selector)[:2]
        self.click(x, y)
